"""`manage.py publish`: all of the files or none of them."""

from io import StringIO
from unittest import mock

import pytest
from django.contrib.auth.models import Group
from django.core.management import CommandError, call_command

from processes.document import Issue
from processes.models import Version
from processes.publishing import CHANGED, RefusedError
from tests.processes.test_publishing import PLAIN
from tests.world import SCREENING

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path):
    """A folder per name, each with its PROCESS.md."""

    def write(name, text):
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "PROCESS.md").write_bytes(text.encode() if isinstance(text, str) else text)
        return str(tmp_path / name)

    return write


def run(*arguments):
    out, err = StringIO(), StringIO()
    call_command("publish", *arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


BARE = "---\nname: bare\ndescription: Nobody decides.\nsteps:\n  - { id: done, finish: done }\n---\n"
ROLES = ("--role", "staff=Staff", "--role", "boss=Bosses")


def test_a_folder_is_published_and_its_groups_made(folder):
    out, _ = run(folder("leave", PLAIN), *ROLES)
    assert out == "leave: version 1 is published\n"
    version = Version.objects.get()
    assert dict(version.roles.values_list("name", "group__name")) == {"staff": "Staff", "boss": "Bosses"}
    assert version.escalations.name == "Bosses"
    assert version.published_by == "server"


def test_a_file_may_lie_in_any_folder(folder):
    out, _ = run(folder("somewhere", PLAIN) + "/PROCESS.md", *ROLES)
    assert "version 1" in out


def test_publishing_the_same_again_changes_nothing(folder):
    path = folder("leave", PLAIN)
    run(path, *ROLES)
    assert run(path)[0] == "leave v1 says the same already\n"
    assert Version.objects.count() == 1


def test_another_text_is_the_next_version_with_the_groups_of_before(folder):
    run(folder("leave", PLAIN), *ROLES)
    run(folder("leave", PLAIN.replace("Ask for", "Request")))
    assert [v.number for v in Version.objects.order_by("number")] == [1, 2]


def test_escalations_can_be_named(folder):
    run(folder("leave", PLAIN), *ROLES, "--escalations", "Desk")
    assert Version.objects.get().escalations.name == "Desk"


def test_a_dry_run_leaves_nothing(folder):
    out, _ = run(folder("leave", PLAIN), *ROLES, "--dry-run")
    assert out == "leave: would be version 1\n"
    assert not Version.objects.exists() and not Group.objects.exists()


def test_a_dry_run_of_several_files_tells_of_each_and_leaves_nothing(folder):
    run(folder("leave", PLAIN), *ROLES)
    changed = folder("leave", PLAIN.replace("Ask for", "Request"))
    out, _ = run(changed, folder("bare", BARE), *ROLES, "--dry-run")
    assert out == "leave: would be version 2\nbare: would be version 1\n"
    assert [(v.process.name, v.number) for v in Version.objects.all()] == [("leave", 1)]


def test_one_broken_file_keeps_all_of_them_back(folder):
    broken = folder(
        "other", PLAIN.replace("name: leave", "name: other").replace("finish: granted", "finish:")
    )
    err = StringIO()
    with pytest.raises(CommandError, match="Nothing was published: 1 of 2 files have issues"):
        call_command("publish", folder("leave", PLAIN), broken, *ROLES, stderr=err)
    assert "other" in err.getvalue() and "line 12" in err.getvalue()
    assert not Version.objects.exists()


def test_a_role_without_a_group_keeps_all_of_them_back(folder):
    err = StringIO()
    with pytest.raises(CommandError, match="Name a group for each role"):
        call_command("publish", folder("leave", PLAIN), "--role", "staff=Staff", stderr=err)
    assert "leave/PROCESS.md: person: Role boss is mapped to no group" in err.getvalue()
    assert not Version.objects.exists() and not Group.objects.exists()


def test_another_refusal_says_nothing_of_groups(folder, monkeypatch):
    changed = RefusedError((Issue(step="", key="", line=None, message=CHANGED, rule="changed"),))
    monkeypatch.setattr("processes.management.commands.publish.publish", mock.Mock(side_effect=changed))
    err = StringIO()
    with pytest.raises(CommandError) as caught:
        call_command("publish", folder("leave", PLAIN), *ROLES, stderr=err)
    assert str(caught.value) == "Nothing was published. Put right what is named above, then publish again."
    assert err.getvalue().endswith(f"leave/PROCESS.md: {CHANGED}\n")
    assert not Version.objects.exists() and not Group.objects.exists()


def test_a_role_that_no_process_has_is_refused(folder):
    with pytest.raises(CommandError) as caught:
        run(folder("leave", PLAIN), folder("bare", BARE), *ROLES, "--role", "bos=Bosses")
    assert str(caught.value) == (
        "--role bos: there is no such role. leave has staff, boss; bare has no roles."
    )
    assert not Version.objects.exists() and not Group.objects.exists()


def test_a_role_of_one_of_the_files_is_enough(folder):
    out, _ = run(folder("leave", PLAIN), folder("bare", BARE), *ROLES)
    assert out == "leave: version 1 is published\nbare: version 1 is published\n"


def test_the_folder_must_bear_the_name(folder):
    with pytest.raises(CommandError):
        run(folder("holiday", PLAIN), *ROLES)


def test_a_check_needs_an_evaluator(folder):
    with pytest.raises(CommandError):
        run(folder("screening", SCREENING), "--role", "finance=Finance")


def test_a_check_is_published_with_one(folder, evaluator):
    assert "version 1" in run(folder("screening", SCREENING), "--role", "finance=Finance")[0]


@pytest.mark.parametrize("pair", ["boss", "boss=", "=Bosses", " = "])
def test_a_role_is_written_as_a_pair(folder, pair):
    with pytest.raises(CommandError, match="write NAME=GROUP"):
        run(folder("leave", PLAIN), "--role", pair)


def test_what_is_not_there_is_said(tmp_path):
    with pytest.raises(CommandError, match="is no file and no folder"):
        run(str(tmp_path / "gone"))
    with pytest.raises(CommandError, match="holds no PROCESS"):
        run(str(tmp_path))
