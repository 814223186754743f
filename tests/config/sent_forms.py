"""Forms that people send, each as who sends it, the answer's status, and a function of what there is (and of the
sender's client) to where it goes and what it holds. They are sent in this order.
"""

from typing import Any

from django.contrib.auth.models import Group
from django.test import Client

from checks.models import Evaluator
from processes.models import Process
from tests.approvals.deciding import Page
from tests.config.populous import Populous, text

_LIMITS = {"check_pass": "0.9", "check_confidence": "0.8", "check_state_bytes": "2048", "why": "Try."}

Sent = tuple[str, dict[str, Any]]

_IMPORT = "/admin/processes/process/add/"
_EVALUATOR = "/admin/checks/evaluator/{}/"
_WORD = {"password1": "long-word-12!", "password2": "long-word-12!", "usable_password": "true"}


def _importing(action: str, *changes: tuple[str, str]) -> Any:
    def form(there: Populous, client: Client) -> Sent:
        typed = text(there.size, 99)
        for old, new in changes:
            typed = typed.replace(old, new)
        return _IMPORT, {"text": typed, "action": action}

    return form


def _draft(action: str, **given: str) -> Any:
    """The draft's page, sent as it is shown."""

    def form(there: Populous, client: Client) -> Sent:
        shown = client.get(there.draft_page).context
        entered, roles = shown["entered"], shown["roles"].fields
        groups = {name: field.initial for name, field in roles.items() if name != "consent"}
        if "consent" in roles:
            groups["consent"] = "on"
        sent = {"text": entered.text, "seen": entered.seen, "change": entered.change, **groups}
        return there.draft_page, {**sent, "action": action, **given}

    return form


def _thresholds(passing: str, **given: str) -> Any:
    def form(there: Populous, client: Client) -> Sent:
        numbers = {f"pass-{n}-s": passing for n in range(there.size)}
        return f"{there.page}thresholds/", {
            **numbers,
            **{f"fail-{n}-s": "0.5" for n in range(there.size)},
            **given,
        }

    return form


def _fixed(where: str, **given: Any) -> Any:
    """`where` may name what there is."""
    return lambda there, _client: (where.format(p=there), given)


def _agent(there: Populous, client: Client) -> Sent:
    chosen = [process.pk for process in there.agent.processes.all()]
    return "/admin/processes/agent/add/", {
        "name": f"made-{there.size}",
        "limited": "on",
        "processes": chosen,
        "vouched_by": there.person.pk,
    }


def _of_agent(page: str, **given: Any) -> Any:
    def form(there: Populous, client: Client) -> Sent:
        first = Process.objects.order_by("pk").first()
        chosen = {"processes": [first.pk]} if first and page == "change" else {}
        return f"/admin/processes/agent/{there.agent.pk}/{page}/", {**chosen, **given}

    return form


def _evaluator(page: str) -> Any:
    def form(there: Populous, client: Client) -> Sent:
        sent = {
            "name": f"made-{there.size}",
            "preset": "groq",
            "position": "1",
            "seconds": "20",
            "enabled": "on",
        }
        kept = there.rows[Evaluator]
        if page != "add":
            sent["name"] = kept.name
        return _EVALUATOR.format(page.format(kept.pk)), sent

    return form


def _try(there: Populous, client: Client) -> Sent:
    words = Evaluator.objects.create(name=f"words-{there.size}", wire="heuristic")
    return "/admin/checks/evaluator/", {"action": "try_it", "_selected_action": [words.pk]}


def _group(there: Populous, client: Client) -> Sent:
    group = there.rows[Group]
    sent = {
        "name": group.name, "permissions": [group.permissions.first().pk],
        "rule-TOTAL_FORMS": 1, "rule-INITIAL_FORMS": 1, "rule-0-id": group.rule.pk, "rule-0-group": group.pk,
    }  # fmt: skip
    return f"/admin/auth/group/{group.pk}/change/", sent


def _new_group(there: Populous, client: Client) -> Sent:
    chosen = [permission.pk for permission in there.rows[Group].permissions.all()]
    rule = {"rule-TOTAL_FORMS": 1, "rule-INITIAL_FORMS": 0, "rule-0-forbid_own_work": "on"}
    return "/admin/auth/group/add/", {"name": f"new-{there.size}", "permissions": chosen, **rule}


def _person(there: Populous, client: Client) -> Sent:
    group = there.rows[Group]
    sent = {
        "username": there.person.username, "groups": [group.pk],
        "user_permissions": [group.permissions.first().pk],
        "date_joined_0": "2026-01-01", "date_joined_1": "00:00",
    }  # fmt: skip
    return f"/admin/auth/user/{there.person.pk}/change/", sent


def _new_person(there: Populous, client: Client) -> Sent:
    return "/admin/auth/user/add/", {"username": f"new-{there.size}", **_WORD}


def _retire(there: Populous, client: Client) -> Sent:
    chosen = [process.pk for process in Process.objects.filter(name__startswith=f"other-{there.size}-")]
    return "/admin/processes/process/", {"action": "retire", "_selected_action": chosen}


def _decide(which: str, **given: str) -> Any:
    def form(there: Populous, client: Client) -> Sent:
        item = getattr(there, which)
        page = Page(client.get(f"/items/{item.pk}/"))
        return f"/items/{item.pk}/decide/", {**page.sends, **given}

    return form


FORMS: dict[str, tuple[str, int, Any]] = {
    "sign in, wrong": ("nobody", 200, _fixed("/sign-in/", username="plain", password="x")),
    "try: judge": ("nobody", 200, _fixed("/try/", kind="judge", task="t", agent_output="It is so.", evidence="It is.")),
    "try: nothing typed": ("nobody", 422, _fixed("/try/", kind="judge")),
    "try: consensus": ("plain", 200, _fixed("/try/", kind="consensus", task="t", answers="--- a\nIt.\n--- b\nIt.")),
    "import: check": ("staff", 200, _importing("check", ("agent: Do", "agint: Do"))),
    "import: keep a broken one": ("staff", 200, _importing("save", ("agent: Do", "agint: Do"))),
    "import: keep over a draft": ("staff", 200, _importing("save")),
    "import: keep": ("staff", 302, _importing("save", ("name: subject", "name: fresh"))),
    "thresholds: wrong": ("staff", 200, _thresholds("7")),
    "thresholds: nothing new": ("staff", 200, _thresholds("0.9")),
    "thresholds: over a draft": ("staff", 200, _thresholds("0.8")),
    "draft: check": ("staff", 200, _draft("check")),
    "draft: keep": ("staff", 302, _draft("save", change="Kept.")),
    "draft: publish without a group": ("staff", 200, _draft("publish", **{"role-role-0": ""})),
    "draft: publish": ("staff", 302, _draft("publish")),
    "thresholds: draft": ("staff", 302, _thresholds("0.8")),
    "processes: retire": ("staff", 302, _retire),
    "agent: wrong": ("staff", 200, _fixed("/admin/processes/agent/add/", name="", limited="on")),
    "agent: make": ("staff", 200, _agent),
    "agent: change": ("staff", 302, _of_agent("change", limited="on")),
    "agent: new key": ("staff", 200, _of_agent("new-key")),
    "agent: revoke": ("staff", 302, _of_agent("revoke")),
    "evaluator: wrong": ("staff", 200, _fixed(_EVALUATOR.format("add"), name="No", seconds="20")),
    "evaluator: make": ("staff", 302, _evaluator("add")),
    "evaluator: change": ("staff", 302, _evaluator("{}/change")),
    "evaluator: try": ("staff", 200, _try),
    "limits: replay": ("staff", 200, _fixed("/admin/checks/checklimits/replay/", **_LIMITS)),
    "thresholds: replay": ("staff", 200, _thresholds("0.8", action="replay")),
    "limits: set": ("staff", 302, _fixed("/admin/checks/checklimits/add/", **_LIMITS)),
    "group: change": ("staff", 302, _group),
    "group: make": ("staff", 302, _new_group),
    "person: change": ("staff", 302, _person),
    "person: make": ("staff", 302, _new_person),
    "person: password": ("staff", 302, _fixed("/admin/auth/user/{p.person.pk}/password/", **_WORD)),
    "decide: nothing chosen": ("plain", 400, _decide("item")),
    "decide: no note": ("plain", 422, _decide("item", decision="return")),
    "decide: stale": ("plain", 409, _decide("item", decision="return", **{"note-return": "n", "snapshot": "x"})),
    "decide: return": ("plain", 303, _decide("item", decision="return", **{"note-return": "n"})),
    "decide: approve": ("plain", 303, _decide("approval", decision="candidate")),
    "decide: over": ("plain", 409, _decide("decided", decision="return", **{"note-return": "n"})),
    "sign out": ("plain", 302, _fixed("/sign-out/")),
}  # fmt: skip
