import hashlib
from datetime import timedelta
from decimal import Decimal

import pytest

from processes.document import JOIN, KINDS, Issue
from processes.rules import Rule
from processes.steps import Route
from tests.processes.broken_files import ROWS
from tests.processes.process_samples import LOAN, MOVE, SHARED, document, issues, line_of, process


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.rule}-{row.key}"[:60])
def test_one_broken_place_gives_its_one_issue(row):
    found = issues(row.text)

    assert [(issue.rule, issue.step, issue.key, issue.line) for issue in found] == [
        (row.rule, row.step, row.key, row.line)
    ], [str(issue) for issue in found]
    assert row.says in found[0].message
    assert found[0].message[-1] in ".?"
    assert len(found[0].message) < 350


def test_every_rule_is_broken_by_some_row():
    assert {row.rule for row in ROWS} == {rule.code for rule in Rule}


def test_the_messages_of_unknown_names_are_sentences_with_the_near_one():
    text = LOAN.replace("on_reject: look_up", "on_reject: lok_up")

    (issue,) = issues(text)

    line = line_of(text, "on_reject")
    assert str(issue) == f"line {line}, steps.allow.on_reject: lok_up is no step. Did you mean look_up?"


@pytest.mark.parametrize(
    ("issue", "written"),
    [
        (Issue(step="", key="name", line=2, message="M."), "line 2, name: M."),
        (Issue(step="a", key="", line=9, message="M."), "line 9, steps.a: M."),
        (Issue(step="steps[2]", key="id", line=9, message="M."), "line 9, steps[2].id: M."),
        (Issue(step="a", key="check[0].fail", line=None, message="M."), "steps.a.check[0].fail: M."),
        (Issue(step="", key="", line=3, message="M."), "line 3: M."),
        (Issue(step="", key="", line=None, message="M."), "M."),
    ],
)
def test_an_issue_tells_its_place(issue, written):
    assert str(issue) == written


def test_all_issues_come_at_once_and_in_the_files_order():
    text = LOAN
    for old, new in [
        ("name: equ", "name: Equ"),
        ("device: string", "device: strng"),
        ("due: 4h", "due: 4 hours"),
        ("pass: 0.9", "pass: 9"),
        ("    person: stock-keeper\n", ""),
        ("next: settle\n  - id: remind", "next: setle\n  - id: remind"),
        ("person: initiator", "person: initiator\n    person: me"),
        ("wait: 15m", "wait: *long"),
        ("finish: refused", "finish: refused\n    nxt: done"),
    ]:
        assert old in text
        text = text.replace(old, new, 1)

    found = issues(text)

    assert [issue.rule for issue in found] == [
        "name", "field-type", "duration", "check", "person-needed", "no-step", "duplicate", "alias", "unknown-key",
    ]  # fmt: skip
    assert [issue.line for issue in found] == sorted(issue.line for issue in found)


def test_a_mistyped_entry_does_not_make_its_branch_unreachable():
    (issue,) = issues(MOVE.replace("[archive, kitchen, desks]", "[arcive, kitchen, desks]"))

    assert issue.message == "arcive is no step. Did you mean archive?"


def test_a_step_that_cannot_be_read_still_leads_on():
    found = issues(process(["{id: a, wait: 1d}", "{id: B!, wait: 1d, next: [5]}", "{id: c, finish: done}"]))

    assert {issue.rule for issue in found} == {"id", "routes-kind", "route"}


# What a good file becomes.


def test_a_good_file_is_read_whole():
    found = document(LOAN)

    assert found.name == "equipment-loan"
    assert found.description == "Lend a device to a colleague and get it back in one piece."
    assert list(found.inputs) == ["device", "borrower", "days", "from", "extras"]
    assert found.inputs["days"].one_of == (7, 14, Decimal("30.5"))
    assert found.inputs["device"].source == "string"
    assert found.inputs["extras"].optional
    assert found.inputs["extras"].items.one_of == ("case", "cable")
    assert found.requires == {"systems": ["asset-register", "calendar"]}
    assert found.body == "\n# Lending equipment\n\nStart this when somebody asks for a device.\n"
    assert found.front["steps"][0]["id"] == "look_up"
    assert list(found.steps) == [
        "look_up", "allow", "start", "hand_over", "returned", "remind", "settle", "done", "refuse",
    ]  # fmt: skip
    assert found.roles == ("stock-keeper",)
    assert found.has_initiator


def test_every_kind_of_step_is_read_whole():
    steps = document(LOAN).steps

    assert steps["look_up"].routes == (Route(to="allow", when="The device is free"), Route(to="refuse"))
    assert steps["look_up"].next == ""
    assert steps["look_up"].evidence == ("link", "file")
    assert steps["look_up"].due == timedelta(hours=4)
    assert steps["look_up"].advisory
    assert [question.pass_at for question in steps["look_up"].check] == [0.9, None]
    assert steps["allow"].person == "steps.look_up.output.keeper"
    assert steps["allow"].on_reject == "look_up"
    assert steps["allow"].next == "start"
    assert steps["start"].text == "inputs.from"
    assert steps["returned"].text == "device-returned"
    assert steps["returned"].timeout == timedelta(days=30)
    assert steps["returned"].on_timeout == "remind"
    assert steps["settle"].text == "15m"
    assert (steps["done"].kind, steps["done"].text, steps["done"].next) == ("finish", "returned", "")
    assert steps["done"].line == line_of(LOAN, "id: done")
    assert {step.kind for step in steps.values()} | {"parallel"} == set(KINDS)


def test_a_parallel_step_is_read_whole():
    found = document(MOVE)

    assert found.steps["pack"].branches == ("archive", "kitchen", "desks")
    assert found.steps["pack"].next == "inspect"
    assert found.steps["kitchen"].next == JOIN
    assert found.steps["desks"].routes == (Route(to="desks_more"), Route(to=JOIN))
    assert found.roles == ("archivist", "mover")
    assert not found.has_initiator
    assert found.requires is None
    assert found.body == ""


@pytest.mark.parametrize(
    "steps",
    [
        # join is an ordinary id where nothing is parallel
        ["{id: a, wait: 1d, next: join}", "{id: join, wait: 1d}", "{id: end, finish: done}"],
        # a rejection may go on to a later step or to a finish
        ["{id: a, approve: A, person: b, on_reject: end}", "{id: c, wait: 1d}", "{id: end, finish: no}"],
        ["{id: a, finish: done}"],
        # both ways of a wait to the same step, a step reached by on_timeout only
        [
            "{id: a, wait_for: e, timeout: 0m, on_timeout: c}",
            "{id: c, wait: 999999d}",
            "{id: end, finish: done}",
        ],
        [
            "{id: a, agent: A, next: [c, end], output: {}, evidence: []}",
            "{id: c, wait: 1d}",
            "{id: end, finish: done}",
        ],
        # the whole circle is closed by on_reject only
        ["{id: a, agent: A}", "{id: b, approve: B, person: c, on_reject: a}", "{id: end, finish: done}"],
        # paths may lead to later steps and to names with dots
        [
            "{id: a, task: A, person: steps.b.output.the.boss}",
            "{id: b, agent: B, output: {the.boss: person}}",
            "{id: end, finish: done}",
        ],
        # two parallel steps in a row, the second sent back to the first
        [
            "{id: p, parallel: [a, b], next: q}",
            "{id: a, wait: 1d, next: join}",
            "{id: b, wait: 1d, next: join}",
            "{id: q, parallel: [c, d], next: z}",
            "{id: c, wait: 1d, next: join}",
            "{id: d, approve: D, person: e, next: join}",
            "{id: z, approve: Z, person: e, on_reject: p}",
            "{id: end, finish: done}",
        ],
    ],
)
def test_files_at_the_edge_of_the_rules_are_good(steps):
    assert document(process(steps))


@pytest.mark.parametrize("folder", ["fixtures", "marketplace"])
def test_every_public_process_file_is_good(folder):
    root = SHARED / "conformance" / folder
    if not root.is_dir():
        pytest.skip(f"no conformance data at {root}; set SHARED_DIR")
    files = sorted(root.glob("*/PROCESS.md"))
    assert len(files) == 12
    for file in files:
        assert document(file.read_bytes().decode()).name == file.parent.name


# The body and the hash.


SMALL = "---\nname: small\ndescription: Größe.\nsteps: [{id: end, finish: done}]\n---\n"


def test_the_hash_is_that_of_the_canonical_front_matter_a_newline_and_the_body():
    canonical = '{"description":"Größe.","name":"small","steps":[{"finish":"done","id":"end"}]}'

    found = document(SMALL + "Text\r\n")

    assert found.content_hash == hashlib.sha256(f"{canonical}\nText\r\n".encode()).hexdigest()


def test_numbers_are_hashed_as_rfc_8785_writes_them():
    front = "inputs: {n: {type: number, one_of: [1.50, 1e21, 1E-7, 100, 0.000001, -0.0, 12345678901234567.0e4]}}\n"

    found = document(SMALL.replace("steps:", front + "steps:"))

    numbers = '{"n":{"one_of":[1.5,1e+21,1e-7,100,0.000001,0,123456789012345670000],"type":"number"}}'
    canonical = f'{{"description":"Größe.","inputs":{numbers},"name":"small","steps":[{{"finish":"done","id":"end"}}]}}'
    assert found.content_hash == hashlib.sha256(f"{canonical}\n".encode()).hexdigest()


def test_comments_order_quotes_and_line_ends_of_the_front_matter_leave_the_hash_alone():
    hashes = {
        document(text).content_hash
        for text in (
            SMALL,
            "\ufeff" + SMALL,
            SMALL.replace("\n", "\r\n"),
            SMALL.replace("name: small\n", "").replace("steps:", "name: 'small' # here\nsteps:"),
            SMALL.removesuffix("\n"),
        )
    }

    assert len(hashes) == 1


@pytest.mark.parametrize(
    ("after", "body"),
    [
        ("---\n", ""),
        ("---", ""),
        ("---\r\n", ""),
        ("---\n\n", "\n"),
        ("---\nA\n---\nB", "A\n---\nB"),
        ("---\n \r\n\tA\r", " \r\n\tA\r"),
        ("---\n\ufeff\u2028\x07", "\ufeff\u2028\x07"),
    ],
)
def test_the_body_is_what_follows_the_closing_line_as_written(after, body):
    assert document(SMALL.removesuffix("---\n") + after).body == body


def test_every_change_of_the_body_changes_the_hash():
    bodies = ["", "\n", "\r\n", "a", "a\n", "a\r\n", " a"]

    assert len({document(SMALL + body).content_hash for body in bodies}) == len(bodies)
