"""The three wires from the server's side: favourable answers in each one's shape, and ways to spoil them.

Favourable: yes to the author's questions, no to whether the material addresses its judge, the first name of a choice,
the best level of a rubric.
"""

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from checks import canary
from tests.servers.system_one import Reply, Request

Shares = dict[str, float]
Spoil = Callable[[Shares], Any]
HIGH, LOW = 0.97, 0.02


def _yes(ask: str) -> float:
    return LOW if ask == canary.QUESTION.ask else HIGH


def leading(names: list[str], place: int) -> Shares:
    """Rounded to two decimals, as vendors do."""
    rest = round(0.06 / (len(names) - 1), 2)
    return {name: 0.94 if at == place else rest for at, name in enumerate(names)}


def _same(shares: Shares) -> Any:
    return shares


def system_one(request: Request, spoil: Spoil = _same) -> dict[str, Any]:
    answers: dict[str, Any] = {}
    for key, question in request.json["questions"].items():
        criteria = question.get("criteria")
        if question["type"] == "noul":
            answers[key] = {"type": "noul", "noul": spoil({"yes": _yes(question["instructions"])})["yes"]}
        elif question["type"] == "choice":
            answers[key] = {"type": "choice", "probabilities": spoil(leading(list(criteria), 0))}
        else:
            levels = [str(level) for level in range(len(criteria))]
            answers[key] = {"type": "score", "probabilities": spoil(leading(levels, len(levels) - 1))}
    return {"model": "m-1", "answers": answers, "usage": {"input_tokens": 120, "output_tokens": 12}}


def decisions(request: Request, spoil: Spoil = _same) -> dict[str, Any]:
    answers: list[dict[str, Any]] = []
    for asked in request.json["decisions"]:
        answer: dict[str, Any] = {"type": asked["type"], "name": asked["name"]}
        if asked["type"] == "predicate":
            answer["probability"] = spoil({"yes": _yes(asked["instructions"])})["yes"]
        else:
            choice = asked["type"] == "choice"
            place = "value" if choice else "label"
            names = [item[place] for item in asked["choices" if choice else "levels"]]
            shares = spoil(leading(names, 0 if choice else len(names) - 1))
            answer["probabilities"] = [{place: name, "probability": share} for name, share in shares.items()]
        answers.append(answer)
    return {"model": "m-1", "decisions": answers, "usage": {"input_tokens": 120, "output_tokens": 12}}


_OFFERED = re.compile(r"^([A-Z])\. (.*)$", re.MULTILINE)
_ASKED = re.compile(r"^Question: (.*)$", re.MULTILINE)


def chat_shares(request: Request) -> Shares:
    """By letter, for the one question of a request, in whichever order it offers its answers."""
    text = request.json["messages"][-1]["content"]
    offered = dict(_OFFERED.findall(text[text.rindex("\nQuestion: ") :]))
    if set(offered.values()) == {"Yes.", "No."}:
        yes = _yes(_ASKED.findall(text)[-1])
        return {letter: yes if answer == "Yes." else 1 - yes for letter, answer in offered.items()}
    wanted = next(
        letter for letter, answer in offered.items() if answer.startswith(("states:", "Both lists"))
    )
    return leading(list(offered), list(offered).index(wanted))


def chat(request: Request, spoil: Spoil = _same) -> dict[str, Any]:
    """By log-probabilities where they were asked for, else by numbers in JSON."""
    shares = spoil(chat_shares(request))
    answer = {"model": "m-1", "usage": {"prompt_tokens": 120, "completion_tokens": 1}}
    if "response_format" in request.json:
        return {**answer, "choices": [{"message": {"content": json.dumps(shares)}}]}
    top = [
        {"token": letter, "logprob": math.log(share) if isinstance(share, float) and share > 0 else share}
        for letter, share in shares.items()
    ]
    return {
        **answer,
        "choices": [{"message": {"content": "A"}, "logprobs": {"content": [{"top_logprobs": top}]}}],
    }


WIRES: Mapping[str, Callable[..., dict[str, Any]]] = {
    "system_one": system_one, "decisions": decisions, "chat": chat,
}  # fmt: skip


def spoiled(wire: str, spoil: Spoil) -> Callable[[Request], Reply]:
    return lambda request: Reply(body=WIRES[wire](request, spoil))


def well(wire: str, **reply: Any) -> Callable[[Request], Reply]:
    """`reply`: how it is sent: `wait`, `drip`, …"""
    return lambda request: Reply(body=WIRES[wire](request), **reply)
