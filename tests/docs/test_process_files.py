"""The document on process files and the code say the same keys, kinds and types."""

import re
from pathlib import Path

import pytest

from checks.questions.reading import KEYS as QUESTION_KEYS
from processes.document import KINDS, parse
from processes.fields import TYPES
from processes.steps import KEYS

TEXT = (Path(__file__).resolve().parents[2] / "docs/process-files.md").read_text()


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


def test_the_first_process_of_the_readme_is_sound():
    readme = (Path(__file__).resolve().parents[2] / "README.md").read_text()
    (text,) = re.findall(r"```markdown\n(.*?)```", readme, re.DOTALL)
    assert parse(text).issues == ()


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).resolve().parents[2] / "examples").glob("*/PROCESS.md"))
)
def test_the_examples_are_sound(path):
    parsed = parse(path.read_text())
    assert parsed.issues == ()
    assert parsed.document.name == path.parent.name


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "CONTRIBUTING.md",
        *(f"docs/{p.name}" for p in (Path(__file__).resolve().parents[2] / "docs").glob("*.md")),
    ],
)
def test_what_a_page_links_to_is_there(page):
    root = Path(__file__).resolve().parents[2]
    links = re.findall(r"\]\(([^)#]+)", (root / page).read_text())
    missing = [link for link in links if "://" not in link and not ((root / page).parent / link).exists()]
    assert missing == []
