"""The queue and the groups' rules in the admin."""

import pytest
from django.contrib.admin.utils import quote
from django.contrib.auth.models import Group, Permission, User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from approvals.models import GroupRule, QueueEntry
from tests.processes.staff import sign_in
from tests.world import SCREENING

pytestmark = pytest.mark.django_db
LIST = "admin:approvals_queueentry_changelist"


@pytest.fixture
def admin(client):
    return sign_in(client, superuser=True)


@pytest.fixture
def unsure(world, evaluator):
    world.publish(SCREENING, finance="finance", escalations="finance")
    agent = world.agent()
    evaluator.script = [[0.7]]

    def more(count):
        for _ in range(count):
            run = world.start(agent, supplier="<b>Acme</b>")
            world.submit(agent, world.claim(agent, run)["token"])

    return more


def test_the_queue_is_listed_with_links_to_its_cases(client, admin, unsure):
    unsure(1)
    html = client.get(reverse(LIST)).content.decode()
    entry = QueueEntry.objects.get()
    assert reverse("case", args=[entry.pk]) in html
    assert "&lt;b&gt;Acme&lt;/b&gt;" in html and "<b>Acme" not in html
    assert client.get(reverse("admin:approvals_queueentry_change", args=[quote(entry.pk)])).status_code == 200


def test_the_list_asks_no_more_for_more_rows(client, admin, unsure):
    def asked(count):
        unsure(count)
        client.get(reverse(LIST))
        with CaptureQueriesContext(connection) as queries:
            client.get(reverse(LIST))
        return len(queries)

    assert asked(3) == asked(27)


def test_every_filter_works(client, admin, unsure):
    unsure(2)
    changelist = client.get(reverse(LIST)).context["cl"]
    for spec in changelist.filter_specs:
        for choice in spec.choices(changelist):
            assert client.get(reverse(LIST) + choice["query_string"]).status_code == 200
    assert len(client.get(reverse(LIST), {"process": "screening"}).context["cl"].result_list) == 2
    assert len(client.get(reverse(LIST), {"q": "Acme"}).context["cl"].result_list) == 2


def test_nobody_changes_the_queue(client, admin, unsure):
    unsure(1)
    entry = QueueEntry.objects.get()
    assert client.get(reverse("admin:approvals_queueentry_add")).status_code == 403
    for name in ("change", "delete"):
        address = reverse(f"admin:approvals_queueentry_{name}", args=[quote(entry.pk)])
        assert client.post(address, {"post": "yes"}).status_code == 403
    assert QueueEntry.objects.exists()


def test_a_groups_rule_stands_on_the_groups_own_page(client, admin):
    group = Group.objects.create(name="finance")
    address = reverse("admin:auth_group_change", args=[group.pk])
    assert "rule-0-forbid_own_work" in client.get(address).content.decode()
    client.post(
        address,
        {
            "name": "finance",
            "rule-TOTAL_FORMS": 1,
            "rule-INITIAL_FORMS": 0,
            "rule-0-forbid_own_work": "on",
            "rule-0-group": group.pk,
        },
    )
    assert GroupRule.objects.get().group == group


@pytest.mark.parametrize("kind", ["user", "group"])
def test_whom_records_name_stays(client, admin, kind):
    """Another by the same name would inherit what they did."""
    Group.objects.create(name="finance")
    row = (User if kind == "user" else Group).objects.latest("pk")
    for address in (f"/admin/auth/{kind}/{row.pk}/delete/", f"/admin/auth/{kind}/"):
        client.post(address, {"post": "yes", "action": "delete_selected", "_selected_action": [row.pk]})
    assert type(row).objects.filter(pk=row.pk).exists()
    assert client.get(f"/admin/auth/{kind}/{row.pk}/change/").status_code == 200


def test_a_rule_is_changed_by_who_may(client):
    rule = GroupRule.objects.create(group=Group.objects.create(name="finance"))
    address = reverse("admin:approvals_grouprule_change", args=[rule.pk])
    user = sign_in(client)
    assert client.get(address).status_code == 403
    user.user_permissions.add(Permission.objects.get(codename="change_grouprule"))
    client.post(address, {"group": rule.group_id, "forbid_own_work": "on"})
    rule.refresh_from_db()
    assert rule.forbid_own_work


def test_the_queue_needs_the_view_permission(client, unsure):
    unsure(1)
    sign_in(client)
    assert client.get(reverse(LIST)).status_code == 403
