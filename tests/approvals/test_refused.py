"""Refusals of no page in particular: whoever had typed something keeps it; nobody sees a page of the framework's."""

import re

import pytest
from django.db import OperationalError, connection
from django.template.loader import render_to_string
from django.test import Client
from django.test.utils import CaptureQueriesContext

from approvals.models import QueueEntry
from tests.approvals.builders import UNSURE, Desk

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true", "HX-Current-URL": "http://testserver/"}


@pytest.fixture
def url(world, evaluator):
    Desk(world, evaluator).supplier("Marlow Paper", UNSURE)
    return f"/items/{QueueEntry.objects.get().pk}/decide/"


@pytest.fixture
def ada(world):
    client = Client(enforce_csrf_checks=True)
    client.force_login(world.user("ada", "Finance", "Support", "Procurement"))
    return client


def stays(response, words: str) -> bool:
    """The page is left as it is, but for a toast with these words."""
    told = (response.headers["HX-Retarget"], response.headers["HX-Reswap"])
    return told == ("#toasts", "innerHTML") and words in response.content.decode()


def test_a_form_sent_when_signed_out_stays_with_a_way_to_sign_in(client, url):
    response = client.post(url, {"decision": "return", "note_return": "typed"}, headers=HTMX)
    assert response.status_code == 403 and stays(response, "you are signed out")
    assert 'href="/sign-in/"' in response.content.decode() and "HX-Redirect" not in response.headers


def test_without_script_a_form_leads_to_the_sign_in_page(client, url):
    assert client.post(url, {"decision": "return"})["Location"] == f"/sign-in/?next={url}"


def test_the_poll_takes_nobody_away(client):
    response = client.get("/news/", headers=HTMX)
    assert response.status_code == 200 and stays(response, "You are signed out")
    assert client.get("/news/")["Location"].startswith("/sign-in/")


def test_a_token_of_another_session_is_renewed_on_the_page(ada, url):
    ada.get("/")
    sent = {"decision": "return", "csrfmiddlewaretoken": "a" * 64}
    response = ada.post(url, sent, headers=HTMX)
    assert response.status_code == 403 and stays(response, "Send it once more")
    page = response.content.decode()
    assert 'hx-swap-oob="outerHTML:[name=csrfmiddlewaretoken]"' in page
    renewed = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)[1]
    again = ada.post(url, {**sent, "csrfmiddlewaretoken": renewed}, headers=HTMX)
    assert again.status_code == 409  # it reached the item, for which a form without a snapshot is stale


def test_without_script_a_page_says_how_to_go_on(ada, url):
    response = ada.post(url, {"decision": "return"})
    page = response.content.decode()
    assert response.status_code == 403 and "back button leads to what you typed" in page
    assert "<style" not in page and "DEBUG" not in page


@pytest.mark.parametrize("path", ["/nothing/", "/items/w_none/", "/nothing/%00", "/nothing/é/?a=%ff"])
@pytest.mark.parametrize("known", [True, False])
def test_nothing_there(client, ada, path, known):
    response = (ada if known else client).get(path)
    if response.status_code == 302:
        assert not known and path.startswith("/items/")
        return
    page = response.content.decode()
    assert response.status_code == 404 and "<h1>Not found</h1>" in page and "countersign.css" in page


def test_a_page_of_others(world):
    client = Client()
    client.force_login(world.user("eve", is_staff=True))
    response = client.get("/admin/processes/process/")
    page = response.content.decode()
    assert response.status_code == 403 and "Not yours to open" in page and "eve" in page


def test_a_crash_shows_a_page_that_asks_nothing_and_tells_nothing_of_the_cause(ada, monkeypatch):
    def crash(*_: object) -> None:
        raise OperationalError("db.internal is gone")

    monkeypatch.setattr("approvals.screens.queue.entries", crash)
    ada.raise_request_exception = False
    response = ada.get("/")
    page = response.content.decode()
    assert response.status_code == 500 and "<h1>Something went wrong</h1>" in page
    assert "db.internal" not in page and "Traceback" not in page and "<style" not in page
    with CaptureQueriesContext(connection) as asked:  # the database may be what failed
        render_to_string("500.html")
    assert not asked.captured_queries
