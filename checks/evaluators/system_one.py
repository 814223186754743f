"""The System One wire: `POST <base>/v1/systemone`, many typed questions about one state in one request.

What is kept of an answer is recomputed from its probabilities, because vendors differ: the confidence
(`confidence_of_choice`, `confidence_of_rubric`), the name or level that leads, ties on the cautious side.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from checks.evaluators import EvaluatorError
from checks.evaluators.system_one_answers import read_answer
from checks.evaluators.wire import Batched
from checks.questions import Answer, Kind, Question

PATH = "/v1/systemone"
METHOD = "systemone"


class SystemOne(Batched):
    """One server and model that speak System One."""

    name = "system_one"
    method = METHOD

    def _path(self) -> str:
        return PATH

    def _body(self, state: Mapping[str, Any], named: Mapping[str, Question]) -> dict[str, Any]:
        return {
            "model": self._server.config.model,
            "state": state,
            "questions": {key: wire_question(question) for key, question in named.items()},
        }

    def _read(self, answer: Mapping[str, Any], named: Mapping[str, Question]) -> Iterable[Answer]:
        found = answer.get("answers")
        if not isinstance(found, dict):
            raise EvaluatorError(f"{self._server.host} answered without answers")
        return [read_answer(question, found.get(key), key) for key, question in named.items()]


def wire_question(question: Question) -> dict[str, Any]:
    """A question as System One takes it; nothing but its type, text and criteria."""
    if question.kind is Kind.YES_NO:
        return {"type": "noul", "instructions": question.ask}
    if question.kind is Kind.CHOICE:
        return {"type": "choice", "instructions": question.ask, "criteria": dict(question.options or {})}
    return {"type": "score", "instructions": question.ask, "criteria": list(question.levels)}
