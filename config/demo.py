"""What the demo's agent hands in: work of differing quality, so that every verdict appears.

Plain data and small functions; `config.demo_agent` sends it through the public API.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

SCREENING, REFUND = "supplier-screening", "refund-review"


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One submission. `report`: the text of the file that is uploaded as evidence, "" = none."""

    output: Mapping[str, Any]
    summary: str
    next: str = ""
    reason: str = ""
    report: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A run and what the agent hands in for it, go by go. `note`: what the approver returns the first
    unsure go with. `escalate`: the agent gives up with these words instead.
    """

    process: str
    inputs: Mapping[str, Any]
    goes: tuple[Work, ...] = ()
    note: str = ""
    escalate: str = ""
    test: bool = False

    @property
    def key(self) -> str:
        return str(self.inputs.get("supplier") or self.inputs.get("order"))


def screened(name: str, trading: str, number: int, *, matches: int = 0) -> Work:
    """A thorough screening."""
    found = "no match" if not matches else f"{matches} match"
    return Work(
        output={
            "cleared": not matches,
            "finding": f"{name} is {'not cleared' if matches else 'cleared'}: the OFAC list has {found} and "
            f"the EU list has {found}. Both lists were searched on 30 November.",
            "termsUsed": [name, trading],
        },
        summary=f"States the verdict: cleared {'no' if matches else 'yes'}. The OFAC list and the EU list were both "
        f"searched with the legal name {name} and the trading name {trading} as terms; {found}. Report attached.",
        next="refused" if matches else "approve",
        reason=f"The lists have {found}.",
        report=f"SEARCH REPORT {number}\nSubject    {name}\n\nOFAC list\n  terms    {name}; {trading}\n"
        f"  matches  {matches}\nEU list\n  terms    {name}; {trading}\n  matches  {matches}\n",
    )


def _half(name: str, number: int) -> Work:
    """Both lists are named, but the work trails off: what a check should stop to think about."""
    return Work(
        output={
            "cleared": True,
            "finding": f"{name} cleared on the OFAC list and the EU list.",
            "termsUsed": [name],
        },
        summary="Cleared. Perhaps the trading names should be searched too.",
        next="approve",
        reason="No match so far.",
        report=f"SEARCH REPORT {number}\nSubject    {name}\n\nOFAC list\n  terms    {name}\n  matches  0\n"
        "EU list\n  terms    not recorded\n  matches  0 (cached, 2 October)\n",
    )


def _stale(name: str, number: int) -> Work:
    """One list is a month old, and the summary hedges about it."""
    return Work(
        output={
            "cleared": True,
            "finding": f"{name} is cleared on the OFAC list, no match. The EU list was searched last month.",
            "termsUsed": [name],
        },
        summary=f"Searched the OFAC list for {name}: no match, so cleared. For the EU list the result of last "
        "month probably still holds.",
        next="approve",
        reason="No match on the list that was searched.",
        report=f"SEARCH REPORT {number}\nSubject    {name}\n\nOFAC list\n  terms    {name}\n  matches  0\n",
    )


def _poor(name: str) -> Work:
    """Too little to accept."""
    return Work(
        output={"cleared": True, "finding": "Looks fine.", "termsUsed": []},
        summary="Seems okay, maybe. Could not really tell, it might be cleared.",
        next="approve",
        reason="Looks fine.",
        report=f"{name}: ok\n",
    )


def _refund(order: str, *, refund: bool, clause: str, explanation: str, summary: str) -> Work:
    return Work(
        output={"refund": refund, "clause": clause, "explanation": explanation},
        summary=f"{summary} Order {order}.",
    )


def supplier(name: str, country: str, spend: int) -> dict[str, Any]:
    return {"supplier": name, "country": country, "yearlySpend": spend}


CASES: tuple[Case, ...] = (
    Case(
        process=SCREENING,
        inputs=supplier("Marlow Paper Ltd", "GB", 48_000),
        goes=(_half("Marlow Paper Ltd", 20418),),
    ),
    Case(
        process=SCREENING,
        inputs=supplier("Harbour Tooling GmbH", "DE", 120_000),
        goes=(screened("Harbour Tooling GmbH", "Hatool", 20419),),
    ),
    Case(
        process=SCREENING,
        inputs=supplier("Alder Logistics BV", "NL", 260_000),
        goes=(_poor("Alder Logistics BV"), _stale("Alder Logistics BV", 20420)),
    ),
    Case(
        process=SCREENING,
        inputs=supplier("Novak Castings s.r.o.", "CZ", 75_000),
        goes=(_stale("Novak Castings s.r.o.", 20421), screened("Novak Castings s.r.o.", "Novak", 20422)),
        note="The EU result is a month old. Search the EU list again, with the trading name too.",
    ),
    Case(
        process=SCREENING,
        inputs=supplier("Orlov Chemical Trading", "CY", 310_000),
        goes=(screened("Orlov Chemical Trading", "OCT", 20423, matches=2),),
    ),
    Case(
        process=SCREENING,
        inputs=supplier("Fjord Packaging AS", "NO", 18_500),
        goes=(_poor("Fjord Packaging AS"), screened("Fjord Packaging AS", "FjordPack", 20424)),
    ),
    Case(
        process=SCREENING,
        inputs=supplier("Meridian Sensors", "FR", 9_900),
        escalate="The sanctions search asks for a second factor that I don't have. Somebody has to search by hand.",
    ),
    Case(
        process=REFUND,
        inputs={
            "order": "48 190",
            "message": "The boots in 43 pinch. The 44 fits, so I want to return the 43.",
            "amount": 129.90,
        },
        goes=(
            _refund(
                "48 190",
                refund=True,
                clause="return-14",
                explanation="You want to return the boots in 43 of your order and keep the 44. They are unworn and within "
                "14 days, so we refund the 43 in full.",
                summary="The message asks to return one of two sizes; clause return-14 covers it.",
            ),
        ),
    ),
    Case(
        process=REFUND,
        inputs={
            "order": "48 171",
            "message": "The lamp flickers since the first evening. I want my money back, not another lamp.",
            "amount": 84.00,
        },
        goes=(
            _refund(
                "48 171",
                refund=True,
                clause="faulty",
                explanation="It may perhaps be possible to refund something, depending on the circumstances.",
                summary="Possibly faulty; somebody might want to look.",
            ),
        ),
    ),
    Case(
        process=REFUND,
        inputs={
            "order": "47 902",
            "message": "The parcel came nine days late and the party was over. Please refund the decoration.",
            "amount": 46.50,
        },
        goes=(
            _refund(
                "47 902",
                refund=True,
                clause="late",
                explanation="The parcel was late, which our policy may or may not cover.",
                summary="Perhaps late.",
            ),
        ),
    ),
)


def case_of(inputs: Mapping[str, Any], cases: Iterable[Case] = CASES) -> Case | None:
    """The prepared work for a run; None for a run of somebody else's."""
    key = str(inputs.get("supplier") or inputs.get("order") or "")
    return next((case for case in cases if case.key == key), None)
