"""What an evaluator is shown: the material of one check, the cut to a size, the digest. Pure.

Source: check-1 §2 ("What the evaluator sees") and §5 (`checkStateBytes`). Sizes are bytes of the codec's
compact JSON in UTF-8.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from checks import codec
from checks.questions import Question, question_source

_CUT = "…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """The six things beside the questions that an evaluator sees, and nothing else.

    `run_data` is the protocol's `{inputs, steps}`; `evidence` holds `{kind, ref}` and may hold `sha256`,
    which is never shown: it lets the digest know the same bytes under a new upload id.
    """

    instructions: str
    body: str
    run_data: Mapping[str, Any]
    output: Mapping[str, Any]
    summary: str
    evidence: Sequence[Mapping[str, str]] = ()


def state(material: Material) -> dict[str, Any]:
    """The JSON that is shown. Links to files are left out: they expire, and nobody opens them."""
    return {
        "instructions": material.instructions,
        "process": material.body,
        "run_data": without_urls(material.run_data),
        "submission": {
            "output": material.output,
            "summary": material.summary,
            "evidence": [{"kind": item["kind"], "ref": item["ref"]} for item in material.evidence],
        },
    }


def without_urls(run_data: Mapping[str, Any]) -> dict[str, Any]:
    """Run data without the short-lived `url` of file evidence, current and in histories. Copies what it changes."""
    steps = run_data.get("steps")
    if not isinstance(steps, Mapping):
        return dict(run_data)
    return {**run_data, "steps": {step: _entry_without_urls(entry) for step, entry in steps.items()}}


def cut(run_data: Mapping[str, Any], limit_bytes: int) -> tuple[dict[str, Any], bool]:
    """Run data within `limit_bytes`, and whether anything was cut.

    Whole steps go first, the oldest by its `at` before the newer ones; then the longest input values are
    shortened to one common length, each to the head of its text and an ellipsis; then inputs go, longest
    first. What is left of `{"inputs": {}, "steps": {}}` itself is never cut. The argument stays as it was.
    """
    shown = dict(run_data)
    excess = size(shown) - limit_bytes
    if excess <= 0:
        return shown, False
    for key, reduce in (("steps", _drop_oldest), ("inputs", _shorten_longest), ("inputs", _drop_longest)):
        if excess > 0 and isinstance(shown.get(key), Mapping):
            before = size(shown[key])
            shown[key] = reduce(shown[key], before - excess)
            excess -= before - size(shown[key])
    return shown, True


def size(value: Any) -> int:
    """Bytes of a value's compact JSON."""
    return len(codec.dumps(value).encode("utf-8", "surrogatepass"))


def digest(material: Material, questions: Iterable[Question], evaluator_version: str) -> str:
    """SHA-256 (hex) of what is judged, before any cut, of the questions and of who answers.

    Equal digests are the same check asked again. The server's limits are no part of it: a stored verdict
    keeps the thresholds that it was made with.
    """
    whole = state(material)
    whole["submission"]["evidence"] = [_proof(item) for item in material.evidence]
    source = {
        "material": whole,
        "questions": [question_source(question) for question in questions],
        "evaluator": evaluator_version,
    }
    return hashlib.sha256(codec.canonical(source).encode("utf-8", "surrogatepass")).hexdigest()


def _proof(item: Mapping[str, str]) -> dict[str, str]:
    """An upload's id is new each time, its bytes are not: uploading the same file again re-rolls no dice."""
    if sha256 := item.get("sha256"):
        return {"kind": item["kind"], "sha256": sha256}
    return {"kind": item["kind"], "ref": item["ref"]}


def _entry_without_urls(entry: Any) -> Any:
    if not isinstance(entry, Mapping):
        return entry
    clean = dict(entry)
    if isinstance(entry.get("evidence"), list):
        clean["evidence"] = [_evidence_without_url(item) for item in entry["evidence"]]
    if isinstance(entry.get("history"), list):
        clean["history"] = [_entry_without_urls(item) for item in entry["history"]]
    return clean


def _evidence_without_url(item: Any) -> Any:
    return {key: value for key, value in item.items() if key != "url"} if isinstance(item, Mapping) else item


def _drop_oldest(steps: Mapping[str, Any], target: int) -> dict[str, Any]:
    return _drop(steps, sorted(steps, key=lambda step: _completed_at(steps[step])), target)


def _drop_longest(inputs: Mapping[str, Any], target: int) -> dict[str, Any]:
    return _drop(inputs, sorted(inputs, key=lambda key: -_entry_size(key, inputs[key])), target)


def _drop(entries: Mapping[str, Any], order: Iterable[str], target: int) -> dict[str, Any]:
    """Leave entries out in `order` until what remains takes at most `target` bytes. Linear: sizes once."""
    left = dict(entries)
    content = sum(_entry_size(key, value) for key, value in entries.items())
    for key in order:
        if _map_size(content, len(left)) <= target:
            break
        content -= _entry_size(key, left.pop(key))
    return left


def _shorten_longest(inputs: Mapping[str, Any], target: int) -> dict[str, Any]:
    """Cut every value longer than some length to that length: the largest length that fits (bisection)."""
    texts = {key: codec.dumps(value) for key, value in inputs.items()}
    sizes = {key: len(text.encode("utf-8", "surrogatepass")) for key, text in texts.items()}
    keys = sum(_entry_size(key, "") - size("") for key in inputs)
    least, most = size(_CUT), max(sizes.values(), default=0)
    while least < most:
        middle = (least + most + 1) // 2
        if _map_size(keys + sum(min(middle, length) for length in sizes.values()), len(sizes)) <= target:
            least = middle
        else:
            most = middle - 1
    return {
        key: value if sizes[key] <= least else _head(value if isinstance(value, str) else texts[key], least)
        for key, value in inputs.items()
    }


def _head(text: str, limit: int) -> str:
    """The longest head of a text that, with an ellipsis, takes at most `limit` bytes as JSON."""
    least, most = 0, min(len(text), limit)
    while least < most:
        middle = (least + most + 1) // 2
        if size(text[:middle] + _CUT) <= limit:
            least = middle
        else:
            most = middle - 1
    return text[:least] + _CUT


def _entry_size(key: str, value: Any) -> int:
    return size(key) + 1 + size(value)


def _map_size(content: int, entries: int) -> int:
    return 2 + content + max(0, entries - 1)


def _completed_at(entry: Any) -> datetime:
    """When a step completed: now, else the last time before its rework; what never did counts as oldest."""
    history = entry.get("history") if isinstance(entry, Mapping) else None
    entries = [entry, *reversed(history if isinstance(history, list) else [])]
    for item in entries:
        try:
            at = datetime.fromisoformat(item["at"])
        except (KeyError, TypeError, ValueError):
            continue
        return at if at.tzinfo else at.replace(tzinfo=UTC)
    return datetime.min.replace(tzinfo=UTC)
