"""Whether a text shows by its words that it meets a criterion. Deterministic; it knows nothing, and never says no.

A criterion *says* something (The refund was approved), or asks that something is *named* (Names the pier; mentions the pier and
the price). Of the first kind, one sentence must hold all its words, negated alike, and all its figures, dates and names, and no
sentence may deny it. Of the second, the words may stand anywhere, as long as none stands negated only. Else it can't be told.
"""

import re

from checks.comparing import ABOUT, Evidence, denied, read, share
from checks.evidence_text import Told, told

SHOWN, UNSURE = 0.97, 0.5
# `Names …`, `The output must say that …`, `Does it mention …?`
_NAMES = re.compile(
    r"""
    ^\W*(?:(?:does|do|must|should|shall|will|the|its?|this|that|agent_output|output|answer|reply|response|text|summary|result)\b\W*)*
    (?:clearly|explicitly|correctly)?\ *
    (?P<verb>names?|mentions?|states?|says?|tells?|gives?|includes?|contains?|lists?|specif(?:y|ies)|describes?|explains?|cites?
      |shows?|provides?|identif(?:y|ies))\b
    (?P<that>\ +that\b)?
    """,
    re.IGNORECASE | re.VERBOSE,
)


def shown(criterion: str, text: str) -> float:
    """0.97 where the words of the text show it, else 0.5."""
    held = read([text])
    match = _NAMES.match(criterion)
    wanted = told(criterion[match.end() :] if match is not None else criterion)
    if not (wanted.stems or wanted.figures.all or wanted.dates):
        return UNSURE
    if any(denied(wanted, it.told, it.told) >= ABOUT for it in held.near(wanted)):
        return UNSURE
    says = match is None or match["that"] is not None
    return SHOWN if (_said(wanted, held) if says else _named(wanted, held)) else UNSURE


def _said(wanted: Told, held: Evidence) -> bool:
    return any(share(wanted, it.told) == 1 for it in held.near(wanted))


def _named(wanted: Told, held: Evidence) -> bool:
    near = [it.told for it in held.near(wanted)]
    words = all(any(it.stems.get(word) is negated for it in near) for word, negated in wanted.stems.items())
    figures = all(any(it.has(figure) for it in near) for figure in wanted.figures.all)
    return words and figures and all(any(it.dated(date) for it in near) for date in wanted.dates)
