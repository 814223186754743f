import sys
from pathlib import Path

import pytest

from conformance import library
from conformance.cases.broken import ROWS, SOUND
from conformance.failures import CannotRunError
from conformance.publishing import Desk, Publisher, publish_each
from processes.document import parse

# publishes what holds no "broken"; names what it refuses, as `manage.py publish` does
SCRIPT = """
import sys, pathlib
paths = [pathlib.Path(p) for p in sys.argv[1:]]
with open({log!r}, "a") as log:
    log.write(str(len(paths)) + "\\n")
bad = [p for p in paths if "broken" in (p / "PROCESS.md").read_text()]
for p in bad:
    if "silent" not in p.name:
        print(p / "PROCESS.md", "is broken", file=sys.stderr)
sys.exit(bool(bad))
"""


@pytest.fixture
def publisher(tmp_path):
    script = tmp_path / "publish.py"
    script.write_text(SCRIPT.format(log=str(tmp_path / "log")))
    return Publisher(f"{sys.executable} {script} {{paths}}", {})


def commands(tmp_path):
    return [int(line) for line in (tmp_path / "log").read_text().split()]


def test_a_template_is_filled_in(tmp_path):
    publisher = Publisher("publish {paths} --role {role}={group} --yes", {"ada": "A b", "cy": "C", "bo": "B"})
    one, two = folder(tmp_path, "one", "person: ada"), folder(tmp_path, "t wo", "person: cy")
    assert publisher.command([one, two]) == [
        "publish", str(one), str(two), "--role", "ada=A b", "--role", "cy=C", "--yes",
    ]  # fmt: skip


def test_a_role_that_no_file_names_is_not_mapped(tmp_path):
    publisher = Publisher("publish {paths} --role {role}={group}", {"ada": "A"})
    bare = folder(tmp_path, "bare", "nobody")
    assert publisher.command([bare]) == ["publish", str(bare)]


def test_a_template_without_an_option_before_the_role(tmp_path):
    one = folder(tmp_path, "one", "person: ada")
    assert Publisher("p {paths} {role}:{group}", {"ada": "A"}).command([one]) == ["p", str(one), "ada:A"]


@pytest.mark.parametrize("template", ["publish", "publish 'open"])
def test_a_template_that_can_not_be_used(template):
    with pytest.raises(CannotRunError):
        Publisher(template, {})


def test_a_command_that_is_not_there():
    with pytest.raises(CannotRunError):
        Publisher("/no/such/command {paths}", {}).publish([Path("x")])


def folder(tmp_path, name, content):
    made = tmp_path / "files" / name
    made.mkdir(parents=True)
    (made / "PROCESS.md").write_text(content)
    return made


def test_all_in_one_go_and_one_by_one_when_that_is_refused(tmp_path, publisher):
    folders = {name: folder(tmp_path, name, "fine") for name in ("a", "b")}
    assert all(outcome.published for outcome in publish_each(publisher, folders, 1).values())
    assert commands(tmp_path) == [2]
    folders["c"] = folder(tmp_path, "c", "broken")
    done = publish_each(publisher, folders, 1)
    assert {name: outcome.published for name, outcome in done.items()} == {"a": True, "b": True, "c": False}
    assert "is broken" in done["c"].said


def test_the_desk_believes_a_refused_command_that_names_a_file(tmp_path, publisher):
    desk = Desk(publisher, 1)
    desk.put("one", "one", b"broken")
    desk.put("two", "two", b"broken")
    desk.put("silent", "silent", b"broken")
    desk.put("slips", "slips", b"a fault that the server does not see")
    desk.put("sound", "sound", b"fine")
    desk.begin("sound")
    outcomes = {key: desk.outcome(key) for key in ("one", "two", "silent", "slips")}
    desk.close()
    assert [key for key, outcome in outcomes.items() if outcome.published] == ["slips"]
    assert "/one/" in outcomes["one"].said
    assert "/two/" not in outcomes["one"].said
    assert commands(tmp_path) == [5, 1, 1]  # all, then the two that the command did not name


def test_the_desk_believes_no_command_that_names_the_sound_file(tmp_path):
    script = tmp_path / "chatty.py"
    script.write_text("import sys\nprint('\\n'.join(sys.argv[1:]))\nsys.exit(len(sys.argv) > 2)\n")
    desk = Desk(Publisher(f"{sys.executable} {script} {{paths}}", {}), 1)
    for key in ("one", "two", "sound"):
        desk.put(key, key, b"x")
    desk.begin("sound")
    assert desk.outcome("one").published, "tried alone, the command takes it"
    desk.close()


def test_the_suites_own_files_are_sound():
    for file in library.files():
        assert parse(file.text).issues == (), file.name
        assert file.name == file.folder.name


def test_every_broken_file_is_broken_in_what_its_row_says():
    assert parse(SOUND.replace("NAME", "conform-sound")).issues == ()
    for row in ROWS:
        parsed = parse(row.content.decode())
        if row.name != "other-folder":
            assert parsed.issues, row.name
            assert all(any(word in str(issue) for issue in parsed.issues) for word in row.words), row.name
    assert len(ROWS) >= 30


def test_files_can_be_written_out(tmp_path):
    written = library.write_to(tmp_path)
    assert {path.name for path in written} == {file.name for file in library.files()}
    assert (tmp_path / "conform-work" / "PROCESS.md").read_text() == library.read("conform-work").text
