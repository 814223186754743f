"""Who may call what: every tool by every kind of caller, over real HTTP with CSRF enforced.

A tool without a row fails the first test.
"""

import base64

import pytest
from django.contrib.auth.models import User

from processes import agents
from processes.models import Agent
from processes.tools import TOOLS
from tests.processes.flows import DONE, cast, errand, signing
from tests.processes.http import Http
from tests.world import rid

pytestmark = pytest.mark.django_db

CALLERS = (
    "nobody", "agent", "limited agent", "outsider", "member", "operator", "superuser", "inactive",
    "revoked key", "no csrf",
)  # fmt: skip
OK, NO, WHO = (200, None), (403, "forbidden"), (401, "forbidden")
BAD = (400, "invalid")  # somebody else's token does not verify
TABLE = {
    # nobody, agent, limited, outsider, member, operator, superuser
    "describe": (OK, OK, OK, OK, OK, OK, OK),
    "list_processes": (WHO, OK, OK, OK, OK, OK, OK),
    "start_run": (WHO, OK, NO, OK, OK, OK, OK),
    "get_run": (WHO, OK, NO, OK, OK, OK, OK),
    "get_work": (WHO, OK, OK, OK, OK, OK, OK),
    "claim": (WHO, OK, NO, NO, NO, NO, NO),
    "renew": (WHO, OK, BAD, NO, NO, NO, NO),
    "submit": (WHO, OK, BAD, NO, NO, NO, NO),
    "escalate": (WHO, OK, BAD, NO, NO, NO, NO),
    "upload": (WHO, OK, OK, OK, OK, OK, OK),
    "decide": (WHO, NO, NO, NO, OK, NO, NO),
    "decide an escalation": (WHO, NO, NO, NO, NO, OK, OK),
    "cancel": (WHO, NO, NO, NO, NO, OK, OK),
    "send_event": (WHO, OK, NO, NO, NO, OK, OK),
    "list_runs": (WHO, OK, OK, OK, OK, OK, OK),
}


def test_every_tool_has_a_row():
    assert set(TOOLS) == {row.partition(" ")[0] for row in TABLE}
    assert {len(row) for row in TABLE.values()} == {7}


def expected(row: str, caller: str) -> tuple[int, str | None]:
    if caller == "inactive":
        caller = "nobody"  # an inactive user's session is nobody's
    if caller == "revoked key":
        return WHO
    if caller == "no csrf":
        return NO
    return TABLE[row][CALLERS.index(caller)]


@pytest.fixture
def house(world):
    """The world with a run at each place that the tools need."""
    c = cast(world)
    c.world, c.revoked = world, world.agent("revoked")
    c.limited = world.agent("limited", only=[])
    agents.revoke(Agent.objects.get(name="revoked"))
    world.user("root", is_superuser=True, is_staff=True)
    world.user("gone")
    return c


def http(house, caller: str) -> Http:
    if caller == "nobody":
        return Http()
    if caller in ("agent", "limited agent", "revoked key"):
        who = {"agent": house.agent, "limited agent": house.limited, "revoked key": house.revoked}[caller]
        return Http(key=house.world.keys[who.id])
    name = {"outsider": "ben", "member": "ada", "operator": "ops", "superuser": "root", "inactive": "gone",
            "no csrf": "ada"}[caller]  # fmt: skip
    made = Http(user=User.objects.get(username=name), csrf=caller != "no csrf")
    User.objects.filter(username="gone").update(is_active=False)
    return made


def call_of(house, row: str) -> tuple[str, dict]:
    """A call that is sound but for who makes it: the token is the agent's, the item finance's."""
    world, tool, write = house.world, row.partition(" ")[0], {"requestId": rid()}
    if tool in ("describe", "list_processes", "get_work", "list_runs"):
        return tool, {}
    if tool == "upload":
        content = base64.b64encode(b"x").decode()
        return tool, {"fileName": "a", "contentType": "a/b", "contentBase64": content, **write}
    if row == "decide an escalation":
        waiting = errand(world, house.agent)
        token = world.claim(house.agent, waiting, "fetch")["token"]
        world.call(house.agent, "escalate", token=token, note="n")
        call = world.item(house.ops, waiting)["decide"]["arguments"]
        return tool, {**call, **write, "decision": "returned", "note": "n"}
    if tool == "decide":
        waiting = signing(world, house.agent)
        call = world.item(house.ada, waiting)["decide"]["arguments"]
        return tool, {**call, **write, "decision": "approved"}
    run = errand(world, house.agent)
    about = {"runId": run["run"]["id"]}
    if tool in ("renew", "submit", "escalate"):
        given = {"renew": {}, "submit": DONE, "escalate": {"note": "n"}}[tool]
        return tool, {"token": world.claim(house.agent, run, "fetch")["token"], **given, **write}
    return tool, {
        "start_run": {"process": "errand", "inputs": {"what": "x"}, **write},
        "get_run": about,
        "claim": {**about, "stepId": "fetch", **write},
        "cancel": {**about, "reason": "r", **write},
        "send_event": {**about, "name": "arrived", **write},
    }[tool]


@pytest.mark.parametrize("caller", CALLERS)
def test_who_may_call_what(house, caller):
    by = http(house, caller)
    found = {}
    for row in TABLE:
        tool, arguments = call_of(house, row)
        status, envelope = by.post(tool, arguments)
        found[row] = (status, None if envelope["ok"] else envelope["error"]["code"])
        assert ("WWW-Authenticate" in by.response.headers) == (status == 401)
    assert found == {row: expected(row, caller) for row in TABLE}


def test_a_key_goes_before_a_session(house):
    """An agent's program in a person's browser is an agent."""
    ada = Http(user=User.objects.get(username="ada"))
    ada.headers["Authorization"] = f"Bearer {house.world.keys[house.agent.id]}"
    _, call = call_of(house, "decide")
    assert ada.refused("decide", call) == NO
    ada.headers["Authorization"] = "Bearer wrong"
    assert ada.refused("get_work", {}) == WHO


@pytest.mark.parametrize(
    "header",
    [
        "Bearer",
        "Bearer ",
        "Basic YWRhOnB3",
        "cs_abcdefghij_x",
        "Bearer cs_abcdefghij_" + "x" * 43,
        "Bearer é",
    ],
)
def test_keys_that_prove_nothing(house, header):
    by = Http()
    assert by.refused("describe", {}, Authorization=header) == WHO
    assert by.response.headers["WWW-Authenticate"] == 'Bearer realm="countersign"'


def test_a_key_of_another_secret_proves_nothing(house):
    key = house.world.keys[house.agent.id]
    assert Http(key=key[:-1] + ("A" if key[-1] != "A" else "B")).refused("get_work", {}) == WHO
    assert Http(key=key).data("get_work", {})["items"] == []


def test_a_wrong_csrf_token_is_refused(house):
    ada = Http(user=User.objects.get(username="ada"))
    ada.headers["X-CSRFToken"] = "d" * 32
    assert ada.refused("get_work", {}) == NO
    assert "browser's presence" in ada.response.json()["error"]["message"]
