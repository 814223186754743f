"""The document on process files and the code say the same keys, kinds and types."""

import re
import shlex
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import override_settings

from checks.questions.reading import KEYS as QUESTION_KEYS
from processes.document import KINDS, parse
from processes.fields import TYPES
from processes.models import Version
from processes.steps import KEYS

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs/process-files.md").read_text()


def first_cells(heading):
    """The code words of the first column of the tables after a heading."""
    part = TEXT.split(heading, 1)[1].split("\n## ", 1)[0]
    cells = [line.split("|")[1] for line in part.splitlines() if line.startswith("| `")]
    return {word for cell in cells for word in re.findall(r"`(\w+)`", cell)}


def test_every_key_of_a_step_is_told_and_no_other():
    assert first_cells("## Steps") == set(KINDS) | set(KEYS) - {"id"}


def test_every_key_of_a_file_is_told_and_no_other():
    top = set(re.findall(r"\| `(\w+)` \|", TEXT.split("## Steps")[0]))
    assert top == {"name", "description", "inputs", "requires", "steps"}


@pytest.mark.parametrize("word", [*TYPES, *QUESTION_KEYS])
def test_every_type_and_question_key_is_told(word):
    assert re.search(rf"[`\s]{word}[`:,\s]", TEXT)


README = (ROOT / "README.md").read_text()
FIRST = "".join(re.findall(r"```markdown\n(.*?)```", README, re.DOTALL))


def test_the_first_process_of_the_readme_is_sound():
    assert parse(FIRST).issues == ()


@pytest.mark.django_db
def test_the_first_process_of_the_readme_is_published_as_it_tells(tmp_path, monkeypatch, capsys):
    path = re.search(r"Save it as `(\S+)` and publish", README)[1]
    evaluator, command = re.search(r"EVALUATOR=(\w+) \S+ manage\.py (publish .*)", README).groups()
    (tmp_path / path).parent.mkdir()
    (tmp_path / path).write_text(FIRST)
    monkeypatch.chdir(tmp_path)
    with override_settings(EVALUATOR=evaluator):
        call_command(*shlex.split(command))
    assert capsys.readouterr().out == "letter-check: version 1 is published\n"
    assert Version.objects.get().escalations.name == "Support"


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*/PROCESS.md")))
def test_the_examples_are_sound(path):
    parsed = parse(path.read_text())
    assert parsed.issues == ()
    assert parsed.document.name == path.parent.name


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "CONTRIBUTING.md",
        *(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md")),
    ],
)
def test_what_a_page_links_to_is_there(page):
    links = re.findall(r"\]\(([^)#]+)", (ROOT / page).read_text())
    missing = [link for link in links if "://" not in link and not ((ROOT / page).parent / link).exists()]
    assert missing == []
