"""The page of one case: everything a decision is made on, for whoever may read it, as text."""

import html
import re
from pathlib import Path

import pytest
from django.core.files.storage import default_storage
from django.db import connection
from django.test.utils import CaptureQueriesContext

from approvals.models import QueueEntry
from approvals.queue import entries
from approvals.screens import evidence, place
from processes.callers import of_user
from processes.models import Upload, WorkItem
from tests.approvals.builders import FAILS, PASSES, TERMS, UNSURE

pytestmark = pytest.mark.django_db


@pytest.fixture
def fin(world):
    return world.person("fin", "Finance")


@pytest.fixture
def read(client, ada, desk):
    """The page of a run's open item."""
    client.force_login(ada)

    def get(run, **headers):
        return client.get(f"/items/{desk.item(run)}/", headers=headers)

    return get


def text_of(response):
    body = re.sub(r"(?s)<(script|style|svg).*?</\1>", " ", response.content.decode())
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())


def part(response, start):
    """What stands between an element's id and the end of its section."""
    body = response.content.decode()
    return body[body.index(f'id="{start}"') :].partition("</section>")[0]


# ---- who may read


def test_nobody_signed_in_goes_to_the_sign_in_page(client, desk):
    url = f"/items/{desk.item(desk.supplier())}/"
    assert client.get(url)["Location"] == f"/sign-in/?next={url}"


@pytest.mark.parametrize("item", ["w_nothing", "%00", "x" * 300])
def test_no_such_item(client, ada, item):
    client.force_login(ada)
    assert client.get(f"/items/{item}/").status_code == 404


def test_whoever_it_is_for_may_decide(read, desk):
    response = read(desk.supplier())
    assert response.status_code == 200
    assert 'name="decision" value="return"' in response.content.decode()
    assert "checked" not in part(response, "decision").replace("unchecked", "").replace("not checked", "")


def test_anybody_else_in_the_house_may_read(client, world, desk):
    run = desk.supplier()
    client.force_login(world.user("cy"))
    response = client.get(f"/items/{desk.item(run)}/")
    assert response.status_code == 200
    text = text_of(response)
    assert "This item is for somebody else; you may read it." in text
    assert "Marlow Paper is cleared" in text
    assert 'name="decision"' not in response.content.decode()
    assert 'rel="next"' not in response.content.decode()


def test_a_decided_item_is_still_a_page(client, ada, world, desk, fin):
    run = desk.supplier()
    item = desk.item(run)
    desk.decide(fin, run, "completed")
    client.force_login(ada)
    text = text_of(client.get(f"/items/{item}/"))
    assert "fin has decided this item: completed." in text
    assert "What the check answered" in text
    assert "due in" not in text


def test_a_writing_method_is_refused(client, ada, desk):
    client.force_login(ada)
    assert client.post(f"/items/{desk.item(desk.supplier())}/").status_code == 405


# ---- the questions


def test_an_unsure_case(read, desk):
    response = read(desk.supplier("Marlow Paper", UNSURE))
    text, body = text_of(response), response.content.decode()
    assert "Supplier screening v1 › Check vendor · screening-agent · attempt 1" in text
    assert "2 of 3 answers unsure; answered by scripted-1" in text
    assert "Yes at 0.89 , 0.01 short of pass." in text
    assert "fail below 0.50" in body
    assert "pass from 0.90" in body
    assert "0.66 , 0.14 short of the 0.80 asked" in text
    assert "No record yet" in text
    assert body.count('class="opt opt-chosen') == 2
    assert body.count("opt-passline") == 1
    assert body.index("What the check answered") < body.index(">Instructions<")
    assert " style=" not in body


def test_in_the_desk_what_passed_folds_to_a_line(read, desk):
    run = desk.supplier("Marlow Paper", UNSURE)
    assert '<details class="q-line' not in read(run).content.decode()
    body = read(run, **{"HX-Request": "true", "HX-Target": "work"}).content.decode()
    assert body.count('<details class="q-line') == 1
    assert "<html" not in body
    assert '<aside id="side" hx-swap-oob="innerHTML">' in body
    assert "<title>Marlow Paper, Check vendor | Countersign</title>" in body


def test_what_is_no_model_says_so(read, desk):
    desk.evaluator.is_model = False
    response = read(desk.supplier("Orchard Glass", UNSURE))
    assert text_of(response).count("not a model") == 3  # head, questions, history
    assert (
        'aria-label="Word match says 89 % yes; 90 % skips you, under 50 % sends back."'
        in response.content.decode()
    )


def test_an_approval_after_an_advisory_check(read, desk):
    response = read(desk.refund("Refund 1", [0.93, ("return-14", 0.86)]))
    text, body = text_of(response), response.content.decode()
    assert "Advisory Pass" in text
    assert "What you approve" in text
    assert "advisory: recorded, blocks nothing" in text
    assert "Assess refund, attempt 1" in text
    assert body.index("What you approve") < body.index("What the check answered")
    assert 'href="https://shop.example.org/orders/90112" rel="noreferrer noopener nofollow"' in body
    assert "opens shop.example.org" in text


def test_a_task(read, desk, fin):
    run = desk.supplier("Alder Logistics", PASSES)
    desk.decide(fin, run, "approved", note="Papers complete.")
    text = text_of(read(run))
    assert "What to do Open the supplier's account" in text
    assert "Evidence none" in text
    assert "fin approved at Approve Papers complete." in text


def test_an_escalation_by_its_agent(read, desk, world):
    run = desk.started("Kestrel Foods")
    token = world.claim(desk.agent, run, "check_vendor")["token"]
    world.call(desk.agent, "escalate", token=token, note="The portal asks for a login.")
    text = text_of(read(run))
    assert "screening-agent asks for a person: The portal asks for a login." in text
    assert "What the check answered" not in text


def test_an_evaluator_that_did_not_answer(read, desk, world):
    run = desk.started("Mill Lane Bakery")
    desk.evaluator.script = ["down"]
    token = world.claim(desk.agent, run, "check_vendor")["token"]
    given = {**desk.work([desk.upload()]), "token": token, "requestId": "one"}
    for _ in range(2):
        world.refused(desk.agent, "submit", **given)
    world.call(desk.agent, "submit", **given)
    text = text_of(read(run))
    assert "No answer" in text
    assert "3 times in a row (last: the evaluator did not answer)" in text
    assert "Marlow Paper is cleared" in text


# ---- earlier goes


def test_what_was_handed_in_before_and_what_changed(read, desk, world, fin):
    run = desk.started()
    desk.evaluator.script = [FAILS]
    token = world.claim(desk.agent, run, "check_vendor")["token"]
    first = {**desk.work([desk.upload("portal.png", b"png", "image/png")]), "summary": "It is cleared."}
    world.refused(desk.agent, "submit", token=token, **first)
    desk.evaluator.script = [UNSURE]
    world.call(
        desk.agent,
        "submit",
        token=token,
        **{**desk.work([desk.upload()]), "summary": "It is cleared: no match."},
    )
    response = read(run)
    diff = part(response, "differences")
    assert "Changed since submission 1" in diff
    assert "It is cleared<ins>: no match</ins>." in diff
    assert "screening-report.txt" in diff
    assert '<dt>output.cleared</dt><dd><span class="meta">unchanged</span>' in diff
    before = " ".join(part(response, "earlier").split())
    assert "Attempt 1, submission 1" in before
    assert "not accepted" in before
    assert "What does the summary do? → hedges (0.9)" in before
    assert "check bounced attempt 1 Fail The report bears out the cleared verdict. → no (0.3)" in text_of(
        response
    )


def test_a_returned_case_keeps_its_note_in_history(read, desk, fin):
    run = desk.supplier()
    desk.decide(fin, run, "returned", note="The EU search has no terms.")
    desk.hand_in(run, UNSURE, summary="Searched again with the terms.")
    text = text_of(read(run))
    assert "fin returned attempt 1 The EU search has no terms." in text
    assert "Attempt 1, submission 1" in text


def test_rework_is_a_new_attempt(read, desk, fin):
    run = desk.supplier("Quay Timber", PASSES)
    desk.decide(fin, run, "rejected", note="Too thin.")
    desk.hand_in(run, PASSES, summary="Now with the directors.")
    text = text_of(read(run))
    assert "Changed since attempt 1" in text
    assert "Submission Check vendor, attempt 2" in text
    assert "fin rejected at Approve Too thin." in text


# ---- run data and evidence


def test_numbers_are_shown_as_they_were_sent(read, desk, world):
    from checks import codec

    for sent in ("48000.10", "1e400", "12345678901234567890"):
        run = desk.started("Marlow Paper", codec.loads(sent))
        desk.hand_in(run, UNSURE)
        assert text_of(read(run)).count(sent) == 2  # the inputs, and run data


def test_a_check_that_saw_only_parts_says_no_more_than_that(read, desk):
    """Nothing was done before this step, so that only its inputs can have been shortened."""
    text = text_of(read(desk.supplier("Marlow " * 12_000)))
    assert "parts of it were left out or shortened" in text and "oldest steps" not in text


def test_evidence_is_shown_and_its_bytes_are_looked_at_anew(read, desk):
    run = desk.started()
    desk.hand_in(
        run,
        UNSURE,
        files=[
            desk.upload(),
            desk.upload("terms.csv", TERMS, "text/csv"),
            desk.upload("a.bin", b"\x00\xff", "application/octet-stream"),
        ],
    )
    text, body = text_of(read(run)), read(run).content.decode()
    assert "3 files, stored bytes match their hashes" in text
    assert "screening-report.txt text, 0.3 KB" in text
    assert "1 SCREENING REPORT R-118" in text
    assert "terms.csv table, 2 rows" in text
    assert '<th scope="col" class="num">matches</th>' in body and '<th scope="col">term</th>' in body
    assert "a.bin binary, 2 bytes" in text
    assert text.count("matches the upload") == 3
    assert text.count("Download") == 3


def test_changed_and_lost_bytes_are_told(read, desk):
    run = desk.started()
    desk.hand_in(run, UNSURE, files=[desk.upload("one.txt"), desk.upload("two.txt")])
    one, two = Upload.objects.order_by("at")
    Path(default_storage.path(one.path)).write_text("something else")
    default_storage.delete(two.path)
    text = text_of(read(run))
    assert "The stored bytes no longer match" in text
    assert "The stored file is gone" in text
    assert "stored bytes match their hashes" not in text


def test_a_large_file_is_neither_read_nor_vouched_for(read, desk, monkeypatch):
    monkeypatch.setattr(evidence, "HASHED", 100)
    text = text_of(read(desk.supplier()))
    assert "recorded at upload" in text
    assert "matches the upload" not in text
    assert "SCREENING REPORT" not in text


@pytest.mark.parametrize(
    ("ref", "clickable"),
    [
        ("https://example.org/a?b=1", True),
        ("http://example.org", True),
        ("javascript:alert(1)", False),
        ("data:text/html,<b>", False),
        ("https://", False),
        ("https://[bad", False),
        ("https://example.org/a b", False),
        ("java\nscript:alert(1)", False),
        ("//example.org", False),
        ("ticket 4711", False),
    ],
)
def test_only_web_addresses_can_be_clicked(ref, clickable):
    link = evidence.link(ref)
    assert (link.text, bool(link.url)) == (ref, clickable)


HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)> & \" ' "


def test_what_agents_wrote_is_only_text(read, desk, world):
    run = desk.started(HOSTILE)
    desk.hand_in(
        run, UNSURE, summary=HOSTILE + "x" * 1500, reason=HOSTILE, output={"cleared": True, "note": HOSTILE},
        files=[desk.upload("<img src=x>.txt", HOSTILE)],
    )  # fmt: skip
    body = read(run).content.decode()
    assert "<script>alert" not in body
    assert "<img" not in body
    assert html.escape(HOSTILE, quote=True).strip() in body
    assert f"Show all 1 {len(HOSTILE) + 500} characters" in body


# ---- place


def test_the_place_in_the_queue(read, desk, client):
    runs = [
        desk.supplier(name, [p, ("states", 0.9), (2, 0.9)])
        for name, p in (("a", 0.7), ("b", 0.8), ("c", 0.89))
    ]
    text, body = text_of(read(runs[1])), read(runs[1]).content.decode()
    assert "2 of 3" in text
    assert f'rel="prev" href="/items/{desk.item(runs[0])}/"' in body
    assert f'rel="next" href="/items/{desk.item(runs[2])}/"' in body
    assert 'rel="prev"' not in read(runs[0]).content.decode()


def test_neighbours_follow_the_queues_order(desk, ada, world):
    """`place.ORDER` is the queue's, seen from the items."""
    for p in (0.7, 0.89, 0.6):
        desk.supplier(str(p), [p, ("states", 0.9), (2, 0.9)])
    desk.refund("Doubted", [0.6, ("return-14", 0.9)])
    desk.refund("Passed")
    desk.supplier("Passed too", PASSES)
    QueueEntry.objects.filter(subject="Passed").update(due_at=None)
    caller = of_user(ada)
    order = [entry.pk for entry in entries(caller)]
    for index, pk in enumerate(order):
        found = place.find(pk, caller, ada)
        assert (found.number, found.total) == (index + 1, len(order))
        assert found.before == (order[index - 1] if index else "")
        assert found.after == (order[index + 1] if index + 1 < len(order) else "")


# ---- what it costs


@pytest.mark.parametrize("columns", [{}, {"is_staff": True}])
def test_statements_do_not_grow_with_the_case(client, world, desk, fin, columns):
    user = world.user("ada", "Finance", **columns)

    def statements(run):
        url = f"/items/{desk.item(run)}/"
        client.force_login(user)
        client.get(url)
        with CaptureQueriesContext(connection) as captured:
            assert client.get(url).status_code == 200
        return [query["sql"] for query in captured.captured_queries]

    small = desk.supplier("Small")
    few = statements(small)
    for number in range(8):
        desk.supplier(f"Other {number}")
    large = desk.supplier("Large")
    for number in range(6):
        desk.decide(fin, large, "returned", note=f"Again, {number}.")
        files = [desk.upload(f"{number}-{one}.txt") for one in range(3)]
        desk.hand_in(large, UNSURE, files=files, summary=f"Go {number}.")
    many = statements(large)
    assert len(many) == len(few) <= 10


def test_reading_what_is_decided_costs_no_more(client, ada, desk, fin):
    run = desk.supplier()
    item = desk.item(run)
    desk.decide(fin, run, "completed")
    client.force_login(ada)
    client.get(f"/items/{item}/")
    with CaptureQueriesContext(connection) as captured:
        client.get(f"/items/{item}/")
    assert len(captured) <= 10
    assert WorkItem.objects.get(pk=item).state == "decided"
