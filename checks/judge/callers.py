"""Who may call the judge API, and how often: keys with that scope, so many calls a day (UTC) each."""

from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone

from checks import keys, memory, rates
from checks.models import JudgeCall, Key

_DAY_SECONDS = 86_400


class RefusedError(Exception):
    """`code` and `status` are what the caller is told; `retry_after` in seconds, where waiting helps."""

    def __init__(
        self,
        code: str,
        status: int,
        message: str,
        issues: list[str] | None = None,
        *,
        retry_after: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code, self.status, self.message = code, status, message
        self.issues = issues or []
        self.retry_after = retry_after


def caller(request: HttpRequest) -> Key:
    """Raises RefusedError. A key that proves nothing counts for its address, as at the protocol's door."""
    scheme, _, text = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    key = keys.find(text.strip()) if scheme.lower() == "bearer" else None
    if key is None:
        count_address(request, "calls")
        raise RefusedError(
            "unauthenticated",
            401,
            "The key is missing, unknown or revoked. Send `Authorization: Bearer <key>`.",
        )
    if not key.for_judge:
        raise RefusedError("forbidden", 403, "This key does not open the judge API; ask for one that does.")
    return key


def count_address(request: HttpRequest, what: str) -> None:
    """One more of those calls from an address, without a key that is known. Raises RefusedError where that is one too many."""
    most = settings.ANONYMOUS_CALLS_PER_MINUTE
    if most and (wait := rates.wait(f"{what} address {rates.address_of(request)}", most)):
        message = f"Too many calls within a minute from this address. Send the same call again in {wait} s."
        raise RefusedError("quota", 429, message, retry_after=wait)


def count(key: Key) -> None:
    """One more call of today. Raises RefusedError where that is one too many."""
    most = allowed(key)
    now = timezone.now().astimezone(UTC)
    counter = _counter(key, now)
    made = memory.count(counter, 2 * _DAY_SECONDS)
    if made == 1 and (
        before := _stored(key, now)
    ):  # the count was lost, as with a restart; what was answered is on record
        made = memory.count(counter, 2 * _DAY_SECONDS, by=before)
    if made > most:
        tomorrow = datetime.combine(now.date() + timedelta(days=1), datetime.min.time(), tzinfo=UTC)
        seconds = max(1, int((tomorrow - now).total_seconds()))
        raise RefusedError(
            "quota",
            429,
            f"The key's {most} calls of today are used up; the day ends at midnight UTC.",
            [f"calls today: at most {most}"],
            retry_after=seconds,
        )


def allowed(key: Key) -> int:
    """Calls a day: the key's own bound, else the server's."""
    return settings.JUDGE_CALLS_PER_DAY if key.judge_calls_per_day is None else key.judge_calls_per_day


def counted(key: Key) -> int:
    """Today's calls as the bound counts them: 0 again where what is counted was lost (see `checks.memory`)."""
    return int(memory.get(_counter(key, timezone.now().astimezone(UTC))) or 0)


def _stored(key: Key, now: datetime) -> int:
    """Today's calls that were answered. One statement, of a key's first call of a day."""
    midnight = datetime.combine(now.date(), datetime.min.time(), tzinfo=UTC)
    return JudgeCall.objects.filter(key=key, at__gte=midnight).count()


def _counter(key: Key, now: datetime) -> str:
    return f"judge:{key.pk}:{now:%Y-%m-%d}"
