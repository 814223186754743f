"""What comes out: TAP 13 as the cases run, and a Markdown table at the end."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

from conformance import codec
from conformance.failures import Exchange
from conformance.masking import Mask
from conformance.registry import Case

SHOWN = 1500  # characters of a call or an answer in a report

Verdict = Literal["ok", "failed", "skipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How a case went. `message`: why it failed or was skipped. `exchange`: the call that shows it."""

    case: Case
    verdict: Verdict
    message: str = ""
    exchange: Exchange | None = None
    seconds: float = 0.0


def tap_head(count: int) -> str:
    return f"TAP version 13\n1..{count}\n"


def tap_line(number: int, result: Result, mask: Mask) -> str:
    """One test line, with a YAML block under a failed one."""
    case = result.case
    name = _one_line(f"{case.id} {case.title}").replace("#", "\\#")
    if result.verdict == "ok":
        return f"ok {number} - {name}\n"
    if result.verdict == "skipped":
        return f"ok {number} - {name} # SKIP {_one_line(mask.hide(result.message))}\n"
    lines = [f"not ok {number} - {name}", "  ---"]
    lines += [f"  {key}: {json.dumps(text, ensure_ascii=False)}" for key, text in _told(result, mask).items()]
    return "\n".join([*lines, "  ...", ""])


def _told(result: Result, mask: Mask) -> dict[str, str]:
    case, exchange = result.case, result.exchange
    told = {"message": mask.hide(result.message), "rule": f"{case.rests_on}: {case.rule}"}
    if exchange is not None:
        told["called"] = f"{exchange.who}: {exchange.tool} {_json(exchange.arguments, mask)}"
        answer = _json(exchange.answer, mask) if exchange.answer is not None else mask.hide(exchange.text)
        told["came"] = f"{exchange.status} {_cut(answer)}"
    return told


def _json(value: Any, mask: Mask) -> str:
    return _cut(mask.hide(codec.dumps(value)))


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}… ({len(text)} characters)"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def summary(results: Iterable[Result]) -> str:
    """`203 passed, 1 failed, 4 skipped`"""
    verdicts = [result.verdict for result in results]
    return f"{verdicts.count('ok')} passed, {verdicts.count('failed')} failed, {verdicts.count('skipped')} skipped"


def markdown(results: list[Result], server: str, titles: Mapping[str, str], mask: Mask) -> str:
    """Every case, its rule and how it went, a table per chapter."""
    lines = [f"# Conformance of {server}", "", f"{summary(results)}."]
    for chapter, found in groupby(results, key=lambda result: result.case.chapter):
        lines += ["", f"## {titles.get(chapter, chapter)}", "", "| case | rule | result |", "|---|---|---|"]
        lines += [_row(result, mask) for result in found]
    return "\n".join([*lines, ""])


def _row(result: Result, mask: Mask) -> str:
    case = result.case
    told = result.verdict if result.verdict == "ok" else f"{result.verdict}: {mask.hide(result.message)}"
    cells = (f"`{case.id}` {_cell(case.title)}", _cell(f"{case.rests_on}: {case.rule}"), _cell(told))
    return f"| {' | '.join(cells)} |"


def listing(cases: list[Case], titles: Mapping[str, str]) -> str:
    """What `--list` says."""
    lines: list[str] = []
    for chapter, found in groupby(cases, key=lambda case: case.chapter):
        lines.append(f"{titles.get(chapter, chapter)}")
        lines += [f"  {case.id:<34} {case.title}" for case in found]
    return "\n".join([*lines, f"{len(cases)} cases", ""])


def _cell(text: str, most: int = 400) -> str:
    flat = _one_line(text).replace("|", "\\|")
    return flat if len(flat) <= most else flat[: most - 1] + "…"


def explained(case: Case) -> str:
    """What `--explain` says of a case."""
    needs = ", ".join(need.what for need in case.needs) or "nothing beyond the core"
    return f"{case.id}\n  {case.title}\n  rests on  {case.rests_on}\n  rule      {case.rule}\n  needs     {needs}\n"
