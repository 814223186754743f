"""`processes.publishing`: drafts, mappings, numbers; what is refused and what is never lost."""

import pytest

from processes import publishing
from processes.models import Process, Version
from processes.publishing import RefusedError, RoleMap, draft, examine, is_in_force, proposal, publish
from tests.world import SCREENING

pytestmark = pytest.mark.django_db

PLAIN = """---
name: leave
description: Ask for leave.
steps:
  - id: ask
    person: staff
    task: Say from when to when.
  - id: approve
    person: boss
    approve: Approve if the team can spare them.
  - id: done
    finish: granted
---
"""


def mapped(world, *, escalations=None, **groups):
    return RoleMap(
        roles={role: world.group(name).pk for role, name in groups.items()},
        escalations=world.group(escalations).pk if escalations else None,
    )


def published(world, text=PLAIN, **groups):
    groups = groups or {"staff": "Staff", "boss": "Bosses"}
    return publish(draft(text, by="ada"), mapped(world, **groups), by="ada")


def test_a_draft_has_no_number_and_nobody_can_start_it(world):
    version = draft(PLAIN, by="ada", change="first")
    assert (version.number, version.published_at, version.created_by) == (None, None, "ada")
    assert publishing.latest("leave") is None


def test_a_second_draft_replaces_the_first():
    first = draft(PLAIN, by="ada")
    second = draft(PLAIN.replace("Ask for", "Request"), by="ben", change="words")
    assert second.pk == first.pk
    kept = Version.objects.get()
    assert (kept.created_by, kept.change, kept.description) == ("ben", "words", "Request leave.")


def test_an_unsound_text_is_no_draft():
    with pytest.raises(RefusedError) as refused:
        draft(PLAIN.replace("finish: granted", "finish:"), by="ada")
    assert [issue.line for issue in refused.value.issues] == [12]
    assert not Process.objects.exists()


def test_the_folder_must_bear_the_name():
    issues = examine(PLAIN, folder="holiday").issues
    assert ["holiday" in issue.message for issue in issues] == [True]


def test_versions_are_numbered_from_one(world):
    assert published(world).number == 1
    assert published(world, PLAIN.replace("Ask for", "Request")).number == 2
    assert publishing.latest("leave").number == 2


def test_a_role_without_a_group_is_refused_by_name(world):
    with pytest.raises(RefusedError, match="Role boss is mapped to no group"):
        publish(draft(PLAIN, by="ada"), mapped(world, staff="Staff"), by="ada")
    assert publishing.latest("leave") is None


def test_a_check_without_an_evaluator_is_kept_but_not_published(world):
    version = draft(SCREENING, by="ada")
    with pytest.raises(RefusedError, match="No evaluator is configured"):
        publish(version, mapped(world, finance="Finance"), by="ada")


def test_a_draft_is_published_once(world):
    version = draft(PLAIN, by="ada")
    again = Version.objects.get(pk=version.pk)
    mapping = mapped(world, staff="Staff", boss="Bosses")
    publish(version, mapping, by="ada")
    with pytest.raises(RefusedError, match="changed or published this draft meanwhile"):
        publish(again, mapping, by="ben")
    assert Version.objects.get().published_by == "ada"


def test_a_draft_that_changed_since_it_was_read_is_not_published(world):
    seen = Version.objects.get(pk=draft(PLAIN, by="ada").pk)
    draft(PLAIN.replace("Ask for", "Request"), by="ben")
    with pytest.raises(RefusedError, match="Look at it again"):
        publish(seen, mapped(world, staff="Staff", boss="Bosses"), by="ada")


def test_groups_of_the_roles_names_are_proposed(world):
    boss = world.group("boss")
    offered = proposal(examine(PLAIN).document, None)
    assert offered.roles == {"boss": boss.pk}
    assert offered.escalations == boss.pk


def test_the_mapping_of_the_version_before_is_proposed(world):
    before = published(world, staff="Everybody", boss="Bosses", escalations="Desk")
    world.group("boss")
    offered = proposal(examine(PLAIN).document, before)
    assert offered == mapped(world, staff="Everybody", boss="Bosses", escalations="Desk")


def test_the_same_with_the_same_groups_is_in_force(world):
    version = published(world)
    document, mapping = examine(PLAIN).document, mapped(world, staff="Staff", boss="Bosses")
    assert is_in_force(version, document, mapping) == version
    assert is_in_force(version, document, mapped(world, staff="Staff", boss="Others")) is None
    assert is_in_force(version, examine(PLAIN + "More.").document, mapping) is None
    assert is_in_force(None, document, mapping) is None


def test_a_retired_process_takes_no_new_runs_until_it_is_taken_back(world):
    process = published(world).process
    person = world.person("ada", "Staff")
    publishing.retire(process, retired=True)
    assert world.refused(person, "start_run", process="leave", inputs={}).code == "not_found"
    publishing.retire(process, retired=False)
    assert world.call(person, "start_run", process="leave", inputs={})["run"]["state"] == "waiting"
