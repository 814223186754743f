"""Work as it is handed in, against the objective rules: what a caller may mend before any model is asked."""

from dataclasses import dataclass, replace
from typing import Any

from checks import codec
from processes import engine, files, runs
from processes.acceptance import Content, issues, with_hashes
from processes.callers import Caller
from processes.errors import ToolError
from processes.loaded import Loaded


@dataclass(frozen=True, slots=True, kw_only=True)
class Handing:
    """Work as it is handed in: by an agent on a claim, or by a person on a task's item."""

    caller: Caller
    step: str
    content: Content
    # the cited files as they were verified before the lock
    verified: dict[str, Any]
    summary_needed: bool


def accept(loaded: Loaded, handing: Handing) -> Content | ToolError:
    """The objective rules. Gives the content with its files' hashes, or the refusal with every issue
    (which the next go finds in its handoff).
    """
    spec, _ = loaded.now.step(handing.step)
    known = files.citable(handing.verified, by=handing.caller.id, cited=cited(loaded))
    found = issues(spec, handing.content, known, summary_needed=handing.summary_needed)
    if not found:
        kept = with_hashes(handing.content, known)
        large = too_large_with(loaded, handing.step, kept, handing.caller.id)
        if large is None:
            return kept
        found = [large]
    return not_accepted(loaded, handing.step, found)


def cited(loaded: Loaded) -> set[str]:
    """The files that the run cites: in its data, in the past of its steps, in a held submission."""
    entries: list[Any] = list(loaded.now.data["steps"].values())
    entries += [earlier for entry in entries for earlier in entry["history"]]
    entries += [codec.loads(item.candidate.content) for item in loaded.items.values() if item.candidate]
    return {ref for entry in entries for ref in files.refs(entry.get("evidence", ()))}


def too_large_with(
    loaded: Loaded, step: str, content: Content, by: str, check: dict[str, Any] | None = None
) -> str | None:
    """The issue when run data would outgrow its bound with this completion."""
    steps = {**loaded.now.data["steps"]}
    entry = steps.get(step, {"history": []})
    judged = {"check": check} if check is not None else {}
    done = {**content.as_json(), **judged, "by": by, "at": engine.stamp(loaded.at)}
    steps[step] = {**done, **entry}
    return runs.too_large(replace(loaded.now, data={**loaded.now.data, "steps": steps}))


def not_accepted(
    loaded: Loaded, step: str, found: list[str], check: dict[str, Any] | None = None
) -> ToolError:
    attempt = loaded.attempt(step)
    left = codec.loads(attempt.handoff) if attempt.handoff else {}
    left["issues"] = found
    if check is not None:
        left["check"] = check
    attempt.handoff = codec.dumps(left)
    loaded.touch(attempt)
    return ToolError(
        "not_accepted", "The submission was not accepted; mend what the issues name and send it again.", found
    )
