"""A process's list and pages: editing a draft, mapping its roles, publishing it, reading versions."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from processes import publishing
from processes.models import Process, Version
from processes.publishing import draft
from tests.processes.staff import AUTHOR, VIEW, logged, sign_in
from tests.processes.test_publishing import PLAIN, published
from tests.world import SCREENING

pytestmark = pytest.mark.django_db


@pytest.fixture
def author(client):
    return sign_in(client, *AUTHOR, "view_run")


def page_of(version):
    return reverse("admin:processes_version", args=[version.process_id, version.pk])


def form_of(client, version, **changes):
    """What the page of a draft sends when nothing is typed."""
    context = client.get(page_of(version)).context
    entered, roles = context["entered"], context["roles"]
    chosen = {field.name: field.value() or "" for field in roles}
    sent = {
        "text": entered.text,
        "change": entered.change,
        "seen": entered.seen,
        **chosen,
        "action": "publish",
    }
    return {**sent, **changes}


def choices(world):
    return {"role-staff": world.group("Staff").pk, "role-boss": world.group("Bosses").pk}


# publishing


def test_a_mapped_draft_is_published(client, author, world):
    version = draft(PLAIN, by="person:ada")
    sent = form_of(client, version, **choices(world), escalations=world.group("Desk").pk)
    html = client.post(page_of(version), sent, follow=True).content.decode()
    version.refresh_from_db()
    assert (version.number, version.published_by, version.escalations.name) == (1, "person:ada", "Desk")
    assert dict(version.roles.values_list("name", "group__name")) == {"staff": "Staff", "boss": "Bosses"}
    assert "Version 1 of leave is published." in html and "In use" in html
    assert logged() == ["Published version 1."]


def test_the_proposed_mapping_is_preselected(client, author, world):
    published(world, staff="Staff", boss="Bosses", escalations="Desk")
    version = draft(PLAIN + "More.", by="person:ada")
    sent = form_of(client, version)
    assert sent["role-staff"] == world.group("Staff").pk
    client.post(page_of(version), sent)
    assert Version.objects.get(pk=version.pk).escalations.name == "Desk"


def test_a_role_without_a_group_is_said_beside_its_field(client, author, world):
    version = draft(PLAIN, by="person:ada")
    html = client.post(page_of(version), form_of(client, version)).content.decode()
    assert "Nothing was published." in html and "Choose a group for boss." in html
    assert 'aria-invalid="true"' in html
    assert publishing.latest("leave") is None and logged() == []


@pytest.mark.parametrize("group", ["999", "x"])
def test_a_group_that_is_not_there_is_refused(client, author, world, group):
    version = draft(PLAIN, by="person:ada")
    sent = form_of(client, version, **{**choices(world), "role-boss": group})
    html = client.post(page_of(version), sent).content.decode()
    assert "Nothing was published." in html
    assert "That group no longer exists. Choose another one for boss." in html
    assert publishing.latest("leave") is None


def test_what_this_server_can_not_run_is_an_issue(client, author, world):
    version = draft(SCREENING, by="person:ada")
    page = client.get(page_of(version))
    assert "Version 1 is refused with 1 issue." in page.content.decode()
    assert 'value="publish" disabled' in page.content.decode()
    sent = form_of(client, version, **{"role-finance": world.group("finance").pk})
    assert "No evaluator is configured" in client.post(page_of(version), sent).content.decode()
    assert publishing.latest("screening") is None


def test_a_changed_text_is_not_published_unread(client, author, world):
    version = draft(PLAIN, by="person:ada")
    sent = form_of(client, version, text=PLAIN + "More.", **choices(world))
    html = client.post(page_of(version), sent).content.decode()
    assert "You changed the text, so nothing was published." in html and "More.</textarea>" in html
    assert f'value="{world.group("Bosses").pk}" selected' in html


def test_a_draft_that_somebody_else_changed_is_not_published(client, author, world):
    version = draft(PLAIN, by="person:ada")
    sent = form_of(client, version, **choices(world))
    draft(PLAIN + "More.", by="person:ben")
    html = client.post(page_of(version), sent).content.decode()
    assert "Somebody changed the draft meanwhile" in html
    assert publishing.latest("leave") is None


def test_a_second_click_publishes_nothing_more(client, author, world):
    version = draft(PLAIN, by="person:ada")
    sent = form_of(client, version, **choices(world))
    client.post(page_of(version), sent)
    html = client.post(page_of(version), sent).content.decode()
    assert "Version 1 was published meanwhile" in html
    assert Version.objects.count() == 1 and logged() == ["Published version 1."]


def test_the_same_again_is_not_a_version(client, author, world):
    published(world)
    version = draft(PLAIN, by="person:ada")
    html = client.post(page_of(version), form_of(client, version)).content.decode()
    assert "Version 1 says the same already" in html
    assert publishing.latest("leave").number == 1


# editing


def test_a_draft_is_kept_with_its_groups_in_mind(client, author, world):
    version = draft(PLAIN, by="person:ada")
    sent = form_of(client, version, text=PLAIN + "More.", change="more", action="save", **choices(world))
    response = client.post(page_of(version), sent, follow=True)
    assert Version.objects.get().text == PLAIN + "More."
    assert response.context["roles"]["role-boss"].value() == str(world.group("Bosses").pk)
    assert logged() == ["Kept a draft. more"]


def test_checking_keeps_the_text_and_the_groups(client, author, world):
    version = draft(PLAIN, by="person:ada")
    sent = form_of(client, version, text=PLAIN.replace("finish:", "finsh:"), action="check", **choices(world))
    response = client.post(page_of(version), sent)
    html = response.content.decode()
    assert "finsh: granted" in html and response.context["issues"]
    assert f'name="role-boss" value="{world.group("Bosses").pk}"' in html
    assert Version.objects.get().text == PLAIN


def test_somebody_elses_draft_is_replaced_only_when_asked_twice(client, author, world):
    version = draft(PLAIN, by="person:ada")
    sent = form_of(client, version, text=PLAIN + "Mine.", action="save")
    draft(PLAIN + "Theirs.", by="person:ben")
    response = client.post(page_of(version), sent)
    assert "leave has a draft already, by person:ben" in response.content.decode()
    assert "Mine.</textarea>" in response.content.decode()
    assert Version.objects.get().text == PLAIN + "Theirs."
    client.post(page_of(version), {**sent, "seen": response.context["entered"].seen})
    assert Version.objects.get().text == PLAIN + "Mine."


def test_a_draft_keeps_its_name(client, author):
    version = draft(PLAIN, by="person:ada")
    sent = form_of(client, version, text=PLAIN.replace("name: leave", "name: holiday"), action="save")
    assert "This is the page of leave" in client.post(page_of(version), sent).content.decode()
    assert list(Process.objects.values_list("name", flat=True)) == ["leave"]


def test_a_published_text_is_only_read(client, author, world):
    version = published(world)
    html = client.get(page_of(version)).content.decode()
    assert "<textarea" not in html and "Ask for leave." in html
    sent = {"text": PLAIN + "More.", "action": "save", "seen": ""}
    assert "was published meanwhile" in client.post(page_of(version), sent).content.decode()
    assert Version.objects.get().text == PLAIN


# reading


def test_differences_to_the_version_before_are_marked_and_escaped(client, author, world):
    published(world)
    version = draft(PLAIN.replace("Ask for leave.", "<b>Ask</b>."), by="person:ada")
    html = client.get(page_of(version)).content.decode()
    assert "Differences to version 1" in html
    assert "<del>" in html and "<ins>" in html
    assert "description: &lt;b&gt;Ask&lt;/b&gt;." in html and "<b>Ask</b>" not in html


def test_versions_are_listed_with_their_runs(client, author, world):
    first = published(world)
    person = world.person("eve", "Staff")
    world.call(person, "start_run", process="leave", inputs={})
    published(world, PLAIN + "More.")
    draft(PLAIN + "Even more.", by="person:ada")
    versions = list(client.get(page_of(first)).context["versions"])
    assert [(v.number, v.run_count) for v in versions] == [(None, 0), (2, 0), (1, 1)]


def test_the_page_of_a_process_is_its_draft_else_the_version_in_use(client, author, world):
    version = published(world)
    address = reverse("admin:processes_process_change", args=[version.process_id])
    assert client.get(address)["Location"] == page_of(version)
    newer = draft(PLAIN + "More.", by="person:ada")
    assert client.get(address)["Location"] == page_of(newer)
    assert client.get(reverse("admin:processes_process_change", args=[999])).status_code == 404


def test_a_version_of_another_process_is_not_found(client, author, world):
    version = published(world)
    address = reverse("admin:processes_version", args=[version.process_id + 1, version.pk])
    assert client.get(address).status_code == 404


# permissions


def test_a_reader_reads_and_changes_nothing(client, world):
    sign_in(client, *VIEW)
    version = draft(PLAIN, by="person:ben")
    html = client.get(page_of(version)).content.decode()
    assert 'name="action"' not in html and " readonly" in html
    for action in ("check", "save", "publish"):
        sent = {"text": PLAIN + "More.", "action": action, **choices(world)}
        assert client.post(page_of(version), sent).status_code == 403
    assert Version.objects.get().text == PLAIN and logged() == []


@pytest.mark.parametrize("name", ["changelist", "add"])
def test_staff_without_permissions_see_nothing(client, world, name):
    version = published(world)
    sign_in(client)
    assert client.get(reverse(f"admin:processes_process_{name}")).status_code == 403
    assert client.get(page_of(version)).status_code == 403
    change = reverse("admin:processes_process_change", args=[version.process_id])
    assert client.get(change).status_code == 403


def test_nobody_deletes_a_process(client, world):
    sign_in(client, superuser=True)
    version = published(world)
    assert (
        client.post(reverse("admin:processes_process_delete", args=[version.process_id])).status_code == 403
    )


# the list


def test_the_list_says_what_is_in_use(client, author, world):
    published(world)
    draft(PLAIN + "More.", by="person:ada")
    draft(PLAIN.replace("name: leave", "name: other"), by="person:ada")
    rows = client.get(reverse("admin:processes_process_changelist")).context["cl"].result_list
    assert [(row.name, row.in_use, row.has_draft, row.run_count) for row in rows] == [
        ("leave", 1, True, 0),
        ("other", None, True, 0),
    ]


@pytest.mark.parametrize(
    ("standing", "names"),
    [("use", ["leave"]), ("draft", ["other"]), ("retired", ["old"]), ("", ["leave", "old", "other"])],
)
def test_the_list_is_filtered_by_standing(client, author, world, standing, names):
    published(world)
    draft(PLAIN.replace("name: leave", "name: other"), by="person:ada")
    publishing.retire(published(world, PLAIN.replace("name: leave", "name: old")).process, retired=True)
    rows = client.get(reverse("admin:processes_process_changelist"), {"standing": standing}).context["cl"]
    assert [row.name for row in rows.result_list] == names


def test_the_list_asks_no_more_for_more_rows(client, author, world):
    address = reverse("admin:processes_process_changelist")

    def asked(count):
        for number in range(Process.objects.count(), count):
            published(world, PLAIN.replace("name: leave", f"name: leave-{number}"))
        client.get(address)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            client.get(address)
        return queries.captured_queries

    few, many = asked(3), asked(30)
    assert len(few) == len(many)
    assert not any('"text"' in query["sql"] for query in many)


def test_processes_are_retired_and_taken_back(client, author, world):
    process = published(world).process
    address = reverse("admin:processes_process_changelist")
    client.post(address, {"action": "retire", "_selected_action": [process.pk]})
    process.refresh_from_db()
    assert process.retired_at is not None
    client.post(address, {"action": "take_back", "_selected_action": [process.pk]})
    process.refresh_from_db()
    assert process.retired_at is None
    assert logged() == ["Retired.", "Taken back into use."]


def test_a_reader_has_no_actions(client, world):
    sign_in(client, *VIEW)
    process = published(world).process
    client.post(
        reverse("admin:processes_process_changelist"), {"action": "retire", "_selected_action": [process.pk]}
    )
    process.refresh_from_db()
    assert process.retired_at is None
