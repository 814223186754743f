"""How stored verdicts would have come out under other thresholds. Pure: answers stay as they were given."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from checks.questions import Answered, Kind, Limits, Result, Thresholds, Verdict, worst

LAST = 500


@dataclass(frozen=True, slots=True)
class Kept:
    """A stored verdict and its answers. `own`: of each answer the letters of the thresholds that were its question's."""

    verdict: str
    answers: Sequence[Answered]
    own: Sequence[str]

    @property
    def held(self) -> bool:
        """Every question passed, and the verdict is unsure all the same: no threshold changes that."""
        return self.verdict == Verdict.UNSURE and {answer.result for answer in self.answers} == {Result.PASS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """`before` and `after`: how many of each verdict; `moved`: (from, to) -> how many, without those that stayed."""

    count: int
    before: Mapping[str, int]
    after: Mapping[str, int]
    moved: Mapping[tuple[str, str], int]

    @property
    def rows(self) -> list[tuple[str, int, int]]:
        return [(word, self.before[word], self.after[word]) for word in ("pass", "unsure", "fail")]

    @property
    def moves(self) -> list[tuple[str, str, int]]:
        return [(was, now, count) for (was, now), count in sorted(self.moved.items())]


# what an answer would lead to: the verdict, and the answer's place in it
Judge = Callable[[Kept, int], Result]


def replay(verdicts: Iterable[Kept], judge: Judge) -> Replayed:
    """Errors are left out: nothing was answered that could come out otherwise."""
    pairs = [(kept.verdict, _again(kept, judge)) for kept in verdicts if kept.answers]
    return Replayed(
        count=len(pairs),
        before=Counter(was for was, _ in pairs),
        after=Counter(now for _, now in pairs),
        moved=Counter(pair for pair in pairs if pair[0] != pair[1]),
    )


def under(limits: Limits) -> Judge:
    """The server's limits, for every number that was not a question's own."""

    def judge(kept: Kept, at: int) -> Result:
        answer, own = kept.answers[at], kept.own[at]
        pass_at = answer.pass_at if "p" in own else limits.check_pass
        fail = answer.fail_below if "f" in own else limits.check_fail
        thresholds = Thresholds(
            pass_at=pass_at,
            fail_below=fail if fail is None or pass_at is None else min(fail, pass_at),
            confidence=answer.confidence_asked if "c" in own else limits.check_confidence,
        )
        return result(answer, thresholds)

    return judge


def result(answer: Answered, thresholds: Thresholds, *, pass_level: int | None = None) -> Result:
    """What a stored answer leads to. `pass_level`: a rubric's, where it is another than it was."""
    if answer.kind == Kind.YES_NO:
        probability = answer.probability or 0.0
        if probability >= (1.0 if thresholds.pass_at is None else thresholds.pass_at):
            return Result.PASS
        unsure = thresholds.fail_below is not None and probability >= thresholds.fail_below
        return Result.UNSURE if unsure else Result.FAIL
    if (answer.confidence or 0.0) < (thresholds.confidence or 0.0):
        return Result.UNSURE
    if answer.kind == Kind.RUBRIC and pass_level is not None:
        return Result.PASS if (answer.level or 0) >= pass_level else Result.FAIL
    said = answer.name if answer.kind == Kind.CHOICE else str(answer.level)
    return next(
        (Result(option["leads"]) for option in answer.options if option["name"] == said), Result.UNSURE
    )


def _again(kept: Kept, judge: Judge) -> str:
    verdict = worst(judge(kept, at) for at in range(len(kept.answers)))
    return Verdict.UNSURE if kept.held and verdict == Verdict.PASS else verdict
