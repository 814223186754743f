from decimal import Decimal

import pytest

from checks import dates, figures
from checks.evidence_text import told


def read(text):
    """Each figure as `value unit`."""
    found = figures.read(dates.without(figures.plain(text))).all
    return {
        f"{it.value:f} {it.unit}".strip() if isinstance(it.value, Decimal) else f"{it.value}" for it in found
    }


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1.2.3, v1.2.4, 10.0.0.7", {"1.2.3", "1.2.4", "10.0.0.7"}),
        ("1.234.567 and 1.234,50", {"1234567", "1234.5"}),
        ("2.10", {"2.1"}),
        ("\u2212500 and \u2013 7, Balance: - 20", {"-500", "7", "-20"}),
        ("pages 10-20, INV-2217", {"10", "20", "2217"}),
        ("Twenty-one, two hundred and five, three thousand", {"21", "205", "3000"}),
        ("one pump, one hundred valves", {"100"}),
        ("½, 2½ and 2 ¼", {"0.5", "2.5", "2.25"}),
        ("€1,234.50, $5m, US$ 7, 1 234 euros, EUR 8, -£9", {"1234.5 eur", "5000000 usd", "7 usd", "1234 eur", "8 eur", "-9 gbp"}),
        ("5 m euros, 5k, 25 m long, 25m long, 3m", {"5000000 eur", "5000", "25 metre", "3000000"}),
        ("20%, 20 per cent, 20", {"20 percent", "20"}),
        ("9 am, 9.30 p.m., 9:00, 07:40", {"540 clock", "1290 clock", "540 clock12", "460 clock"}),
        ("55 hours, 55-minute, 30-second, two second homes", {"198000 second", "3300 second", "30 second", "2"}),
        ("101A, B12, v2, the 6th", {"101a", "b12", "v2", "6"}),
        ("0 errors, zero faults", set()),
        ("The count is 0, the weight 0 kg", {"0", "0 gram"}),
        ("16:9, 10:20:30", {"16", "9", "10:20:30"}),
        ("03/05/2025", {"3/5/2025"}),
        ("1" * 29 + " " + "1" * 28 + "2", {"1" * 29, "1" * 28 + "2"}),
    ],
)  # fmt: skip
def test_figures_are_read_whole(text, found):
    assert read(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("03.05.2025", {"2025-05-03"}),
        ("13/05/2025 and 05/13/2025", {"2025-05-13"}),
        ("2025/05/03 and 2025.5.4", {"2025-05-03", "2025-05-04"}),
        ("03/05/2025 or 40.05.2025, 1.2.3.2025", set()),
    ],
)
def test_dates_in_figures(text, found):
    assert told(text).dates == found


@pytest.mark.parametrize(
    ("one", "other", "meets"),
    [
        ("60 minutes", "1 hour", True),
        ("5 km", "5,000 metres", True),
        ("9:00", "9 pm", True),  # it says less
        ("9", "9 am", True),
        ("9 pm", "9:00", False),
        ("9 am", "9 pm", False),
        ("55", "55 minutes", True),
        ("55 minutes", "55", False),
        ("55 minutes", "minutes: 55", True),
        ("20", "20%", False),
        ("20%", "20", False),
        ("€5", "$5", False),
        ("101A", "101B", False),
        ("-500", "500", False),
        ("2026", "3 May 2026", True),
    ],
)
def test_a_figure_is_met_by_the_same_or_by_one_that_says_more(one, other, meets):
    (figure,) = told(one).figures.all
    assert told(other).has(figure) is meets


@pytest.mark.parametrize(
    ("one", "other", "comparable"),
    [
        ("55 hours", "55 minutes", True),
        ("€5", "$5", True),
        ("9 am", "9 pm", True),
        ("9:00", "9 pm", False),
        ("101A", "101B", True),
        ("1.2.3", "1.2.4", True),
        ("1.2.3", "1.2", False),
        ("55 minutes", "55 kg", False),
        ("20%", "20", False),
        ("24", "42 metres", True),
    ],
)
def test_only_what_is_of_a_kind_is_compared(one, other, comparable):
    (left,), (right,) = told(one).figures.all, told(other).figures.all
    assert figures.comparable(left, right) is comparable
