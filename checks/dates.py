"""The dates of a text, as exactly as it gives them. Pure; English month names, and what is written in figures.

`2026-10-06`, `--10-06` where no year is given, `2026-10` where no day is. `3.5.2026` is read as a day before a month; with
slashes only where one of the two can't be a month, for whichever comes first differs from country to country.
"""

import re
from collections.abc import Iterator

_MONTH_NAMES = """
january jan
february feb
march mar
april apr
may
june jun
july jul
august aug
september sept sep
october oct
november nov
december dec
"""
MONTHS = {
    name: number
    for number, names in enumerate(_MONTH_NAMES.strip().splitlines(), start=1)
    for name in names.split()
}
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_ISO = re.compile(r"\b(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d)?)?\b(?!\2\d)")
_FIGURES = re.compile(r"(?<![\w.,/-])(\d{1,2})([./-])(\d{1,2})\2(\d{4})\b(?!\2\d)")
_DAY_FIRST = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({_MONTH})\b\.?,?(?:\s+(\d{{4}}))?", re.IGNORECASE
)
_MONTH_FIRST = re.compile(
    rf"\b({_MONTH})\b\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?!\s*\d)(?:,?\s+(\d{{4}}))?", re.IGNORECASE
)
_MONTH_ONLY = re.compile(rf"\b({_MONTH})\b\.?,?\s+(\d{{4}})\b", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
_DAYS, _YEAR_S_MONTHS = 31, 12

type Span = tuple[int, int]


def read(text: str) -> list[tuple[str, Span]]:
    """Each date and where it stands, in no order."""
    found: list[tuple[str, Span]] = []
    if _DIGIT.search(text) is None:
        return found
    for date, span in _all(text):
        if all(span[1] <= other[0] or span[0] >= other[1] for _, other in found):
            found.append((date, span))
    return found


def without(text: str) -> str:
    """The text with its dates taken out."""
    for _, (start, end) in sorted(read(text), key=lambda item: -item[1][0]):
        text = f"{text[:start]} {text[end:]}"
    return text


def _all(text: str) -> Iterator[tuple[str, Span]]:
    for match in _ISO.finditer(text):
        if date := _date(match[1], int(match[3]), int(match[4])):
            yield date, match.span()
    for match in _FIGURES.finditer(text):
        if date := _in_figures(int(match[1]), match[2], int(match[3]), match[4]):
            yield date, match.span()
    for pattern, day, month in ((_DAY_FIRST, 1, 2), (_MONTH_FIRST, 2, 1)):
        for match in pattern.finditer(text):
            if date := _date(match[3] or "-", MONTHS[match[month].lower()], int(match[day])):
                yield date, match.span()
    for match in _MONTH_ONLY.finditer(text):
        yield f"{match[2]}-{MONTHS[match[1].lower()]:02}", match.span()


def _in_figures(first: int, mark: str, second: int, year: str) -> str | None:
    if mark != "/":
        return _date(year, second, first)
    readings = {_date(year, second, first), _date(year, first, second)} - {None}
    return readings.pop() if len(readings) == 1 else None


def _date(year: str, month: int, day: int) -> str | None:
    if not (1 <= month <= _YEAR_S_MONTHS and 1 <= day <= _DAYS):
        return None
    return f"{year}-{month:02}-{day:02}"
