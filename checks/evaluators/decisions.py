"""The decisions wire: `POST <base>/v1/decisions`, System One's idea in OpenAI's shape.

Questions and answers are lists with names in them; what is kept of an answer is recomputed as for System One.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from checks import codec
from checks.evaluators import Answers, Config, EvaluatorError
from checks.evaluators.system_one_answers import read_answer
from checks.evaluators.transport import Server, count, total
from checks.questions import MAX_QUESTIONS, Answer, Kind, Question

PATH = "/v1/decisions"
METHOD = "decisions"
_TYPES = {Kind.YES_NO: "predicate", Kind.CHOICE: "choice", Kind.RUBRIC: "score"}


class Decisions:
    """One server and model that speak the decisions wire."""

    name = "decisions"
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
            "input": codec.dumps(material_state),
            "decisions": [wire_question(key, question) for key, question in named.items()],
        }
        answer = self._server.post(PATH, body, deadline)
        found = _by_name(answer.get("decisions"))
        if found is None:
            raise EvaluatorError(f"{self._server.host} answered without decisions")
        usage = answer.get("usage")
        usage = usage if isinstance(usage, dict) else {}
        return Answers(
            model=self._server.model_of(answer.get("model")),
            answers=tuple(_read(question, found.get(key), key) for key, question in named.items()),
            method=METHOD,
            input_tokens=count(usage.get("input_tokens")),
            output_tokens=count(usage.get("output_tokens")),
        )


def wire_question(key: str, question: Question) -> dict[str, Any]:
    asked: dict[str, Any] = {
        "type": _TYPES[question.kind], "name": key, "instructions": question.ask,
    }  # fmt: skip
    if question.kind is Kind.CHOICE:
        offered = question.options or {}
        asked["choices"] = [{"value": name, "description": text} for name, text in offered.items()]
    if question.kind is Kind.RUBRIC:
        asked["levels"] = [
            {"label": str(level), "description": text} for level, text in enumerate(question.levels)
        ]
    return asked


def _by_name(given: object) -> dict[str, Mapping[str, Any]] | None:
    """None where it is no list of named objects, or names one twice: either could hide an answer."""
    if not isinstance(given, list) or not all(
        isinstance(item, dict) and isinstance(item.get("name"), str) for item in given
    ):
        return None
    found = {item["name"]: item for item in given}
    return found if len(found) == len(given) else None


def _read(question: Question, given: Mapping[str, Any] | None, key: str) -> Answer:
    """As System One's answer to the same question, which is then read as strictly."""
    if given is None:
        return read_answer(question, None, key)
    if given.get("type") not in (_TYPES[question.kind], "refusal"):
        raise EvaluatorError(f"the answer to {key} is not of the type that was asked for")
    if given.get("type") == "refusal":
        return read_answer(question, given, key)
    if question.kind is Kind.YES_NO:
        return read_answer(question, {"type": "noul", "noul": given.get("probability")}, key)
    place = "value" if question.kind is Kind.CHOICE else "label"
    shares = _shares(given.get("probabilities"), place, key)
    if question.kind is Kind.CHOICE:
        chosen = {"choice": given["choice"]} if "choice" in given else {}
        return read_answer(question, {"type": "choice", "probabilities": shares, **chosen}, key)
    return read_answer(question, {"type": "score", "probabilities": shares}, key)


def _shares(given: object, place: str, key: str) -> dict[str, Any]:
    if not isinstance(given, list) or not all(isinstance(item, dict) for item in given):
        raise EvaluatorError(f"the answer to {key} has no probabilities")
    found = {str(item.get(place)): item.get("probability") for item in given}
    if len(found) != len(given):
        raise EvaluatorError(f"the probabilities of {key} are not those of the names offered")
    return found
