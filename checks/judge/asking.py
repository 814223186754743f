"""A judgement: facts first, then one request to the evaluator about everything else, else words compared.

The model is shown task, output, evidence and numbered claims as data; the questions hold none of it but the caller's own
criteria. With no model configured, the deterministic engine answers, and may pass; where one is configured and did not
answer, it answers in its place, and nothing passes.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from checks import asking, canary, claims, facts, limits
from checks.evaluators import Answers, Config, Evaluator, configured
from checks.evaluators.heuristic import MODEL, Heuristic
from checks.judge.requests import JudgeRequest
from checks.judge.rules import Decided, Found, Unanswered, criteria_view, decide
from checks.models import Evaluator as Row
from checks.questions import Answer, Kind, Question, judge_answer

DETERMINISTIC = "deterministic"
FAIL_BELOW = 0.5  # where neither the caller nor the server says from when on a no is a no
# engines that are known by their address where the environment names them
_BY_HOST = {"api.groq.com": "groq", "api.cloudflare.com": "workers_ai"}
_TASK = Question(ask="Does agent_output do what the task asks?", kind=Kind.YES_NO, fail_below=FAIL_BELOW)
_heuristic = Heuristic(Config(kind="heuristic"))
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    found: Found
    decided: Decided
    engine: str
    model: str

    def view(self, criteria: Sequence[str]) -> dict[str, Any]:
        """What is answered, but for the call's own number. `criteria`: their texts, as they were asked."""
        return {
            "verdict": self.decided.verdict,
            "score": round(self.found.score, 4),
            "reasons": list(self.decided.reasons),
            "next_step": self.decided.next_step,
            "claims": [claim.view() for claim in self.found.claims],
            "checks": [
                {
                    "type": kind,
                    "passed": out.passed,
                    "detail": out.detail,
                    "evidence_hash": out.evidence_hash,
                }
                for kind, out in self.found.checks
            ],
            "criteria": criteria_view(self.found.criteria, criteria),
            "verification": self.found.verification,
            "engine": self.engine,
            "model": self.model,
        }


def judge(request: JudgeRequest) -> Judgement:
    """Never raises on what an evaluator or a network does. Touches the database only before and after it asks."""
    return judge_by(configured(), request)


def judge_by(evaluator: Evaluator | None, request: JudgeRequest) -> Judgement:
    """The same by this evaluator; None: by the deterministic engine alone."""
    inforce = limits.current()
    checked = facts.run(request.checks, request.output)
    texts = claims.of(request.output)
    asked = (
        _ask(evaluator, request, texts)
        if evaluator is not None and evaluator.is_model
        else asking.Asked(None)
    )
    answers = asked.answers if asked.answers is not None and _is_model(asked.answers, evaluator) else None
    if answers is not None:
        parts = _parts(answers.answers, len(texts) if request.evidence else 0, len(request.criteria))
        weighed = claims.answered(
            texts, parts.claims or _unasked(len(texts)), request.evidence, least=inforce.check_confidence
        )
    else:
        parts = _deterministic(request)
        weighed = claims.weigh(texts, request.evidence)
    fail_below = FAIL_BELOW if answers is not None else 0.0
    criteria = [
        judge_answer(_criterion(text, fail_below), answer, inforce)
        for text, answer in zip(request.criteria, parts.criteria, strict=True)
    ]
    found = Found(
        checks=tuple((fact.type, outcome) for fact, outcome in zip(request.checks, checked, strict=True)),
        claims=weighed,
        criteria=tuple(criteria),
        task=judge_answer(_TASK, parts.task, inforce) if parts.task is not None else None,
        has_evidence=bool(request.evidence),
        score=claims.score(weighed),
        by_model=answers is not None,
        stopgap=answers is None and asked.answers is not None,
        addressed=(parts.canary.probability or 0.0) >= canary.YES_FROM,
        phrase=canary.phrase(_bare(request)),
        unanswered=_unanswered(asked),
    )
    engine = DETERMINISTIC if answers is None else _engine(answers, evaluator)
    return Judgement(
        found=found, decided=decide(found), engine=engine, model=MODEL if answers is None else answers.model
    )


def _unanswered(asked: asking.Asked) -> Unanswered | None:
    """What a server said may name an account of ours: that is for the log alone."""
    if not asked.error:
        return None
    _log.warning("no model answered the judge API: %s", asked.error)
    return Unanswered.LASTING if asked.lasting else Unanswered.FOR_NOW


@dataclass(frozen=True, slots=True)
class _Parts:
    """One request's answers by what they are about."""

    claims: Sequence[Answer]
    criteria: Sequence[Answer]
    task: Answer | None
    canary: Answer


def _parts(answers: Sequence[Answer], about_claims: int, about_criteria: int) -> _Parts:
    end = about_claims + about_criteria
    return _Parts(answers[:about_claims], answers[about_claims:end], answers[end], answers[end + 1])


def _unasked(count: int) -> Sequence[Answer]:
    """Without evidence nothing has to be asked to know that nothing is supported."""
    return [Answer(name=str(claims.Status.UNSUPPORTED), confidence=1.0)] * count


def _ask(evaluator: Evaluator, request: JudgeRequest, texts: Sequence[str]) -> asking.Asked:
    """All questions in one request, and once more where that can help; the caller waits for both together."""
    questions = (
        *(claims.questions(texts) if request.evidence else ()),
        *(_criterion(text, FAIL_BELOW) for text in request.criteria),
        _TASK,
        canary.QUESTION,
    )
    return asking.twice(evaluator, _state(request, texts), questions, within=settings.EVALUATOR_SECONDS)


def _state(request: JudgeRequest, texts: Sequence[str]) -> dict[str, Any]:
    return {
        "task": request.task,
        "evidence": claims.numbered(request.evidence),
        "agent_output": request.output,
        "claims": claims.numbered(texts) if request.evidence else [],
    }


def _criterion(text: str, fail_below: float) -> Question:
    ask = f"Does agent_output meet this criterion? {text}"
    return Question(ask=ask, kind=Kind.YES_NO, fail_below=fail_below)


def _deterministic(request: JudgeRequest) -> _Parts:
    """Whether a task was done is beyond comparing words, so nobody answers that; nor does it ever show that a
    criterion is not met.
    """
    state = _bare(request)
    questions = [Question(ask=text, kind=Kind.YES_NO) for text in request.criteria]
    answers = _heuristic.ask(state, questions, deadline=0.0).answers if questions else ()
    return _Parts((), answers, None, Answer(probability=canary.by_words(state)))


def _bare(request: JudgeRequest) -> dict[str, Any]:
    """What was handed in, as words are compared with it."""
    return {"submission": {"summary": request.output, "output": {}, "evidence": []}}


def _is_model(answers: Answers, evaluator: Evaluator | None) -> bool:
    """What answered, where that was one of several; word match among them is left to `claims.weigh`."""
    return answers.by.is_model if answers.by is not None else evaluator is not None and evaluator.is_model


def _engine(answers: Answers, evaluator: Evaluator | None) -> str:
    """A preset's name; without one, the host where it is known, else the evaluator's own name."""
    if answers.by is not None:
        preset = Row.objects.filter(name=answers.by.name).values_list("preset", flat=True).first()
        return preset or answers.by.name
    try:
        host = urlsplit(settings.EVALUATOR_URL).hostname or ""
    except ValueError:
        host = ""
    return _BY_HOST.get(host, evaluator.name if evaluator is not None else DETERMINISTIC)
