"""No page of the browser asks the database more than ten times, and no form that is sent more than sixteen times
whatever there is: with 3 and with 30 of everything, for staff and for who only decides.

The pages are those that the resolver knows: a new one fails the first test until it has an entry in a table here.
BEGIN, COMMIT and SAVEPOINT are not counted.
"""

import re
from collections import defaultdict

import pytest
from django.apps import apps
from django.contrib.admin.utils import quote
from django.db import connection
from django.test import Client, TestCase
from django.test.utils import CaptureQueriesContext
from django.urls import get_resolver

from approvals import rules
from checks import roster
from checks.receipts import keys
from tests.config.populous import Builder
from tests.config.sent_forms import FORMS

PAGE, FORM = 10, 16
SIZES = (3, 30)
_UNCOUNTED = re.compile(r"(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)", re.IGNORECASE)

# the admin's pages of a model: each is asked for the row that has most below it
_OF_MODEL = re.compile(r"admin/(\w+)/(\w+)/(|add/|<path:object_id>/(?:change|history|delete)/)$")
_VERSIONS = "admin/processes/process/<int:process_id>/versions/<int:version_id>/"
# where each other page is (one address or several), by what there is: see `Populous`
PAGES = {
    "": ["/", "/?show=overdue&process=errand&q=x&density=compact"],
    "news/": ["/news/?seen=0"],
    "items/<str:item>/": ["/items/{p.item.pk}/", "/items/{p.decided.pk}/", "/items/{p.approval.pk}/"],
    "items/<str:item>/files/<str:ref>/": ["/items/{p.item.pk}/files/{p.upload}/"],
    "items/<str:item>/decide/": ["/items/{p.item.pk}/decide/"],
    "sign-in/": ["/sign-in/"],
    "try/": ["/try/", "/try/?example=failed-fact", "/try/?kind=consensus&example=agreed"],
    "dashboard/": ["/dashboard/"],
    "v1/docs": ["/v1/docs"],
    "v1/schema": ["/v1/schema"],
    "v1/files/<str:signed>": ["{p.file}"],
    "favicon.ico": ["/favicon.ico"],
    ".well-known/jwks.json": ["/.well-known/jwks.json"],
    "admin/": ["/admin/"],
    "admin/<app_label>/": ["/admin/auth/", "/admin/checks/", "/admin/processes/", "/admin/approvals/"],
    "admin/login/": ["/admin/login/"],
    "admin/password_change/": ["/admin/password_change/"],
    "admin/password_change/done/": ["/admin/password_change/done/"],
    "admin/jsi18n/": ["/admin/jsi18n/"],
    "admin/auth/user/<id>/password/": ["/admin/auth/user/{p.person.pk}/password/"],
    "admin/processes/agent/<int:pk>/revoke/": ["/admin/processes/agent/{p.agent.pk}/revoke/"],
    "admin/processes/agent/<int:pk>/new-key/": ["/admin/processes/agent/{p.agent.pk}/new-key/"],
    "admin/processes/process/add/": [
        "/admin/processes/process/add/",
        "/admin/processes/process/add/?from={p.published.pk}",
    ],
    "admin/processes/process/costs/": [
        "/admin/processes/process/costs/",
        "/admin/processes/process/costs/?days=1",
    ],
    "admin/processes/run/<str:pk>/receipts/": ["/admin/processes/run/{p.item.run_id}/receipts/"],
    "admin/processes/run/<str:pk>/receipts/export/": [
        "/admin/processes/run/{p.item.run_id}/receipts/export/"
    ],
    "admin/processes/run/<str:pk>/receipts/openings/": [
        "/admin/processes/run/{p.item.run_id}/receipts/openings/"
    ],
    "admin/checks/checklimits/replay/": ["/admin/checks/checklimits/replay/"],
    _VERSIONS: ["{p.page}", "{p.draft_page}"],
    f"{_VERSIONS}thresholds/": ["{p.page}thresholds/"],
}
NO_PAGES = {
    "v1/<slug:tool>": "the tools: counted in tests/processes/test_statements.py",
    "v1/judge": "answers machines: tests/checks/judge",
    "v1/consensus": "likewise",
    "v1/receipts/verify": "answers machines: tests/checks/receipts",
    "v1/usage": "likewise",
    "v1/runs/<str:run>/facts": "answers machines: tests/processes/test_facts.py",
    "v1/runs/<str:run>/receipts": "likewise: tests/processes/test_receipts.py",
    "v1/health": "answers machines: tests/processes/test_health.py",
    "v1/<path:rest>": "asks nothing: tests/processes/test_api.py",
    "sign-out/": "takes a POST: among the forms",
    "admin/logout/": "takes a POST, likewise",
    "admin/autocomplete/": "answers scripts, and no form of ours asks it",
    "admin/r/<path:content_type_id>/<path:object_id>/": "leads to a row's own page, and no row of ours has one",
    "admin/(?P<url>.*)$": "says that there is no such page",
}


def routes(resolver=None, before=""):
    for entry in (resolver or get_resolver()).url_patterns:
        here = before + str(entry.pattern)
        if hasattr(entry, "url_patterns"):
            yield from routes(entry, here)
        # the admin leads from a row's bare address to its change page
        elif not re.search(r"/\w+/\w+/<path:object_id>/$", here):
            yield re.sub(r"\^\(\?P<app_label>.*\)/\$", "<app_label>/", here)


def test_every_route_has_its_entry():
    known = {*PAGES, *NO_PAGES}
    found = set(routes())
    assert not [route for route in found if route not in known and not _OF_MODEL.match(route)]
    assert known <= found


def addresses(there):
    """Each page's name and where it is."""
    for route in routes():
        if route in PAGES:
            yield from ((f"{route} {n}", where.format(p=there)) for n, where in enumerate(PAGES[route]))
        elif route not in NO_PAGES:
            app, model = _OF_MODEL.match(route).group(1, 2)
            row = there.rows[apps.get_model(app, model)]
            yield route, "/" + route.replace("<path:object_id>", str(quote(row.pk)))


class Meter:
    """Counts by name and size."""

    def __init__(self):
        self.table = defaultdict(dict)

    def count(self, name, size, call):
        # both are read once in half a minute and after a change, by whoever comes first
        roster.current()
        rules.prepare()
        with CaptureQueriesContext(connection) as captured:
            response = call()
            for _ in getattr(response, "streaming_content", ()):
                pass
        asked = [query["sql"] for query in captured.captured_queries if not _UNCOUNTED.match(query["sql"])]
        self.table[name][size] = (response.status_code, asked)
        return response

    def wrong(self, most):
        """What asks too often, or more for more, with what it asks."""
        for name, by_size in self.table.items():
            (status, few), (again, many) = (by_size[size] for size in SIZES)
            if len(few) != len(many) or len(many) > most(name) or status != again:
                told = [f"  {sql[:160]}" for sql in many[: 3 * FORM]]
                yield "\n".join([f"{name}: {status} with {len(few)}, {again} with {len(many)}", *told])


def _sign_in(clients, build):
    for name, user in build.lookers.items():
        clients[name].force_login(user)


@pytest.mark.django_db
def test_statements(world, evaluator):
    with TestCase.captureOnCommitCallbacks(execute=True):
        keys.current()  # whether it may sign is looked for once in ten minutes
    build = Builder(world, evaluator)
    clients = {name: Client() for name in (*build.lookers, "nobody")}
    pages, forms = Meter(), Meter()
    there = {}
    for size in SIZES:
        there[size] = build(size)
        _sign_in(clients, build)
        for page, address in addresses(there[size]):
            if size == SIZES[0] or page.startswith("items/"):
                clients["staff"].get(address)  # warm: content types, and a version's text, are read once
            # staff ask for their permissions too, so nobody's page of the admin costs more than theirs
            for name in ("staff",) if address.startswith("/admin/") else clients:
                pages.count(f"{page} by {name}", size, lambda at=address, by=clients[name]: by.get(at))
    for size in SIZES:
        _sign_in(clients, build)  # the last form signed somebody out
        for name, (who, status, form) in FORMS.items():
            address, sent = form(there[size], clients[who])
            answer = forms.count(name, size, lambda at=address, by=clients[who], data=sent: by.post(at, data))
            assert answer.status_code == status, name
    wrong = [
        *pages.wrong(lambda _: PAGE),
        *forms.wrong(lambda _: FORM),
    ]
    assert not wrong, "\n".join(wrong)
    assert not [page for page, by in pages.table.items() if not _shows(page, by[SIZES[0]][0])]


def _shows(page, status):
    """Nothing was counted that is not there, or is not for staff: but rows of records, which nobody adds or deletes."""
    page, _, name = page.rpartition(" by ")
    return status < 400 or (name == "staff" and status == 403 and page.endswith(("/add/", "/delete/")))
