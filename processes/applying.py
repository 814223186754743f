"""What becomes of a submission once it is known: taken, sent back, or put before a person. Under the run's lock."""

from collections.abc import Sequence
from typing import Any

from checks import canary, codec, verdicts
from checks.models import Verdict as VerdictRow
from checks.questions import Answered, Verdict
from processes import engine, escalation
from processes.acceptance import Content, FileState, content_of, issues
from processes.document import Step as StepSpec
from processes.errors import ToolError
from processes.handing import not_accepted, too_large_with
from processes.loaded import Loaded
from processes.models import Submission
from processes.pipeline import Answer, Call, run_answer
from processes.states import SUBMISSION_MOVES, Decision, HistoryEvent, SubmissionState, move

ERRORS_IN_A_ROW = 3
UNSURE = "The check was unsure."


def set_state(loaded: Loaded, submission: Submission, state: SubmissionState) -> None:
    """The one way that a submission's state is written: only as the table of moves allows."""
    submission.state = move(SUBMISSION_MOVES, SubmissionState(submission.state), state)
    loaded.hand(submission)


def close_task(loaded: Loaded, step: str, by: str) -> None:
    """A person's task is decided by handing it in, whatever its check says."""
    item = loaded.items.get(step)
    if item is not None and not item.escalated:
        loaded.decide(item, Decision.COMPLETED, by)


def complete(
    loaded: Loaded, call: Call, step: str, submission: Submission, check: dict[str, Any] | None = None
) -> Answer:
    """The step is done with this work."""
    set_state(loaded, submission, SubmissionState.ACCEPTED)
    close_task(loaded, step, call.caller.id)
    judged = {"check": check} if check is not None else {}
    engine.complete(loaded.now, step, {**codec.loads(submission.content), **judged}, by=call.caller.id)
    loaded.handed = submission
    return run_answer


def no_answer(
    loaded: Loaded, call: Call, step: str, submission: Submission, *, who: str, found: list[str]
) -> Answer | ToolError:
    """`who` did not answer. The same call asks again; after three times a person is asked instead."""
    submission.errors += 1
    submission.fence_until = None
    if submission.errors < ERRORS_IN_A_ROW:
        set_state(loaded, submission, SubmissionState.ERROR)
        return ToolError(
            "retry",
            f"{who} did not answer; send the same call again. After three times a person is asked.",
            [line[:300] for line in found],
            retry_after=5,
        )
    set_state(loaded, submission, SubmissionState.HELD)
    close_task(loaded, step, call.caller.id)
    # they may have been different ones: a fact that could not be looked up, then the evaluator
    last = f"{who[:1].lower()}{who[1:]} did not answer"
    note = (
        f"The check could not be finished {submission.errors} times in a row (last: {last}), "
        "so nobody has checked this submission."
    )
    escalation.open_escalation(loaded, step, by=engine.SERVER, note=note, candidate=submission)
    return run_answer


def apply(
    loaded: Loaded,
    call: Call,
    step: str,
    submission: Submission,
    answers: Sequence[Answered],
    known: dict[str, FileState],
) -> Answer | ToolError:
    """What a submission's verdict does: complete, bounce or escalate."""
    spec, _ = loaded.now.step(step)
    row = submission.verdict
    if row is None:
        raise AssertionError("only judged submissions are applied")
    check = verdicts.view(row, answers)
    loaded.verdicts[step], loaded.answers[step] = row, answers
    loaded.now.effects.append(engine.Happened(HistoryEvent.CHECKED, step, "check", row.verdict))
    submission.fence_until = None
    if row.verdict == Verdict.FAIL and not spec.advisory:
        set_state(loaded, submission, SubmissionState.NOT_ACCEPTED)
        return not_accepted(loaded, step, verdicts.issue_lines_of(row, answers), check)
    if row.verdict == Verdict.UNSURE and not spec.advisory:
        set_state(loaded, submission, SubmissionState.HELD)
        close_task(loaded, step, call.caller.id)
        escalation.open_escalation(
            loaded, step, by=engine.SERVER, note=_doubt(row), candidate=submission, check=check
        )
        return run_answer
    return finally_taken(loaded, call, step, submission, known, check)


def finally_taken(
    loaded: Loaded,
    call: Call,
    step: str,
    submission: Submission,
    known: dict[str, FileState],
    check: dict[str, Any] | None = None,
) -> Answer | ToolError:
    """Nothing more is asked of it: complete it, unless the run or its files changed meanwhile."""
    spec, _ = loaded.now.step(step)
    content = content_of(codec.loads(submission.content))
    found = _again(loaded, spec, content, known, call.caller.id, check)
    if found:
        set_state(loaded, submission, SubmissionState.NOT_ACCEPTED)
        return not_accepted(loaded, step, found)
    return complete(loaded, call, step, submission, check)


def _again(
    loaded: Loaded,
    spec: StepSpec,
    content: Content,
    known: dict[str, FileState],
    by: str,
    check: dict[str, Any] | None,
) -> list[str]:
    """After the verdict: a sibling may have filled the run, a file may be gone."""
    found = [line for line in issues(spec, content, known, summary_needed=False) if "evidence" in line]
    large = too_large_with(loaded, spec.id, content, by, check)
    return [*found, large] if large else found


def _doubt(row: VerdictRow) -> str:
    return f"{UNSURE} {canary.REASON.capitalize()}." if row.addressed else UNSURE
