"""The decisions wire: `POST <base>/v1/decisions`, System One's idea in OpenAI's shape.

Questions and answers are lists with names in them; what is kept of an answer is recomputed as for System One.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from checks import codec
from checks.evaluators import EvaluatorError
from checks.evaluators.system_one_answers import read_answer
from checks.evaluators.wire import Batched
from checks.questions import Answer, Kind, Question

PATH = "/v1/decisions"
METHOD = "decisions"
_TYPES = {Kind.YES_NO: "predicate", Kind.CHOICE: "choice", Kind.RUBRIC: "score"}


class Decisions(Batched):
    """One server and model that speak the decisions wire."""

    name = "decisions"
    method = METHOD

    def _path(self) -> str:
        return PATH

    def _body(self, state: Mapping[str, Any], named: Mapping[str, Question]) -> dict[str, Any]:
        return {
            "model": self._server.config.model,
            "input": codec.dumps(state),
            "decisions": [wire_question(key, question) for key, question in named.items()],
        }

    def _read(self, answer: Mapping[str, Any], named: Mapping[str, Question]) -> Iterable[Answer]:
        found = _by_name(answer.get("decisions"))
        if found is None:
            raise EvaluatorError(f"{self._server.host} answered without decisions")
        return [_read(question, found.get(key), key) for key, question in named.items()]


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
