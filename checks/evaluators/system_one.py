"""The System One wire: `POST <base>/v1/systemone`, many typed questions about one state in one request.

What is kept of an answer is recomputed from its probabilities, because vendors differ: the confidence
(`confidence_of_choice`, `confidence_of_rubric`), the name or level that leads, ties on the cautious side.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from checks import codec
from checks.evaluators import Answers, Config, EvaluatorError
from checks.evaluators.system_one_answers import read_answer
from checks.evaluators.transport import Server, count, total
from checks.questions import MAX_QUESTIONS, Kind, Question

PATH = "/v1/systemone"
METHOD = "systemone"


class SystemOne:
    """One server and model that speak System One."""

    name = "system_one"
    is_model = True
    method = METHOD

    def __init__(self, config: Config) -> None:
        self._server = Server(config)
        identity = codec.canonical([config.kind, config.base, config.model, METHOD])
        self.version = hashlib.sha256(identity.encode()).hexdigest()

    def ask(
        self, material_state: Mapping[str, Any], questions: Sequence[Question], *, deadline: float
    ) -> Answers:
        """Ask everything, in requests of at most 64 questions. Raises EvaluatorError."""
        return self._server.in_time(lambda: self._ask(material_state, questions, deadline), deadline)

    def _ask(
        self, material_state: Mapping[str, Any], questions: Sequence[Question], deadline: float
    ) -> Answers:
        parts = [
            self._request(material_state, questions[start : start + MAX_QUESTIONS], deadline)
            for start in range(0, len(questions), MAX_QUESTIONS)
        ]
        models = {part.model for part in parts}
        if len(models) > 1:
            raise EvaluatorError(f"{self._server.host} answered one check with different models")
        return Answers(
            model=models.pop(),
            answers=tuple(answer for part in parts for answer in part.answers),
            method=METHOD,
            input_tokens=total(part.input_tokens for part in parts),
            output_tokens=total(part.output_tokens for part in parts),
            requests=len(parts),
        )

    def _request(
        self, material_state: Mapping[str, Any], questions: Sequence[Question], deadline: float
    ) -> Answers:
        named = {f"q{index}": question for index, question in enumerate(questions)}
        body = {
            "model": self._server.config.model,
            "state": material_state,
            "questions": {key: wire_question(question) for key, question in named.items()},
        }
        answer = self._server.post(PATH, body, deadline)
        found = answer.get("answers")
        if not isinstance(found, dict):
            raise EvaluatorError(f"{self._server.host} answered without answers")
        usage = answer.get("usage")
        usage = usage if isinstance(usage, dict) else {}
        return Answers(
            model=self._server.model_of(answer.get("model")),
            answers=tuple(read_answer(question, found.get(key), key) for key, question in named.items()),
            method=METHOD,
            input_tokens=count(usage.get("input_tokens")),
            output_tokens=count(usage.get("output_tokens")),
        )


def wire_question(question: Question) -> dict[str, Any]:
    """A question as System One takes it; nothing but its type, text and criteria."""
    if question.kind is Kind.YES_NO:
        return {"type": "noul", "instructions": question.ask}
    if question.kind is Kind.CHOICE:
        return {"type": "choice", "instructions": question.ask, "criteria": dict(question.options or {})}
    return {"type": "score", "instructions": question.ask, "criteria": list(question.levels)}
