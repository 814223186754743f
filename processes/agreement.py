"""Whether what a run holds is what its work and its own row say. What was signed of the work is `processes.proofs`' to ask."""

from collections.abc import Mapping
from typing import Any

from checks import codec
from processes.models import Run
from processes.runs import snapshot_of


def of(run: Run, accepted: Mapping[str, str]) -> list[str]:
    """A sentence for each thing that differs. `accepted`: the content of each step's latest accepted submission."""
    wrong = []
    if snapshot_of(run.data) != run.snapshot:
        wrong.append("The run's data is not what its snapshot is of.")
    steps = _steps(run.data)
    if steps is None:
        return [*wrong, "The run's data can't be read."]
    for step, content in accepted.items():
        entry = steps.get(step)
        if entry is None:
            wrong.append(f"The run's data has nothing of {step}, whose work was accepted.")
        elif "output" in entry and not _holds(entry, content):
            wrong.append(f"The run's data has other work of {step} than was accepted.")
    return wrong


def _steps(data: str) -> Mapping[str, Any] | None:
    try:
        found = codec.loads(data)["steps"]
        return found if all(isinstance(entry, Mapping) for entry in found.values()) else None
    except (codec.CodecError, KeyError, TypeError, AttributeError):
        return None


def _holds(entry: Mapping[str, Any], content: str) -> bool:
    try:
        given = codec.loads(content)
        return all(codec.canonical(entry.get(key)) == codec.canonical(value) for key, value in given.items())
    except (codec.CodecError, AttributeError):
        return False
