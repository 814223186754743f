"""Pages for people who have no key yet, or one: `/try/` and `/dashboard/`. Neither wants anybody signed in."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from checks import rates
from checks.judge import demo, drawing, examples, forms
from checks.judge.requests import ConsensusRequest, JudgeRequest

UNREAD, TOO_MANY, BUSY = 422, 429, 503
BUSY_SECONDS = 3
RANGES = (7, 30, 90)
OWN = "own"  # beside the examples' slugs: what somebody types who takes none
CHARTS = (
    {"name": "verdicts", "title": "Verdicts", "tells": "calls a day"},
    {"name": "score", "title": "Score", "tells": "mean of a day's judgements, 0 to 1"},
    {
        "name": "latency",
        "title": "Latency",
        "tells": "what half, and 95 of 100, of a day's calls stayed within",
    },
    {"name": "engines", "title": "Engines", "tells": "calls a day by what answered"},
)
TITLES = {forms.JUDGE: "Try the judge", forms.CONSENSUS: "Try consensus"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Why nothing was judged. `lines`: (the field's id or "", what is wrong there)."""

    title: str
    text: str = ""
    lines: tuple[tuple[str, str], ...] = ()


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def try_it(request: HttpRequest) -> HttpResponse:
    """The form with a prepared example in it, or what came of what was typed."""
    sent = request.POST if request.method == "POST" else request.GET
    kind = str(sent.get("kind"))
    kind = kind if kind in forms.KINDS else forms.JUDGE
    if request.method != "POST":
        example = examples.find(kind, str(sent.get("example", "")))
        kept = example.slug if example else OWN
        return _page(request, kind, dict(example.texts) if example else {}, kept=kept)
    texts = forms.typed(kind, sent)
    if wait := _wait(request):
        seconds = "1 second" if wait == 1 else f"{wait} seconds"
        notice = Notice(
            title="Too many tries from your address",
            text=f"Wait {seconds}, then press the button again. What you typed is still here.",
        )
        return _later(_page(request, kind, texts, notice=notice, status=TOO_MANY), wait)
    read = forms.read(kind, texts)
    if read.asked is None:
        return _page(request, kind, texts, problems=read.problems, notice=_told(read.problems), status=UNREAD)
    try:
        result = _result(kind, read.body, read.asked)
    except demo.BusyError:
        notice = Notice(
            title="Others are trying it at this moment",
            text="Press the button again in a few seconds. What you typed is still here.",
        )
        return _later(_page(request, kind, texts, notice=notice, status=BUSY), BUSY_SECONDS)
    return _page(request, kind, texts, result=result)


vars(try_it)["form_bytes"] = forms.FORM_BYTES


@require_safe
def dashboard(request: HttpRequest) -> HttpResponse:
    """An empty page: its script asks `/v1/usage` with a key that never leaves the browser for here."""
    context = {
        "title": "Dashboard",
        "here": "dashboard",
        "ranges": RANGES,
        "charts": CHARTS,
        "site": settings.SITE_URL,
    }
    return render(request, "checks/dashboard.html", context)


def _wait(request: HttpRequest) -> int:
    """Seconds until this address may try again; 0 = now."""
    most = settings.JUDGE_TRIES_PER_MINUTE
    return rates.wait(f"try {rates.address_of(request)}", most) if most else 0


def _result(kind: str, body: dict[str, Any], asked: JudgeRequest | ConsensusRequest) -> dict[str, Any]:
    if isinstance(asked, JudgeRequest):
        answer = demo.judge(asked)
        drawn = drawing.judged(body, answer)
    else:
        answer = demo.consensus(asked)
        drawn = drawing.agreed(body, answer)
    return {"answer": answer, **drawn, "call": drawing.call(kind, settings.SITE_URL, body, answer)}


def _page(
    request: HttpRequest,
    kind: str,
    texts: Mapping[str, str],
    *,
    problems: Mapping[str, list[str]] | None = None,
    notice: Notice | None = None,
    result: dict[str, Any] | None = None,
    kept: str = "",
    status: int = 200,
) -> HttpResponse:
    """The whole page, or for htmx the part of it that changes. `kept`: under what name a tab keeps what is typed here."""
    wrong = problems or {}
    full = forms.typed(kind, texts)
    context = {
        "title": TITLES[kind],
        "here": "try",
        "kind": kind,
        "examples": examples.of(kind),
        "example": next((one for one in examples.of(kind) if forms.typed(kind, one.texts) == full), None),
        "fields": [
            {"of": one, "text": full[one.name], "problems": wrong.get(one.name, [])}
            for one in forms.FIELDS[kind]
        ],
        "notice": notice,
        "result": result,
        "kept": kept,
    }
    part = "#work" if request.headers.get("HX-Request") == "true" else ""
    return render(request, f"checks/try.html{part}", context, status=status)


def _told(problems: Mapping[str, list[str]]) -> Notice:
    lines = tuple((name and f"f-{name}", text) for name, texts in problems.items() for text in texts)
    count = "1 thing" if len(lines) == 1 else f"{len(lines)} things"
    return Notice(title=f"Nothing was judged: {count} to mend", lines=lines)


def _later(response: HttpResponse, seconds: int) -> HttpResponse:
    response.headers["Retry-After"] = str(seconds)
    return response
