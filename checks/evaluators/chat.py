"""Chat completions as an evaluator: any OpenAI-compatible base, one question a request.

Each question is asked for one letter, in both orders of its answers, and the mass that the first token puts on the
letters is averaged. A server without log-probabilities is asked for one number per letter in a strict JSON schema;
that is remembered for its base and model, and the verdict says which way was taken. All requests of a check run at
once, up to a cap, and share all that comes before the question.
"""

import secrets
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from checks import memory
from checks.evaluators import Answers
from checks.evaluators.chat_prompt import NUMBERS, Offered, as_data, messages, number_schema, offered
from checks.evaluators.chat_reading import NoLogprobsError, answer_of, averaged, masses, numbers
from checks.evaluators.transport import RefusedError, Tokens, total
from checks.evaluators.wire import Wire
from checks.questions import Answer, Question

PATH = "/chat/completions"
LOGPROBS, SCHEMA = "chat-logprobs", "chat-schema"
TOP = 20  # the most log-probabilities that servers give
SCHEMA_TOKENS = 512
REMEMBERED_SECONDS = 7 * 24 * 3600


class Chat(Wire):
    """One server and model that speak chat completions."""

    name = "chat"
    method = "chat"

    @property
    def _memory(self) -> str:
        return f"chat-without-logprobs:{self.version}"

    def _ask(self, state: Mapping[str, Any], questions: Sequence[Question], deadline: float) -> Answers:
        if self._server.config.logprobs and not memory.get(self._memory):
            try:
                return self._all(state, questions, deadline, LOGPROBS)
            except NoLogprobsError:
                # the whole check again, so that no verdict mixes two ways of measuring
                memory.put(self._memory, True, REMEMBERED_SECONDS)
        return self._all(state, questions, deadline, SCHEMA)

    def _all(
        self, state: Mapping[str, Any], questions: Sequence[Question], deadline: float, method: str
    ) -> Answers:
        nonce = secrets.token_hex(8)
        shown = as_data(state, nonce)
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
        return Answers(
            model=self._one_model(model for _, model, _ in found),
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
        tokens = self._server.tokens(answer.get("usage"), "prompt_tokens", "completion_tokens")
        return shares, self._server.model_of(answer.get("model")), tokens
