"""What `/try/` draws of an answer: each status by word and shape, each claim beside the evidence that it was held against.

Takes the very JSON that the API answers, so that the picture shows nothing which a caller would not get. Pure.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from checks import codec
from checks.judge.rules import PASS_SCORE

EXCERPT_CHARS = 280
# they would turn the rest of a line around, in a text that is there to be copied
_TURNING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_EDGE = 0.04  # a value nearer to an end of the bar is not centred on its marker


@dataclass(frozen=True, slots=True)
class Chip:
    """`look` chooses shape and colour: pass, fail or unsure."""

    look: str
    word: str


@dataclass(frozen=True, slots=True)
class Quote:
    """A piece of evidence, counted from 1; `whole` only where the excerpt is not all of it."""

    number: int
    excerpt: str
    whole: str


_VERDICTS = {"pass": Chip("pass", "Pass"), "fail": Chip("fail", "Fail"), "retry": Chip("unsure", "Retry")}
_CLAIMS = {
    "supported": Chip("pass", "Supported"),
    "contradicted": Chip("fail", "Contradicted"),
    "unsupported": Chip("unsure", "Unsupported"),
}
_CRITERIA = {"pass": Chip("pass", "Met"), "fail": Chip("fail", "Not met"), "unsure": Chip("unsure", "Unsure")}
_RESTS = {
    "verified": "rests on facts that were checked",
    "judged": "rests on what a model answered",
    "heuristic": "rests on words compared",
}
_RISKS = {
    "low": Chip("pass", "Low risk"),
    "medium": Chip("unsure", "Medium risk"),
    "high": Chip("fail", "High risk"),
}


def judged(body: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
    score = answer["score"]
    anchor = "start" if score < _EDGE else "end" if score > 1 - _EDGE else "middle"
    return {
        "chip": _VERDICTS[answer["verdict"]],
        "rests": _RESTS[answer["verification"]],
        "score": f"{score:.2f}",
        "bar": {
            "look": "pass" if score >= PASS_SCORE else _VERDICTS[answer["verdict"]].look,
            "at": f"{score:.2%}",
            "anchor": anchor,
            "line": f"{PASS_SCORE:.0%}",
            "beyond": f"{1 - PASS_SCORE:.0%}",
            "least": f"{PASS_SCORE:.2f}",
        }
        if body.get("evidence")
        else None,
        "facts": [
            {**fact, "chip": Chip("pass", "Passed") if fact["passed"] else Chip("fail", "Did not pass")}
            for fact in answer["checks"]
        ],
        "criteria": [
            {
                "text": one["text"],
                "chip": _CRITERIA[one["result"]],
                "probability": _two(one["probability"]),
            }
            for one in answer["criteria"]
        ],
        **_claims(body, answer["claims"]),
    }


def agreed(body: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
    answers = body["answers"]
    most = answer["clusters"][0]["size"]
    shared = answer["consensus_answer"]
    return {
        "chip": _RISKS[answer["false_consensus_risk"]] if shared is not None else None,
        "agreement": f"{answer['agreement_score']:.2f}",
        "most": most,
        "of": len(answers),
        "clusters": [
            {
                "size": cluster["size"],
                "answers": [
                    {
                        "number": place + 1,
                        "agent": answers[place].get("agent_id", ""),
                        "text": _cut(answers[place]["output"]),
                        "shared": shared is not None and first and place == cluster["representative"],
                    }
                    for place in cluster["answers"]
                ],
            }
            for first, cluster in zip(_first_only(answer["clusters"]), answer["clusters"], strict=True)
        ],
        **_claims(body, answer["claims"]),
    }


def call(kind: str, site: str, body: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, str]:
    """The same as a command, and what came of it. The quoted heredoc keeps a shell out of the text."""
    command = (
        f'curl -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" \\\n'
        f"  --data-binary @- {site}/v1/{kind} <<'JSON'\n{_pretty(body)}\nJSON"
    )
    return {"command": command, "answer": _pretty(answer)}


def _pretty(value: Any) -> str:
    """What turns the direction of writing stands as its escape, which means the same to whoever reads JSON."""
    return _TURNING.sub(lambda found: f"\\u{ord(found.group()):04x}", codec.pretty(value))


def _claims(body: Mapping[str, Any], claims: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    evidence = body.get("evidence", [])
    statuses = [claim["status"] for claim in claims]
    return {
        "has_evidence": bool(evidence),
        "claims": [
            {
                "text": claim["text"],
                "chip": _CLAIMS[claim["status"]],
                "confidence": _two(claim["confidence"]),
                "quote": _quote(evidence, claim["evidence"]),
            }
            for claim in claims
        ],
        "counts": [(chip, statuses.count(status)) for status, chip in _CLAIMS.items()],
    }


def _quote(evidence: Sequence[str], place: int | None) -> Quote | None:
    if place is None:
        return None
    excerpt = _cut(evidence[place])
    return Quote(place + 1, excerpt, evidence[place] if excerpt != evidence[place] else "")


def _cut(text: str) -> str:
    """At a word's end."""
    if len(text) <= EXCERPT_CHARS:
        return text
    head = text[:EXCERPT_CHARS]
    return (head.rsplit(None, 1)[0] if " " in head else head) + " …"


def _two(number: float | None) -> str:
    return "" if number is None else f"{number:.2f}"


def _first_only(items: Sequence[Any]) -> list[bool]:
    return [place == 0 for place in range(len(items))]
