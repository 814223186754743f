"""What every wire has: a server, a version of its own, one deadline for all of a check."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from checks import codec
from checks.evaluators import Answers, Config, EvaluatorError
from checks.evaluators.transport import Server, total
from checks.questions import MAX_QUESTIONS, Answer, Question


class Wire(ABC):
    """One server and model that speak it. Safe to share between threads."""

    name: ClassVar[str]
    method: ClassVar[str]
    is_model = True

    def __init__(self, config: Config) -> None:
        self._server = Server(config)
        identity = codec.canonical([config.kind, config.base, config.model, self.method])
        self.version = hashlib.sha256(identity.encode()).hexdigest()

    def ask(
        self, material_state: Mapping[str, Any], questions: Sequence[Question], *, deadline: float
    ) -> Answers:
        """Raises EvaluatorError."""
        return self._server.in_time(lambda: self._ask(material_state, questions, deadline), deadline)

    @abstractmethod
    def _ask(self, state: Mapping[str, Any], questions: Sequence[Question], deadline: float) -> Answers:
        """On a thread of its own."""

    def _one_model(self, models: Iterable[str]) -> str:
        found = set(models)
        if len(found) > 1:
            raise EvaluatorError(f"{self._server.host} answered one check with different models")
        return found.pop()


class Batched(Wire):
    """Many questions in one request; 64 at most, else several requests."""

    def _ask(self, state: Mapping[str, Any], questions: Sequence[Question], deadline: float) -> Answers:
        parts = [
            self._request(state, questions[start : start + MAX_QUESTIONS], deadline)
            for start in range(0, len(questions), MAX_QUESTIONS)
        ]
        return Answers(
            model=self._one_model(part.model for part in parts),
            answers=tuple(answer for part in parts for answer in part.answers),
            method=self.method,
            input_tokens=total(part.input_tokens for part in parts),
            output_tokens=total(part.output_tokens for part in parts),
            requests=len(parts),
        )

    def _request(self, state: Mapping[str, Any], questions: Sequence[Question], deadline: float) -> Answers:
        named = {f"q{index}": question for index, question in enumerate(questions)}
        answer = self._server.post(self._path(), self._body(state, named), deadline)
        tokens = self._server.tokens(answer.get("usage"), "input_tokens", "output_tokens")
        return Answers(
            model=self._server.model_of(answer.get("model")),
            answers=tuple(self._read(answer, named)),
            method=self.method,
            input_tokens=tokens[0],
            output_tokens=tokens[1],
        )

    @abstractmethod
    def _path(self) -> str: ...

    @abstractmethod
    def _body(self, state: Mapping[str, Any], named: Mapping[str, Question]) -> dict[str, Any]: ...

    @abstractmethod
    def _read(self, answer: Mapping[str, Any], named: Mapping[str, Question]) -> Iterable[Answer]:
        """One answer to each question, in order. Raises EvaluatorError."""
