"""`/dashboard/` in a real browser: one key's calls, drawn and as tables; the key stays in the tab."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from checks import keys, rates
from checks.judge import usage
from checks.models import JudgeCall
from tests.browser.looking import accessible, roomy

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ENGINES = ("groq", "workers_ai", "deterministic", "ollama", "other")
# a canvas that shows nothing has one colour
COLOURS = """canvas => {
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
  copy.drawImage(canvas, 0, 0);
  const data = copy.getImageData(0, 0, canvas.width, canvas.height).data;
  const found = new Set();
  for (let i = 0; i < data.length; i += 4) if (data[i + 3] === 255) found.add(`${data[i]},${data[i + 1]},${data[i + 2]}`);
  return [...found];
}"""


@pytest.fixture(autouse=True)
def _fresh():
    rates._tallies.clear()
    yield
    rates._tallies.clear()


@pytest.fixture
def key():
    """One whose calls are known: on each of 40 days one more `pass` than the day before, but for yesterday."""
    found, text = keys.issue("mine", for_judge=True)
    now = timezone.now()
    rows = []
    for back in range(40):
        for n in range(0 if back == 1 else 1 + (40 - back) // 8):
            judged = {"kind": "judge", "verdict": ("pass", "retry", "fail")[n % 3], "score": 0.5 + n / 20}
            kind = {"kind": "consensus"} if n == 4 else judged
            rows.append(
                JudgeCall(
                    key=found, digest="0" * 64, engine=ENGINES[(n + back) % 5], milliseconds=100 * (n + 1),
                    at=now - timedelta(days=back), **kind,
                )
            )  # fmt: skip
    JudgeCall.objects.bulk_create(rows)
    return found, text


def paste(page, text):
    page.get_by_label("Key", exact=False).fill(text)
    page.get_by_role("button", name="Show its calls").click()


def shown(watched, text):
    page = watched.page()
    page.goto(f"{watched.base}/dashboard/")
    paste(page, text)
    expect(page.locator("#dash-shown")).to_be_visible()
    return page


def kept(page):
    found = page.evaluate("Object.values(sessionStorage).concat(Object.values(localStorage))")
    return [text for text in found if "cs_" in text]


def refused(watched, status):
    """Chromium writes every refusal to the console; it is one, and no more than that."""
    assert [f"status of {status}" in text for text in watched.complaints] == [True]
    watched.complaints.clear()


@pytest.mark.parametrize(("width", "dark"), [(1440, False), (1440, True), (390, False), (390, True)])
def test_charts_each_with_its_table(browse, key, width, dark):
    watched = browse(width=width, dark=dark)
    page = shown(watched, key[1])
    accessible(page)
    told = usage.of(key[0], 30)
    charts = page.locator("[data-chart]")
    expect(charts).to_have_count(4)
    for chart in charts.all():
        assert len(chart.locator("canvas").evaluate(COLOURS)) > 1
        label = chart.locator("canvas").get_attribute("aria-label")
        assert "The table below has every day." in label
        chart.locator("summary").click()
        expect(chart.locator("tbody tr")).to_have_count(sum(bool(day["calls"]) for day in told["days"]))
    accessible(page)
    today = told["days"][-1]
    first = page.locator("[data-chart=verdicts] tbody tr").first.locator("td").all_inner_texts()
    assert first == [str(today["verdicts"][word]) for word in ("pass", "retry", "fail", "consensus")]
    p95, p50 = page.locator("[data-chart=latency] tbody tr").first.locator("td").all_inner_texts()
    assert (p95, p50) == (f"{today['latency_ms']['p95']} ms", f"{today['latency_ms']['p50']} ms")
    heads = page.locator("[data-chart=engines] thead th").all_inner_texts()
    assert heads[0] == "Day" and sorted(heads[1:]) == sorted(ENGINES), "the table folds none into others"
    expect(page.locator("[data-chart=engines] .dash-series")).to_contain_text("2 others")
    rows = page.locator("[data-chart=engines] tbody tr").all()
    sums = [sum(map(int, row.locator("td").all_inner_texts())) for row in rows]
    assert sums == [day["calls"] for day in reversed(told["days"]) if day["calls"]]


def test_the_key_stays_in_the_tab_and_out_of_every_address(browse, key):
    watched = browse()
    page = watched.page()
    requests = []
    page.on("request", lambda one: requests.append(one))  # noqa: PLW0108 - it marks what it is given
    page.goto(f"{watched.base}/dashboard/")
    paste(page, key[1])
    expect(page.locator("#dash-shown")).to_be_visible()
    assert kept(page) == [key[1]]
    assert (
        page.evaluate("document.cookie + location.href + document.documentElement.outerHTML").count(key[1])
        == 0
    )
    assert page.input_value("#dash-key-text") == ""
    with_key = [one for one in requests if key[1] in str(one.all_headers())]
    assert [(one.method, one.url) for one in with_key] == [("GET", f"{watched.base}/v1/usage?days=30")]
    assert not [one for one in requests if key[1] in one.url + (one.post_data or "")]

    page.reload()
    expect(page.locator("#dash-shown")).to_be_visible()
    elsewhere = watched.page()
    elsewhere.goto(f"{watched.base}/dashboard/")
    expect(elsewhere.locator("#dash-key")).to_be_visible()

    page.get_by_role("button", name="Forget the key").click()
    expect(page.locator("#dash-key-text")).to_be_focused()
    assert kept(page) == []
    expect(page.locator("#dash-shown")).to_be_hidden()
    page.reload()
    expect(page.locator("#dash-key")).to_be_visible()


def test_how_far_back_by_keyboard(browse, key):
    watched = browse()
    page = shown(watched, key[1])
    days = page.locator("[data-chart=score] tbody tr")
    expect(days).to_have_count(29)
    expect(page.get_by_label("30 days")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(days).to_have_count(39)
    accessible(page)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(days).to_have_count(6)
    expect(page.locator("#dash-status")).to_contain_text(f"{usage.of(key[0], 7)['totals']['calls']} calls")


def test_the_theme_is_followed(browse, key):
    watched = browse()
    page = shown(watched, key[1])
    canvas = page.locator("[data-chart=latency] canvas")
    light = set(canvas.evaluate(COLOURS))
    page.emulate_media(color_scheme="dark")
    dark = set(canvas.evaluate(COLOURS))
    assert len(light & dark) < len(light) / 2
    accessible(page)
    page.get_by_role("button", name="Toggle theme").click()
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    assert set(canvas.evaluate(COLOURS)) == light


def test_a_key_without_calls(browse):
    text = keys.issue("new", for_judge=True)[1]
    watched = browse(width=390)
    page = watched.page()
    page.goto(f"{watched.base}/dashboard/")
    accessible(page)
    paste(page, text)
    expect(page.locator("#dash-empty")).to_contain_text("No calls. This key made none from")
    accessible(page)


@pytest.mark.parametrize(
    "text", ["", "cs_short", "Bearer cs_1234567890_" + "a" * 43, "cs_1234567890_" + "é" * 43]
)
def test_what_is_no_key_is_not_sent(browse, text):
    watched = browse()
    page = watched.page()
    page.on("request", lambda one: watched.complaints.append(one.url) if "usage" in one.url else None)
    page.goto(f"{watched.base}/dashboard/")
    paste(page, text)
    expect(page.locator("#dash-key-wrong")).to_contain_text("This is no key")
    expect(page.locator("#dash-key-text")).to_be_focused()
    accessible(page)


@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_opens_nothing_is_taken_out(browse, key, status):
    wrong = keys.issue("an agent's")[1] if status == 403 else key[1][:-2] + "__"
    watched = browse()
    page = watched.page()
    page.goto(f"{watched.base}/dashboard/")
    paste(page, wrong)
    said = "does not open the judge" if status == 403 else "unknown or was revoked"
    expect(page.locator("#dash-error")).to_contain_text(said)
    expect(page.locator("#dash-error")).to_be_focused()
    refused(watched, status)
    assert kept(page) == []
    accessible(page)
    paste(page, key[1])
    expect(page.locator("#dash-shown")).to_be_visible()
    expect(page.locator("#dash-error")).to_be_hidden()


def stays(page):
    """What was right is still shown, and of when it is."""
    expect(page.locator("#dash-shown")).to_be_visible()
    as_of = page.locator("#dash-status").inner_text().split("As of ")[1]
    expect(page.locator("#dash-error")).to_contain_text(f"What is shown below is of {as_of}")


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (429, '{"error": {}}', "Wait a moment, then press Look again."),
        (502, "<h1>Bad Gateway</h1>", "The server did not answer"),
        (200, "{}", "The server did not tell"),
    ],
    ids=["no-retry-after", "proxy", "wrong-shape"],
)
def test_what_is_no_answer_of_ours_takes_no_figures_away(browse, key, status, body, said):
    watched = browse()
    page = shown(watched, key[1])
    page.route("**/v1/usage*", lambda route: route.fulfill(status=status, body=body))
    page.get_by_role("button", name="Look again").click()
    expect(page.locator("#dash-error")).to_contain_text(said)
    stays(page)
    accessible(page)
    watched.complaints.clear()  # the status, as the browser writes it


def test_a_call_that_never_ends_is_given_up(browse, key):
    watched = browse()
    page = watched.page()
    page.add_init_script(
        "const timeout = AbortSignal.timeout; AbortSignal.timeout = (ms) => timeout.call(AbortSignal, ms / 100);"
    )
    held = []
    page.route("**/v1/usage*", lambda route: held.append(route))  # noqa: PLW0108 - it marks what it is given
    page.goto(f"{watched.base}/dashboard/")
    paste(page, key[1])
    expect(page.locator("#dash-error")).to_contain_text("The server did not answer")
    assert kept(page) == [key[1]]
    for route in held:
        route.abort()


def test_the_range_outlasts_a_reload(browse, key):
    watched = browse()
    page = shown(watched, key[1])
    page.get_by_label("90 days").check()
    expect(page.locator("[data-chart=score] tbody tr")).to_have_count(39)
    page.reload()
    expect(page.get_by_label("90 days")).to_be_checked()
    expect(page.locator("[data-chart=score] tbody tr")).to_have_count(39)


AXIS = """figure => {
  const { scales: { x }, data: { labels } } = Chart.getChart(figure.querySelector("canvas"));
  return { shown: x.ticks.map((tick) => tick.label).filter(Boolean), last: labels.at(-1), size: x.options.ticks.font.size };
}"""


@pytest.mark.parametrize("width", [1440, 390, 320])
@pytest.mark.parametrize("days", [7, 30, 90])
def test_the_last_day_is_named_on_every_axis(browse, key, width, days):
    page = shown(browse(width=width), key[1])
    page.get_by_label(f"{days} days").check()
    expect(page.locator("#dash-status")).to_contain_text("As of")
    for chart in page.locator("[data-chart]").all():
        axis = chart.evaluate(AXIS)
        assert axis["shown"][-1] == axis["last"]
        assert len(axis["shown"]) >= 2


def test_charts_follow_the_size_of_letters(browse, key):
    watched = browse()
    page = watched.page()
    page.goto(f"{watched.base}/dashboard/")
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    paste(page, key[1])
    expect(page.locator("#dash-shown")).to_be_visible()
    assert page.locator("[data-chart=score]").evaluate(AXIS)["size"] == 22


@pytest.mark.parametrize("width", [1440, 390, 320])
def test_totals_keep_apart(browse, key, width):
    page = shown(browse(width=width), key[1])
    for row in page.locator(".dash-totals > div").all():
        assert row.evaluate("row => row.scrollWidth <= row.clientWidth"), row.inner_text()
    assert page.locator(".dash-totals > div").count() == 9
    roomy(page)
    if width < 700:
        for target in page.locator(".dash-range label, .dash-bar .btn, .dash-chart summary").all():
            assert target.bounding_box()["height"] >= 40, target.inner_text()


def test_the_button_stays_beside_its_field(browse):
    watched = browse()
    page = watched.page()
    page.goto(f"{watched.base}/dashboard/")
    button, text = page.get_by_role("button", name="Show its calls"), page.locator("#dash-key-text")
    assert button.bounding_box()["y"] == text.bounding_box()["y"]
    paste(page, "cs_short")
    expect(page.locator("#dash-key-wrong")).to_be_visible()
    assert button.bounding_box()["y"] == text.bounding_box()["y"]


def test_in_forced_colours_shapes_tell(browse, key):
    watched = browse()
    page = watched.page()
    page.emulate_media(forced_colors="active")
    page.goto(f"{watched.base}/dashboard/")
    paste(page, key[1])
    expect(page.locator("#dash-shown")).to_be_visible()
    swatch = "made => [getComputedStyle(made.firstChild).fill, made.childElementCount, made.lastChild.getAttribute('d')].join()"
    for chart in ("verdicts", "engines"):
        looks = page.locator(f"[data-chart={chart}] .dash-swatch").evaluate_all(f"all => all.map({swatch})")
        assert len(looks) == 4 == len(set(looks)), looks
    on = page.locator(".dash-range label:has(:checked)")
    page.keyboard.press("Tab")
    page.locator("input[name=days]:checked").focus()
    colours = on.evaluate("label => [getComputedStyle(label).backgroundColor, getComputedStyle(label).color]")
    assert colours[0] != colours[1]
    assert on.evaluate("label => getComputedStyle(label).outlineColor") == colours[1]


def test_asked_too_often_or_not_connected(browse, key, monkeypatch):
    watched = browse()
    page = shown(watched, key[1])
    monkeypatch.setattr(usage, "ASKED_PER_MINUTE", 1)
    page.get_by_role("button", name="Look again").click()
    expect(page.locator("#dash-error")).to_contain_text("Asked too often")
    expect(page.locator("#dash-error")).to_contain_text(
        re.compile(r"Wait \d+ seconds?, then press Look again")
    )
    refused(watched, 429)
    stays(page)
    monkeypatch.undo()
    watched.context.set_offline(True)
    page.get_by_role("button", name="Look again").click()
    expect(page.locator("#dash-error")).to_contain_text("The server did not answer")
    stays(page)
    assert ["ERR_INTERNET_DISCONNECTED" in text for text in watched.complaints] == [True]
    watched.complaints.clear()
    assert kept(page) == [key[1]]
    watched.context.set_offline(False)
    page.get_by_role("button", name="Look again").click()
    expect(page.locator("#dash-shown")).to_be_visible()
    expect(page.locator("#dash-error")).to_be_hidden()


def test_without_script_it_says_what_to_do(browse):
    watched = browse(script=False)
    page = watched.page()
    page.goto(f"{watched.base}/dashboard/")
    expect(page.get_by_text("it needs JavaScript")).to_be_visible()
    expect(page.locator("#dash-key")).to_be_hidden()
