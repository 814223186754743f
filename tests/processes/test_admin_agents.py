"""Agents in the admin: a key is shown once and kept nowhere; revoking and new keys are asked twice."""

import logging
import re

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.urls import reverse

from checks import keys
from checks.models import Key
from processes import agents
from processes.callers import of_agent
from processes.models import Agent
from tests.processes.staff import logged, sign_in
from tests.processes.test_publishing import published

pytestmark = pytest.mark.django_db
MAY = ("view_agent", "add_agent", "change_agent")


@pytest.fixture
def admin(client):
    return sign_in(client, *MAY)


@pytest.fixture
def add():
    return reverse("admin:processes_agent_add")


def page(name, agent):
    return reverse(f"admin:processes_agent_{name}", args=[agent.pk])


def secrets_of(response):
    """Every key in an answer."""
    return {text for text in re.findall(r"cs_[\w-]+", response.content.decode()) if keys.parse_prefix(text)}


def kept(text):
    """Whether a secret stands in any row that the admin writes."""
    secret = text.rsplit("_", 1)[-1]
    rows = [*LogEntry.objects.values_list("change_message", "object_repr"), *Key.objects.values_list()]
    sessions = [session.get_decoded() for session in Session.objects.all()]
    return secret in repr([rows, sessions])


def test_a_new_agents_key_is_shown_once_with_a_way_to_use_it(client, admin, add, settings, caplog):
    settings.SITE_URL = "https://sign.example.org"
    caplog.set_level(logging.DEBUG)
    response = client.post(add, {"name": "reader"})
    html = response.content.decode()
    (key,) = secrets_of(response)
    assert of_agent(key).id == "agent:reader"
    assert f"export COUNTERSIGN_KEY={key}" in html
    assert "https://sign.example.org/v1" in html
    for tool in ("describe", "get_work", "claim", "submit"):
        assert f"call {tool} " in html
    assert "You are reader, an agent of Countersign at https://sign.example.org." in html
    assert "no-store" in response["Cache-Control"]
    assert not kept(key) and key not in caplog.text
    assert Agent.objects.get().key.digest not in html
    assert logged() == ['[{"added": {}}]']


def test_the_key_is_on_no_later_page(client, admin, add):
    (key,) = secrets_of(client.post(add, {"name": "reader"}))
    agent = Agent.objects.get()
    for address in (
        reverse("admin:processes_agent_changelist"),
        page("change", agent),
        page("history", agent),
    ):
        html = client.get(address).content.decode()
        assert key.rsplit("_", 1)[-1] not in html
        assert agent.key.digest not in html


def test_sending_the_form_again_makes_no_second_agent(client, admin, add):
    client.post(add, {"name": "reader"})
    html = client.post(add, {"name": "reader"}).content.decode()
    assert "already exists" in html
    assert Agent.objects.count() == 1 == Key.objects.count()


def test_an_agent_is_limited_to_processes_and_vouched_for(client, admin, add, world):
    process, person = published(world).process, world.user("eve")
    html = client.post(
        add, {"name": "reader", "limited": "on", "processes": [process.pk], "vouched_by": person.pk}
    ).content.decode()
    agent = Agent.objects.get()
    assert (agent.limited, list(agent.processes.all()), agent.vouched_by) == (True, [process], person)
    assert "May only work leave." in html


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"name": "reader", "limited": "on"}, "A limited agent needs a process"),
        ({"name": "reader", "processes": True}, "so that the processes below count"),
        ({"name": "Reader Agent"}, "Enter a valid"),
        ({"name": "<script>alert(1)</script>"}, "Enter a valid"),
        ({"name": ""}, "This field is required"),
    ],
)
def test_what_makes_no_sense_is_refused(client, admin, add, world, sent, words):
    process = published(world).process
    if sent.get("processes"):
        sent = {**sent, "processes": [process.pk]}
    html = client.post(add, sent).content.decode()
    assert words in html and "<script>alert" not in html
    assert not Agent.objects.exists() and not Key.objects.exists()


def test_a_changed_agent_keeps_its_name_and_key(client, admin, world):
    agent, key = agents.create("reader")
    client.post(page("change", agent), {"name": "other", "vouched_by": world.user("eve").pk})
    agent.refresh_from_db()
    assert (agent.name, agent.vouched_by.username) == ("reader", "eve")
    assert of_agent(key) is not None


def test_revoking_is_asked_and_done_by_post(client, admin):
    agent, key = agents.create("reader")
    assert "Revoke reader?" in client.get(page("revoke", agent)).content.decode()
    assert of_agent(key) is not None
    html = client.post(page("revoke", agent), follow=True).content.decode()
    assert of_agent(key) is None
    assert "Agent reader is revoked." in html and page("revoke", agent) not in html
    client.post(page("revoke", agent))
    assert logged() == ["Revoked."]


def test_a_new_key_kills_the_old_one_and_is_shown_once(client, admin):
    agent, old = agents.create("reader")
    assert "A new key for reader?" in client.get(page("new_key", agent)).content.decode()
    assert of_agent(old) is not None
    response = client.post(page("new_key", agent))
    (new,) = secrets_of(response)
    assert of_agent(old) is None and of_agent(new).id == "agent:reader"
    assert "no-store" in response["Cache-Control"] and not kept(new)
    assert logged() == ["Gave it a new key; the old one is dead."]


def test_the_list_tells_live_from_revoked(client, admin):
    agents.revoke(agents.create("old")[0])
    agents.create("new")
    address = reverse("admin:processes_agent_changelist")
    for key, names in (("live", ["new"]), ("revoked", ["old"]), ("", ["new", "old"])):
        rows = client.get(address, {"key": key}).context["cl"].result_list
        assert [row.name for row in rows] == names


@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize("name", ["revoke", "new_key"])
def test_keys_need_the_permission_to_change_agents(client, name, method):
    sign_in(client, "view_agent", "add_agent")
    agent, key = agents.create("reader")
    assert getattr(client, method)(page(name, agent)).status_code == 403
    assert of_agent(key) is not None


def test_agents_are_added_with_the_permission_only(client, add):
    sign_in(client, "view_agent")
    assert client.post(add, {"name": "reader"}).status_code == 403
    assert not Agent.objects.exists()


def test_nobody_deletes_an_agent(client):
    sign_in(client, superuser=True)
    agent, _ = agents.create("reader")
    assert client.post(page("delete", agent), {"post": "yes"}).status_code == 403
