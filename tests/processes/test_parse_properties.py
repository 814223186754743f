"""What holds of every text: `parse` never raises, good files stay good, and none takes long."""

import json
import time
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from processes.document import JOIN, KINDS, parse
from tests.processes.process_samples import LOAN, MOVE, document, process

FRAGMENTS = [
    *LOAN.split(), *MOVE.split(), "\n", "\n  ", "\n    - ", "\n  - id: ", ": ", "- ", "&a ", "*a", "!!x ", "[", "]", "{", "}",
    "'", '"', "|", ">", "---\n", "\n---\n", "...\n", "%YAML", "#", "\t", "\r\n", "\x00", "\ud800", "\u2028", "\ufeff", "é", "? ",
    "1", "0x", "1e999", "~", "join", "parallel: [",
]  # fmt: skip
noise = st.lists(st.sampled_from(FRAGMENTS), max_size=60).map("".join)


def consistent(parsed):
    assert (parsed.document is None) == bool(parsed.issues)
    lines = [issue.line or 0 for issue in parsed.issues]
    assert lines == sorted(lines)
    assert all(str(issue) for issue in parsed.issues)


@settings(deadline=None)
@given(st.text(st.characters(), max_size=200))
def test_no_text_raises(text):
    consistent(parse(text))
    consistent(parse(f"---\n{text}\n---\n"))


@settings(deadline=None)
@given(noise)
def test_no_nearly_yaml_raises(text):
    consistent(parse(f"---\n{text}\n---\n"))


@settings(max_examples=150, deadline=None)
@given(st.sampled_from([LOAN, MOVE]), st.data())
def test_no_damaged_file_raises(text, data):
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 40)))
        piece = data.draw(st.one_of(st.just(""), st.sampled_from(FRAGMENTS), st.just(text[end : end + 80])))
        text = text[:start] + piece + text[end:]
    consistent(parse(text))


VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.sampled_from([*KINDS, "a", "join", "1d", "inputs.a", ""])
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["to", "when", "type", "items", "one_of", "ask", "pass", "a"]), inner, max_size=3
        ),
    ),
    max_leaves=6,
)
STEP_KEYS = [
    "id",
    *KINDS,
    "output",
    "evidence",
    "next",
    "person",
    "on_reject",
    "due",
    "timeout",
    "on_timeout",
]


@settings(max_examples=150, deadline=None)
@given(
    st.fixed_dictionaries(
        {
            "name": VALUES,
            "steps": st.lists(st.dictionaries(st.sampled_from([*STEP_KEYS, "check"]), VALUES), max_size=5),
        },
        optional={"description": VALUES, "inputs": VALUES, "requires": VALUES},
    )
)
def test_no_shape_of_well_formed_values_raises(front):
    consistent(parse(f"---\n{json.dumps(front)}\n---\n"))


names = st.from_regex(r"[a-z0-9]{1,9}(-[a-z0-9]{1,9}){0,3}", fullmatch=True)
ids = st.from_regex(r"[a-z][a-z0-9_-]{0,9}", fullmatch=True).filter(lambda text: text != JOIN)
texts = st.text(
    st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters="\ufeff\ufffe\uffff"),
    min_size=1,
).filter(str.strip)
durations = st.from_regex(r"[0-9]{1,6}[mhd]", fullmatch=True)
simple_types = st.sampled_from(["string", "number", "boolean", "date", "datetime", "object", "person"])
fields = st.recursive(
    st.one_of(
        simple_types,
        st.fixed_dictionaries(
            {"type": simple_types}, optional={"description": texts, "optional": st.booleans()}
        ),
        st.fixed_dictionaries({"type": st.just("string"), "one_of": st.lists(texts, min_size=1, max_size=3)}),
        st.fixed_dictionaries(
            {
                "type": st.just("number"),
                "one_of": st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1),
            }
        ),
    ),
    lambda inner: st.fixed_dictionaries({"type": st.just("list"), "items": inner}),
    max_leaves=3,
)
declared = st.dictionaries(texts, fields, max_size=3)


@st.composite
def good_fronts(draw):
    """Front matter that breaks no rule: each step goes on to later ones, or is sent back by on_reject."""
    chosen = draw(st.lists(ids, min_size=1, max_size=8, unique=True))
    steps = []
    for index, name in enumerate(chosen[:-1]):
        later = chosen[index + 1 :]
        step = {"id": name, "next": chosen[index + 1]}
        kind = draw(st.sampled_from(["agent", "task", "approve", "wait", "wait_for"]))
        step[kind] = draw({"wait": durations, "wait_for": ids}.get(kind, texts))
        if kind in {"task", "approve"}:
            step["person"] = draw(st.sampled_from(["boss", "initiator", "inputs.owner"]))
        if kind in {"agent", "task"}:
            step |= draw(
                st.fixed_dictionaries({}, optional={"output": declared, "due": durations, "check": texts})
            )
            if len(later) > 1 and draw(st.booleans()):
                step["next"] = [chosen[index + 1], {"to": later[-1], "when": draw(texts)}]
        if kind == "approve":
            step["on_reject"] = draw(st.sampled_from(chosen))
        if kind == "wait_for":
            step |= {"timeout": draw(durations), "on_timeout": draw(st.sampled_from(later))}
        steps.append(step)
    steps.append({"id": chosen[-1], "finish": draw(texts)})
    inputs = draw(declared) | {"owner": "person"}
    return {"name": draw(names), "description": draw(texts), "inputs": inputs, "steps": steps}


@settings(max_examples=100, deadline=None)
@given(good_fronts(), st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")))
def test_a_good_file_has_no_issue_and_a_stable_hash(front, body):
    written = json.dumps(front, ensure_ascii=False, indent=1)
    first = document(f"---\n{written}\n---\n{body}")
    again = document(f"---\n{json.dumps(front, ensure_ascii=False, sort_keys=True)}\n---\n{body}")

    assert first.body == body
    assert first.content_hash == again.content_hash
    assert first.front == again.front == json.loads(written, parse_float=Decimal)


# Speed: an author's page parses on every look, and nobody may stop the server with one file.


def seconds(text):
    start = time.process_time()
    parse(text)
    return time.process_time() - start


def test_a_file_of_a_hundred_steps_is_read_well_under_50_milliseconds():
    step = LOAN[LOAN.index("  - id: look_up") : LOAN.index("    check:")]
    steps = "".join(step.replace("look_up", f"s{number}") for number in range(100))
    text = f"---\nname: a\ndescription: b\nsteps:\n{steps}  - {{id: end, finish: done}}\n---\n"

    assert document(text)
    assert min(seconds(text) for _ in range(5)) < 0.05


@pytest.mark.parametrize(
    "text",
    [
        process(f"{{id: s{n}, wait: 1d, next: t{n}}}" for n in range(2_000)),
        process(f"{{id: s{n}, wait: 1d, x{n}: y}}" for n in range(2_000)),
        process(
            f"{{id: s{n}, agent: A, next: [s{n + 1}, s{n + 2}, s{(n * 7) % 1500}]}}" for n in range(1_500)
        ),
        process(
            [
                f"{{id: p, parallel: [{', '.join(f'b{n}' for n in range(1_000))}], next: end}}",
                *(f"{{id: b{n}, wait: 1d, next: c0}}" for n in range(1_000)),
                *(f"{{id: c{n}, wait: 1d, next: c{n + 1}}}" for n in range(1_000)),
            ]
        ),
        process(f"{{id: s{n}, task: T, person: inputs.x{n}}}" for n in range(1_500)).replace(
            "steps:", "inputs: {" + ", ".join(f"i{n}: string" for n in range(3_000)) + "}\nsteps:"
        ),
        "---\n" + "{a: " * 60_000 + "\n---\n",
        "---\n" + "- " * 120_000 + "\n---\n",
        "---\na: '" + "\x07" * 250_000 + "'\n---\n",
        "---\na: " + "9" * 250_000 + "\n---\n",
        "---\n" + "? " * 120_000 + "\n---\n",
        "---\n" + "--- \n" * 50_000 + "---\n",
        "---\n" + "a: &a [*a, *a]\n" * 15_000 + "---\n",
    ],
    ids=[
        "targets",
        "keys",
        "edges",
        "branches",
        "paths",
        "maps",
        "lists",
        "controls",
        "digits",
        "keys-in-keys",
        "markers",
        "aliases",
    ],
)
def test_no_file_takes_long_to_refuse(text):
    assert parse(text).issues
    assert seconds(text) < 2
