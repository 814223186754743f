"""Chat completions as an evaluator: any OpenAI-compatible base, one question a request.

Each question is asked for one letter, in both orders of its answers, and the mass that the first token puts on the
letters is averaged. A server without log-probabilities is asked for one number per letter in a strict JSON schema;
that is remembered for its base and model, and the verdict says which way was taken. All requests of a check run at
once, up to a cap, and share all that comes before the question.
"""

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from checks import codec, memory
from checks.evaluators import Answers, Config, EvaluatorError
from checks.evaluators.chat_prompt import NUMBERS, Offered, as_data, messages, number_schema, offered
from checks.evaluators.chat_reading import NoLogprobsError, answer_of, averaged, masses, numbers
from checks.evaluators.transport import RefusedError, Server, count, total
from checks.questions import Answer, Question

PATH = "/chat/completions"
LOGPROBS, SCHEMA = "chat-logprobs", "chat-schema"
TOP = 20  # the most log-probabilities that servers give
SCHEMA_TOKENS = 512
REMEMBERED_SECONDS = 7 * 24 * 3600

Tokens = tuple[int | None, int | None]


class Chat:
    """One server and model that speak chat completions."""

    name = "chat"
    is_model = True
    method = "chat"

    def __init__(self, config: Config) -> None:
        self._server = Server(config)
        identity = codec.canonical([config.kind, config.base, config.model, self.method])
        self.version = hashlib.sha256(identity.encode()).hexdigest()
        self._memory = f"chat-without-logprobs:{self.version}"

    def ask(
        self, material_state: Mapping[str, Any], questions: Sequence[Question], *, deadline: float
    ) -> Answers:
        """Raises EvaluatorError."""
        return self._server.in_time(lambda: self._ask(material_state, questions, deadline), deadline)

    def _ask(
        self, material_state: Mapping[str, Any], questions: Sequence[Question], deadline: float
    ) -> Answers:
        if self._server.config.logprobs and not memory.get(self._memory):
            try:
                return self._all(material_state, questions, deadline, LOGPROBS)
            except NoLogprobsError:
                # the whole check again, so that no verdict mixes two ways of measuring
                memory.put(self._memory, True, REMEMBERED_SECONDS)
        return self._all(material_state, questions, deadline, SCHEMA)

    def _all(
        self, material_state: Mapping[str, Any], questions: Sequence[Question], deadline: float, method: str
    ) -> Answers:
        nonce = secrets.token_hex(8)
        shown = as_data(material_state, nonce)
        orders = [
            (question, answers)
            for question in questions
            for answers in (offered(question), offered(question).turned())
        ]
        if method == LOGPROBS and any(len(answers.names) > TOP for _, answers in orders):
            method = SCHEMA  # more answers than servers tell the log-probabilities of

        def one(order: tuple[Question, Offered]) -> tuple[dict[str, float], str, Tokens]:
            question, answers = order
            return self._one(messages(shown, question, answers, nonce), answers, deadline, method)

        with ThreadPoolExecutor(max_workers=min(len(orders), self._server.config.at_once)) as pool:
            found = list(pool.map(one, orders))
        models = {model for _, model, _ in found}
        if len(models) > 1:
            raise EvaluatorError(f"{self._server.host} answered one check with different models")
        return Answers(
            model=models.pop(),
            answers=tuple(self._answers(questions, [shares for shares, _, _ in found])),
            method=method,
            input_tokens=total(tokens[0] for _, _, tokens in found),
            output_tokens=total(tokens[1] for _, _, tokens in found),
            requests=len(found),
        )

    @staticmethod
    def _answers(questions: Sequence[Question], shares: Sequence[dict[str, float]]) -> list[Answer]:
        return [
            answer_of(question, averaged(offered(question).names, shares[2 * place : 2 * place + 2]))
            for place, question in enumerate(questions)
        ]

    def _one(
        self, asked: list[dict[str, str]], answers: Offered, deadline: float, method: str
    ) -> tuple[dict[str, float], str, Tokens]:
        body = {"model": self._server.config.model, "messages": asked, "temperature": 0}
        if method == LOGPROBS:
            body |= {"max_tokens": 1, "logprobs": True, "top_logprobs": TOP}
        else:
            asked[-1]["content"] += NUMBERS
            body |= {"max_tokens": SCHEMA_TOKENS, "response_format": number_schema(answers.letters)}
        body |= self._server.config.extra
        try:
            answer = self._server.post(PATH, body, deadline)
        except RefusedError as refused:
            if method == LOGPROBS and "logprobs" in refused.shown.lower():
                raise NoLogprobsError from None
            raise
        read = masses if method == LOGPROBS else numbers
        shares = dict(zip(answers.names, read(answer, answers.letters), strict=True))
        usage = answer.get("usage")
        usage = usage if isinstance(usage, dict) else {}
        tokens = count(usage.get("prompt_tokens")), count(usage.get("completion_tokens"))
        return shares, self._server.model_of(answer.get("model")), tokens
