"""Between a submission's acceptance and its completion: the check.

Three beats, each without the other's lock: `begin` records the submission as checking (in the caller's
transaction); `ask` asks the evaluator with no transaction open; `settle` applies the verdict (in a new
one). The fence lets one evaluation count per submission, whoever resumes it. Source: check-1 §3 and our
rulings in the protocol's §5 and §6.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from checks import codec, evaluators, judging, verdicts
from checks.facts.declared import Found
from checks.material import Material, digest
from checks.models import Verdict as VerdictRow
from checks.questions import Answered, Limits, Question, Verdict, flat
from checks.receipts import signing
from processes import applying, engine, facts, files, runs
from processes.acceptance import Content, FileState, content_of
from processes.applying import set_state
from processes.claims import being_checked, pending
from processes.document import Step as StepSpec
from processes.errors import ToolError, checking, run_ended, used_before
from processes.handing import Handing, accept, cited, not_accepted
from processes.loaded import Loaded
from processes.models import Submission
from processes.pipeline import Answer, Call
from processes.states import SUBMISSION_MOVES, HistoryEvent, SubmissionState, move

FACTS_SECONDS = 15  # the most that pages and chains take, all asked at once
ASKED_TWICE_AND_SPARE = 2, 15  # the judge's one retry, and seconds for our own work


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """What `ask` and `settle` need of a submission that was recorded as checking."""

    run: str
    step: str
    submission: Submission
    fence: int
    # the run as it was left, and the cited files as they were
    loaded: Loaded
    verified: dict[str, Any]
    material: Material
    spec: StepSpec
    content: Content
    limits: Limits

    @property
    def questions(self) -> tuple[Question, ...]:
        return self.spec.check


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What an asking came to: the facts, and the verdict where they leave one to be asked for."""

    found: tuple[Found, ...] = ()
    judgement: judging.Judgement | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Joining:
    """The very call whose submission is being checked right now: it only has to wait."""

    submission: UUID
    fence: int


# done, refused, or for the evaluator
Handed = Answer | ToolError | Asking | Joining


# ---- begin


def material_of(loaded: Loaded, spec: StepSpec, content: Content) -> Material:
    """Six of the seven things that an evaluator sees; the questions go beside them."""
    return Material(
        instructions=spec.text,
        body=loaded.compiled.document.body,
        run_data=loaded.now.data,
        output=content.output,
        summary=content.summary or "",
        evidence=content.evidence,  # with hashes: the same bytes uploaded anew are the same material
    )


def begin(
    loaded: Loaded, call: Call, handing: Handing, content: Content, waiting: Submission | None
) -> Asking | Submission:
    """Record the submission as checking, or find that its unchanged material was judged before.

    `waiting`: one whose evaluator did not answer, or whose asker died.
    """
    signing.ready()
    step = handing.step
    spec, _ = loaded.now.step(step)
    attempt = loaded.attempt(step)
    material = material_of(loaded, spec, content)
    mark = digest(material, spec.check, judging.version_of(evaluators.known()))
    if mark in loaded.judged[step]:
        if waiting is not None:
            set_state(loaded, waiting, SubmissionState.VOID)
        return _judged_before(attempt.pk, mark)
    until = _budget(loaded, spec)
    if waiting is not None and waiting.digest == mark:
        # the same material again: after an evaluator error, or after whoever asked died. The route and who
        # hands it in are no part of the material, and may be others now.
        set_state(loaded, waiting, SubmissionState.CHECKING)
        waiting.request_id = call.request_id
        waiting.by, waiting.content = call.caller.id, codec.dumps(content.as_json())
        waiting.fence, waiting.fence_until = waiting.fence + 1, until
        submission = waiting
    else:
        if waiting is not None:
            set_state(loaded, waiting, SubmissionState.VOID)
        submission = _record(loaded, call, step, content, mark)
        submission.fence, submission.fence_until = 1, until
    loaded.hand(submission)
    _hold(loaded, step, until)
    return Asking(
        run=loaded.row.pk, step=step, submission=submission, fence=submission.fence, loaded=loaded,
        verified=handing.verified, material=material, spec=spec, content=content, limits=loaded.limits,
    )  # fmt: skip


def _judged_before(attempt: int, mark: str) -> Submission:
    judged = Submission.objects.filter(attempt=attempt, digest=mark, verdict__isnull=False)
    return judged.exclude(verdict__verdict=Verdict.ERROR).select_related("verdict").latest("number")


def _record(loaded: Loaded, call: Call, step: str, content: Content, mark: str) -> Submission:
    return Submission(
        attempt=loaded.attempt(step),
        number=1 + loaded.handed_in.get(step, 0),
        request_id=call.request_id,
        by=call.caller.id,
        content=codec.dumps(content.as_json()),
        digest=mark,
        at=loaded.at,
    )


def accepted(loaded: Loaded, call: Call, step: str, content: Content) -> Submission:
    """An accepted submission of a step that is not checked, yet to be saved."""
    submission = _record(loaded, call, step, content, "")
    set_state(loaded, submission, SubmissionState.ACCEPTED)
    return submission


# ---- ask and settle


def take(run: str, submission: UUID, fence: int, until: datetime) -> Asking | None:
    """Begin to ask, some time after the submission was recorded, perhaps elsewhere: the fence stands for a whole
    asking from now on. None where it fell, or somebody settled it, resumed it, or took it before (a task that
    is delivered twice): `until` is the fence's end as whoever recorded it left it.

    It judges the run as it now is.
    """
    with runs.locked(run, ended_ok=True) as loaded:
        row = Submission.objects.select_related("attempt__step").filter(pk=submission).first()
        if row is None or (row.fence, row.fence_until) != (fence, until):
            return None
        if not being_checked(row) or not loaded.now.live:
            return None
        step = row.attempt.step.name
        row.fence_until = _budget(loaded, loaded.now.step(step)[0])
        _hold(loaded, step, row.fence_until)
        loaded.hand(row)
        runs.save(loaded)
    spec, _ = loaded.now.step(step)
    content = content_of(codec.loads(row.content))
    return Asking(
        run=run, step=step, submission=row, fence=fence, loaded=loaded,
        verified=files.verify(files.refs(content.evidence)), material=material_of(loaded, spec, content),
        spec=spec, content=content, limits=loaded.limits,
    )  # fmt: skip


def waited(asking: Asking) -> bool:
    """Whether it was recorded so long ago that a whole asking may outlast its fence."""
    until = asking.submission.fence_until
    spare = timedelta(seconds=ASKED_TWICE_AND_SPARE[1] / 2)
    return until is not None and until - timezone.now() < _most(asking.spec) - spare


def take_again(asking: Asking) -> Asking | None:
    """`take` for one that waited in this process."""
    until = asking.submission.fence_until
    return None if until is None else take(asking.run, asking.submission.pk, asking.fence, until)


def _most(spec: StepSpec) -> timedelta:
    """How long one asking may take, with the judge's one retry and something to spare."""
    asks, spare = ASKED_TWICE_AND_SPARE
    looked = FACTS_SECONDS if facts.outward(spec) else 0
    return timedelta(seconds=looked + settings.EVALUATOR_SECONDS * asks + spare)


def _budget(loaded: Loaded, spec: StepSpec) -> datetime:
    """When an asking that begins now is given up for dead."""
    return loaded.at + _most(spec)


def _hold(loaded: Loaded, step: str, until: datetime) -> None:
    """No lease ends while its work is checked."""
    attempt = loaded.attempt(step)
    if attempt.lease_until is not None and attempt.lease_until < until:
        attempt.lease_until = until
        loaded.touch(attempt)


def resolve(call: Call, asking: Asking) -> dict[str, Any]:
    """Look at the facts and ask the evaluator with nothing locked, then apply what they said."""
    said = _ask(asking)
    verified = files.verify_again(asking.verified)
    return call.transition(
        asking.run,
        lambda loaded: _settle(loaded, call, asking, said, verified),
        ended_ok=True,
        # while the fence stands, nobody can have resumed this submission
        since=asking.loaded if being_checked(asking.submission) else None,
    )


def _ask(asking: Asking) -> Said:
    """No model is asked of work whose facts don't hold, or could not be looked at."""
    found = facts.all_of(asking.spec, asking.content)
    if not asking.questions or not all(each.outcome.passed for each in found):
        return Said(found=found)
    judgement = judging.judge(asking.material, asking.questions, asking.limits, advisory=asking.spec.advisory)
    return Said(found=found, judgement=judgement)


def _settle(
    loaded: Loaded, call: Call, asking: Asking, said: Said, verified: dict[str, Any]
) -> Answer | ToolError:
    ours = loaded is asking.loaded
    submission = asking.submission if ours else Submission.objects.get(pk=asking.submission.pk)
    if not loaded.now.live:
        # cancel wins: the late verdict is kept, void
        if _awaits(submission, asking):
            row = verdicts.record(said.judgement) if said.judgement is not None else None
            void = move(SUBMISSION_MOVES, SubmissionState(submission.state), SubmissionState.VOID)
            Submission.objects.filter(pk=submission.pk).update(verdict=row, state=void)
        return run_ended()
    loaded.unsettled.discard(asking.step)
    if submission.fence != asking.fence or submission.state != SubmissionState.CHECKING:
        raise checking()  # somebody resumed it; the same call again gets their result
    if not submission.errors:  # sent again after an error, it was told before
        loaded.now.effects.append(engine.Happened(HistoryEvent.SUBMITTED, asking.step, submission.by))
    facts.keep(loaded, submission, said.found)
    if not being_checked(submission):
        return _too_late(loaded, submission, said)
    return _said(loaded, call, asking, submission, said, files.citable(
        verified, by=submission.by, cited=cited(loaded)
    ))  # fmt: skip


def _said(
    loaded: Loaded,
    call: Call,
    asking: Asking,
    submission: Submission,
    said: Said,
    known: dict[str, FileState],
) -> Answer | ToolError:
    """Facts that fail, facts that nobody could look at, then the verdict."""
    step, judgement = asking.step, said.judgement
    if wrong := facts.failed(said.found):
        return _disproved(loaded, step, submission, wrong)
    if away := facts.unreached(said.found):
        return applying.no_answer(loaded, call, step, submission, who="What a fact looks up", found=away)
    if said.found:
        facts.tell(loaded, step, hold=True)
    if judgement is None:
        submission.fence_until = None
        return applying.finally_taken(loaded, call, step, submission, known)
    if judgement.verdict == Verdict.ERROR and not asking.spec.advisory:
        told = [f"check: {judgement.error}"]
        return applying.no_answer(loaded, call, step, submission, who="The evaluator", found=told)
    submission.verdict, submission.errors = _made(loaded, judgement), 0
    submission.digest = judgement.digest  # a worker may have judged a later state of the run
    answers = [flat(judged) for judged in judgement.judged]
    return applying.apply(loaded, call, step, submission, answers, known)


def _disproved(loaded: Loaded, step: str, submission: Submission, wrong: list[str]) -> ToolError:
    submission.fence_until, submission.errors = None, 0
    facts.tell(loaded, step, hold=False)
    set_state(loaded, submission, SubmissionState.NOT_ACCEPTED)
    return not_accepted(loaded, step, wrong)


def _awaits(submission: Submission, asking: Asking) -> bool:
    """Whether a run that has ended left it without this verdict. What somebody resumed is theirs: it may have
    ended the run.
    """
    unsettled = submission.state in (SubmissionState.CHECKING, SubmissionState.VOID)
    return submission.fence == asking.fence and unsettled and submission.verdict_id is None


def _made(loaded: Loaded, judgement: judging.Judgement) -> VerdictRow:
    new = verdicts.made(judgement)
    loaded.made.append(new)
    return new.verdict


def _too_late(loaded: Loaded, submission: Submission, said: Said) -> ToolError:
    """The fence fell before the answer came: others may have gone on with the step. The verdict is kept,
    so that the same material gets it without being asked again.
    """
    if said.judgement is not None:
        submission.verdict = _made(loaded, said.judgement)
    set_state(loaded, submission, SubmissionState.VOID)
    return checking()


def _answers(submission: Submission) -> Sequence[Answered]:
    return list(submission.verdict.answers.all()) if submission.verdict is not None else []


def hand_in(loaded: Loaded, call: Call, handing: Handing) -> Handed:
    """Beats 3 and 4 of a submission, up to its completion or to facts and evaluator."""
    step = handing.step
    spec, _ = loaded.now.step(step)
    waiting = pending(loaded, step)
    under_way = waiting if waiting is not None and being_checked(waiting) else None
    if under_way is not None and (under_way.request_id, under_way.by) != (call.request_id, call.caller.id):
        raise checking()
    kept = accept(loaded, handing)
    if isinstance(kept, ToolError):
        return kept
    if under_way is not None:
        if under_way.content != codec.dumps(kept.as_json()):
            raise used_before()
        return Joining(submission=under_way.pk, fence=under_way.fence)
    submitted = engine.Happened(HistoryEvent.SUBMITTED, step, call.caller.id)
    found = facts.at_hand(spec, kept)
    wrong = facts.failed(found)
    if wrong or not (spec.check or facts.outward(spec)):
        loaded.now.effects.append(submitted)
        submission = _record(loaded, call, step, kept, "")
        facts.keep(loaded, submission, found)
        if waiting is not None:  # other work in its place
            set_state(loaded, waiting, SubmissionState.VOID)
        if wrong:
            return _disproved(loaded, step, submission, wrong)
        if found:
            facts.tell(loaded, step, hold=True)
        return applying.complete(loaded, call, step, submission)
    begun = begin(loaded, call, handing, kept, waiting)
    if isinstance(begun, Asking):
        return begun
    loaded.now.effects.append(submitted)
    # unchanged material: the stored verdict again, on a submission of its own
    submission = _record(loaded, call, step, kept, begun.digest)
    submission.verdict = begun.verdict
    facts.keep_again(loaded, submission, begun)
    known = files.citable(handing.verified, by=call.caller.id, cited=cited(loaded))
    return applying.apply(loaded, call, step, submission, _answers(submission), known)
