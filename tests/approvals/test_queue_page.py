"""The queue's page: its order, its rows, its filters, its poll, and what it costs."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.html import escape

from approvals.models import QueueEntry
from approvals.screens import queue as screen
from processes.callers import of_user
from tests.approvals.builders import PASSES, UNSURE

pytestmark = pytest.mark.django_db


@pytest.fixture
def page(client, ada):
    client.force_login(ada)

    def get(path="/", **headers):
        return client.get(path, headers=headers)

    return get


def text_of(response):
    """The page as it is read: tags away, white space folded."""
    body = re.sub(r"(?s)<(script|style|svg).*?</\1>", " ", response.content.decode())
    return " ".join(re.sub(r"<[^>]+>", " ", body).split())


def subjects(response):
    return re.findall(r'class="row-subject">([^<]*)<', response.content.decode())


# ---- who


def test_nobody_signed_in_goes_to_the_sign_in_page_and_back(client):
    response = client.get("/?show=unsure")
    assert response.status_code == 302
    assert response["Location"] == "/sign-in/?next=/%3Fshow%3Dunsure"


def test_a_fragment_is_never_replaced_by_the_sign_in_page(client):
    headers = {"HX-Request": "true", "HX-Target": "list", "HX-Current-URL": "http://testserver/?q=a"}
    response = client.get("/?q=a", headers=headers)
    assert response.status_code == 200
    assert response["HX-Redirect"] == "/sign-in/?next=/%3Fq%3Da"


def test_people_who_are_no_staff_sign_in_and_out(client, ada):
    assert (
        "Please enter a correct username"
        in client.post("/sign-in/", {"username": "ada", "password": "wrong"}).content.decode()
    )
    response = client.post("/sign-in/", {"username": "ada", "password": "pass-word-1", "next": "/?show=mine"})
    assert response["Location"] == "/?show=mine"
    body = client.get("/").content.decode()
    assert 'href="/admin/' not in body
    assert client.post("/sign-out/")["Location"] == "/sign-in/"
    assert client.get("/").status_code == 302


def test_signing_in_leads_nowhere_else(client, ada):
    form = {"username": "ada", "password": "pass-word-1", "next": "https://elsewhere.example/"}
    assert client.post("/sign-in/", form)["Location"] == "/"


def test_only_what_is_theirs(client, world, desk):
    desk.supplier("Marlow Paper")
    desk.refund("Refund 1")
    client.force_login(world.user("ben", "Support"))
    assert subjects(client.get("/")) == ["Refund 1"]
    client.force_login(world.user("cy"))
    response = client.get("/")
    assert subjects(response) == []
    assert "Nothing waits for you" in text_of(response)


# ---- rows


def test_a_row_tells_it_all(page, desk):
    desk.supplier("Marlow Paper", [0.62, ("states", 0.91), (2, 0.85)])
    response = page()
    text = text_of(response)
    assert "Supplier screening › Check vendor · screening-agent" in text
    assert "due in 3 h" in text
    assert "new" in text
    assert "The report bears out the cleared" in text
    assert "states .91" in text
    assert "level 2 .85" in text
    assert "Model says 62 % yes; 90 % skips you, under 50 % sends back." in text
    assert "Unsure 0.12 above fail" in text
    body = response.content.decode()
    assert 'aria-label="What does the summary do?: Model says states at 0.91; 0.80 is asked."' in body
    assert 'x="62.0%"' in body
    assert " style=" not in body
    assert "<script>" not in body


def test_least_sure_first(page, desk):
    desk.supplier("Near the line", [0.89, ("states", 0.9), (2, 0.9)])
    desk.supplier("In the middle", [0.7, ("states", 0.9), (2, 0.9)])
    desk.refund("Passed", [0.95, ("return-14", 0.9)])
    desk.refund("Doubted", [0.6, ("return-14", 0.9)])
    response = page()
    assert subjects(response) == ["In the middle", "Near the line", "Doubted", "Passed"]
    heads = re.findall(r'class="list-h">([^<]*) <', response.content.decode())
    assert heads == ["Unsure", "Approvals after a doubtful check", "Approvals and tasks"]


def test_the_worst_question_is_the_one_in_bold(page, desk):
    desk.supplier("Marlow Paper", UNSURE)
    body = page().content.decode()
    near = re.findall(r'row-q is-near"><span class="row-ask">([^<]*)<', body)
    assert near == ["How far does the screening go?"]
    assert "Model says level 1 at 0.66; 0.80 is asked." in body
    assert "0.14 short of 0.80" in body


def test_what_is_no_model_says_so(page, desk, settings, monkeypatch):
    desk.evaluator.is_model = False
    desk.supplier("Orchard Glass", [0.7, ("states", 0.9), (2, 0.9)])
    text = text_of(page())
    assert "not a model" in text
    assert "Word match says 70 % yes" in text
    assert "Model says" not in text


def test_the_other_kinds(page, desk, world):
    token = world.claim(desk.agent, desk.started("Kestrel Foods"), "check_vendor")["token"]
    world.call(desk.agent, "escalate", token=token, note="The portal asks for a login.")
    silent = desk.started("Mill Lane Bakery")
    desk.evaluator.script = ["down"]
    token = world.claim(desk.agent, silent, "check_vendor")["token"]
    given = {**desk.work([desk.upload()]), "token": token, "requestId": "one"}
    for _ in range(2):
        world.refused(desk.agent, "submit", **given)
    world.call(desk.agent, "submit", **given)
    task = desk.supplier("Alder Logistics", PASSES)
    desk.decide(world.person("fin", "Finance"), task, "approved")
    text = text_of(page())
    for kind in ("Escalated", "No answer", "Task"):
        assert kind in text


def test_a_test_run_says_so(page, desk):
    desk.hand_in(desk.started("Only a test", mode="test"), UNSURE)
    assert "Test run" in text_of(page())


def test_what_agents_wrote_is_only_text(page, desk):
    desk.supplier("<script>alert(1)</script>", UNSURE)
    body = page().content.decode()
    assert "<script>alert(1)" not in body
    assert escape("<script>alert(1)</script>") in body


def test_compact_shows_only_the_worst_question_and_is_remembered(page, desk):
    desk.supplier("Marlow Paper", UNSURE)
    response = page("/?density=compact")
    assert response.content.decode().count('class="row-q ') == 1
    assert response.cookies["density"].value == "compact"
    assert page().content.decode().count('class="row-q ') == 1
    page("/?density=comfortable")
    assert page().content.decode().count('class="row-q') == 4  # the list and its three


# ---- filters


def test_filters_count_and_narrow(page, desk, world, ada):
    desk.supplier("Marlow Paper", UNSURE)
    desk.supplier("Alder Logistics", PASSES)
    desk.refund("Refund 1")
    QueueEntry.objects.filter(subject="Refund 1").update(due_at=timezone.now() - timedelta(hours=1))
    body = page().content.decode()
    counted = dict(re.findall(r'id="f-(\w+)"[^>]*>\w+ <span class="n">(\d+)', body))
    assert counted == {
        "open": "3", "unsure": "1", "approvals": "2", "tasks": "0", "escalated": "0", "mine": "0", "overdue": "1",
    }  # fmt: skip
    assert subjects(page("/?show=unsure")) == ["Marlow Paper"]
    assert subjects(page("/?show=overdue")) == ["Refund 1"]
    assert subjects(page("/?process=refund-review")) == ["Refund 1"]
    assert subjects(page("/?show=approvals&process=supplier-screening")) == ["Alder Logistics"]
    assert "Nothing here matches" in text_of(page("/?show=tasks"))


def test_mine_is_what_is_assigned_to_me_personally(client, world, desk, evaluator):
    world.publish(
        "---\nname: own\ndescription: For who starts it.\nsteps:\n"
        "  - { id: look, task: Look at it., person: initiator, output: { seen: boolean }, next: done }\n"
        "  - { id: done, finish: done }\n---\n"
    )
    ben = world.user("ben", "Finance")
    world.call(of_user(ben), "start_run", process="own", inputs={})
    desk.supplier("Marlow Paper")
    client.force_login(ben)
    assert subjects(client.get("/?show=mine")) == ["Own"]
    assert len(subjects(client.get("/"))) == 2


def test_search_looks_at_subject_agent_and_run(page, desk):
    run = desk.supplier("Marlow Paper")
    desk.supplier("Harbour Tooling")
    assert subjects(page("/?q=marlow")) == ["Marlow Paper"]
    assert subjects(page(f"/?q={run['run']['id'][:12]}")) == ["Marlow Paper"]
    assert len(subjects(page("/?q=screening-agent"))) == 2
    assert subjects(page("/?q=%25")) == []


@pytest.mark.parametrize(
    "query",
    [
        "show=nonsense",
        "page=0",
        "page=-1",
        "page=99999999",
        "page=x",
        "q=%00",
        "process=%00x",
        "density=x",
        "q=" + "x" * 5000,
    ],
)
def test_no_address_breaks_it(page, desk, query):
    desk.supplier()
    assert page(f"/?{query}").status_code == 200


def test_pages(page, desk, monkeypatch):
    monkeypatch.setattr(screen, "PAGE", 2)
    for number in range(3):
        desk.supplier(f"Supplier {number}")
    first, second = page(), page("/?page=2")
    assert len(subjects(first)) == 2
    assert "Next page" in text_of(first)
    assert len(subjects(second)) == 1
    assert "Previous page" in text_of(second)
    assert not set(subjects(first)) & set(subjects(second))


# ---- refreshing


def news_url(response):
    return re.search(r'hx-get="(/news/[^"]*)"', response.content.decode()).group(1).replace("&amp;", "&")


def test_the_poll_is_silent_until_there_is_something_new(page, desk):
    desk.supplier("Marlow Paper")
    url = news_url(page())
    assert page(url).status_code == 204
    desk.supplier("Harbour Tooling")
    desk.refund("Refund 1")
    response = page(url)
    assert "Show 2 new items u" in text_of(response)
    assert "Harbour" not in response.content.decode()


def test_the_poll_of_an_empty_queue(page, desk):
    url = news_url(page())
    assert page(url).status_code == 204
    desk.supplier()
    assert "Show 1 new item u" in text_of(page(url))


def test_the_poll_respects_the_filter(page, desk):
    desk.supplier("Marlow Paper")
    url = news_url(page("/?process=supplier-screening&show=unsure"))
    desk.refund("Refund 1")
    assert page(url).status_code == 204
    desk.supplier("Harbour Tooling")
    response = page(url)
    assert "Show 1 new item" in text_of(response)
    assert "/?show=unsure&amp;process=supplier-screening" in response.content.decode()


def test_an_item_committed_late_is_still_announced(page, desk):
    """Its time is older than the newest that the page has seen."""
    desk.supplier("Marlow Paper")
    url = news_url(page())
    desk.supplier("Late")
    QueueEntry.objects.filter(subject="Late").update(opened_at=timezone.now() - timedelta(seconds=10))
    assert "Show 1 new item" in text_of(page(url))


def test_more_items_than_a_page_remembers(page, desk, monkeypatch):
    monkeypatch.setattr(screen, "SEEN", 2)
    for number in range(3):
        desk.supplier(f"Supplier {number}")
    url = news_url(page())
    assert page(url).status_code == 204
    desk.supplier("Another")
    assert "Show 1 new item" in text_of(page(url))


@pytest.mark.parametrize(
    "query", ["", "since=x", "since=2026-01-01", "since=2026-01-01T00:00:00%2B00:00&seen=%00,%01"]
)
def test_no_poll_breaks_it(page, desk, query):
    assert page(f"/news/?{query}").status_code in (200, 204)


def test_htmx_gets_the_list_alone(page, desk):
    desk.supplier("Marlow Paper")
    body = page("/", **{"HX-Request": "true", "HX-Target": "list"}).content.decode()
    assert "Marlow Paper" in body
    assert "<html" not in body
    assert 'id="waiting" hx-swap-oob="true">1<' in body
    assert "HX-Target" in page().headers["Vary"]


# ---- the frame


@pytest.mark.parametrize(
    ("columns", "permissions", "shown"),
    [
        ({}, [], []),
        ({"is_staff": True}, [], ["Settings"]),
        ({"is_staff": True}, ["view_run"], ["Runs", "Settings"]),
        ({"is_staff": True, "is_superuser": True}, [], ["Runs", "Processes", "Settings"]),
        ({}, ["view_run"], []),
    ],
)
def test_sections_by_permission(client, world, columns, permissions, shown):
    user = world.user("ada", **columns)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client.force_login(User.objects.get(pk=user.pk))
    nav = re.search(r'(?s)<nav class="cs-nav".*?</nav>', client.get("/").content.decode()).group()
    assert re.findall(r">(Runs|Processes|Settings)<", nav) == shown


# ---- what it costs


@pytest.mark.parametrize("columns", [{}, {"is_staff": True}])
def test_statements_do_not_grow_with_the_queue(client, world, desk, columns):
    user = world.user("ada", "Finance", "Support", **columns)
    client.force_login(user)

    def fill(many):
        for number in range(many):
            desk.supplier(f"Supplier {number}") if number % 3 else desk.refund(f"Refund {number}")

    def statements():
        client.force_login(user)
        with CaptureQueriesContext(connection) as captured:
            assert client.get("/").status_code == 200
        return [query["sql"] for query in captured.captured_queries]

    fill(3)
    few = statements()
    fill(27)
    many = statements()
    assert QueueEntry.objects.count() == 30
    assert len(many) == len(few) <= 10
    assert not any('"options"' in sql or '"content"' in sql or '"data"' in sql for sql in many)


def test_the_poll_costs_three_statements(client, world, desk):
    desk.supplier()
    client.force_login(world.user("ada", "Finance"))
    url = news_url(client.get("/"))
    with CaptureQueriesContext(connection) as captured:
        client.get(url)
    assert len(captured) == 3  # session, user, count
