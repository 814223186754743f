"""Publishing at once: numbers are given one at a time, and nobody publishes what they did not read."""

import pytest
from django.db import IntegrityError
from django.db.models import QuerySet

from processes import publishing
from processes.models import Process, Version
from processes.publishing import RefusedError
from tests.concurrency.racing import BEHIND_A_LOCK, SURELY, meeting, together
from tests.processes.flows import ERRAND

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


def mapping(world):
    return publishing.RoleMap(roles={"finance": world.group("finance").pk}, escalations=None)


def text(words: str) -> str:
    return ERRAND.replace("Fetch it.", words)


@pytest.fixture(params=["with the lock", "without"])
def locked(request, monkeypatch):
    patience = SURELY if request.param == "without" else BEHIND_A_LOCK
    monkeypatch.setattr(publishing, "latest", meeting(publishing.latest, patience))
    if request.param == "without":
        monkeypatch.setattr(QuerySet, "select_for_update", lambda self, **_: self)
    return request.param == "with the lock"


def test_the_same_draft_twice_at_once(world, locked):
    draft, roles = publishing.draft(ERRAND, by="ada"), mapping(world)
    results = together(*[lambda: publishing.publish(Version.objects.get(pk=draft.pk), roles, by="x")] * 2)
    if locked:
        assert {type(result) for result in results} == {Version, RefusedError}
    assert [version.number for version in Version.objects.all()] == [1]
    if not locked:
        assert any(isinstance(result, IntegrityError) for result in results), results


def test_draft_and_publish_by_two_at_once(world):
    roles = mapping(world)

    def bring_out(words: str) -> Version:
        return publishing.publish(publishing.draft(text(words), by=words), roles, by=words)

    for round_ in range(5):
        results = together(*(lambda n=n, r=round_: bring_out(f"Text {r} {n}.") for n in range(2)))
        for result in results:
            if isinstance(result, Version):  # whoever published, published their own words
                assert result.published_by in Version.objects.get(pk=result.pk).text
            else:
                assert isinstance(result, RefusedError | IntegrityError), result
    numbers = sorted(Version.objects.filter(number__isnull=False).values_list("number", flat=True))
    assert numbers == list(range(1, len(numbers) + 1)) and len(numbers) >= 5


def test_a_draft_that_is_changed_while_it_is_published(world):
    roles = mapping(world)
    draft = publishing.draft(text("Before."), by="ada")
    publishing.draft(text("After."), by="eve")
    with pytest.raises(RefusedError, match="changed or published"):
        publishing.publish(draft, roles, by="ada")
    assert Process.objects.get().versions.get().number is None


def test_two_processes_do_not_wait_for_each_other(world):
    roles = mapping(world)
    results = together(
        *(
            lambda name=name: publishing.publish(
                publishing.draft(ERRAND.replace("errand", name), by="x"), roles, by="x"
            )
            for name in ("one", "two")
        )
    )
    assert [version.number for version in results] == [1, 1]
