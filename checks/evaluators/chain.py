"""Several evaluators in order: whoever answers first answers the whole check, never a mixture.

One takes at most its own seconds; one that is followed by others also at most half of what is left. Those whose breaker is open come last. Word match in a chain is a stopgap: it lets nothing pass
(`By.stopgap`), however it answers.
"""

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from checks import asking, codec
from checks.evaluators import Answers, By, Evaluator, EvaluatorError, breaker
from checks.questions import Question

MAX_NAME_CHARS = 100
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """Prices are per million tokens."""

    name: str
    evaluator: Evaluator
    seconds: float
    host: str = ""
    input_price: Decimal | None = None
    output_price: Decimal | None = None

    def cost(self, answers: Answers) -> Decimal | None:
        """None where no price is set, or where tokens that cost something were not told."""
        sides = ((self.input_price, answers.input_tokens), (self.output_price, answers.output_tokens))
        priced = [(price, tokens) for price, tokens in sides if price is not None]
        if not priced or any(tokens is None for price, tokens in priced if price):
            return None
        return sum((price * (tokens or 0) for price, tokens in priced), Decimal(0)) / _MILLION


class Chain:
    """An evaluator made of others, at least one. Of one it is that one, with its name and version."""

    def __init__(self, members: Sequence[Member]) -> None:
        self.members = tuple(members)
        versions = [member.evaluator.version for member in members]
        self.version = versions[0] if len(versions) == 1 else _digest(versions)
        self.name = ", ".join(member.name for member in members)[:MAX_NAME_CHARS]
        self.is_model = any(member.evaluator.is_model for member in members)
        self.method = members[0].evaluator.method

    @property
    def hosts(self) -> tuple[str, ...]:
        """Who may come to see what is judged, once each, in order."""
        return tuple(dict.fromkeys(member.host for member in self.members if member.host))

    def ask(
        self, material_state: dict[str, Any], questions: Sequence[Question], *, deadline: float
    ) -> Answers:
        """Raises EvaluatorError, with what each of them said."""
        order, errors = self._order(), []
        for place, member in enumerate(order):
            now = time.monotonic()
            share = (deadline - now) / (2 if place < len(order) - 1 else 1)
            try:
                answers = asking.once(
                    member.evaluator, material_state, questions, deadline=now + min(member.seconds, share)
                )
            except EvaluatorError as error:
                failed = error
            else:
                breaker.well(member.evaluator.version)
                return replace(answers, by=self._by(member, answers))
            breaker.failed(member.evaluator.version, failed)
            errors.append((member, failed))
        raise self._all_failed(errors)

    def _order(self) -> list[Member]:
        """As kept, but those that failed lately after the others."""
        if len(self.members) == 1:
            return list(self.members)
        held = [breaker.is_held(member.evaluator.version) for member in self.members]
        return [
            member
            for wanted in (False, True)
            for member, is_held in zip(self.members, held, strict=True)
            if is_held is wanted
        ]

    def _by(self, member: Member, answers: Answers) -> By:
        return By(
            name=member.name,
            version=member.evaluator.version,
            is_model=member.evaluator.is_model,
            stopgap=not member.evaluator.is_model and len(self.members) > 1,
            cost=member.cost(answers),
        )

    def _all_failed(self, errors: Sequence[tuple[Member, EvaluatorError]]) -> EvaluatorError:
        alone = len(self.members) == 1
        said = "; ".join(
            error.message if alone else f"{member.name}: {error.message}" for member, error in errors
        )
        return EvaluatorError(
            said,
            permanent=all(error.permanent for _, error in errors),
            down=all(error.down for _, error in errors),
        )


def _digest(versions: Sequence[str]) -> str:
    return hashlib.sha256(codec.canonical(["chain", *versions]).encode()).hexdigest()
