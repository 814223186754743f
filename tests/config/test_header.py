"""Whoever is signed in has the same header on every page of ours, on those that anybody may see too."""

import re

import pytest
from django.contrib.auth.models import Permission, User

pytestmark = pytest.mark.django_db
JUDGE = ["Try the judge", "Dashboard", "API"]
PEOPLE = {
    "approver": ({}, [], ["Queue"]),
    "viewer": ({"is_staff": True}, ["view_run"], ["Queue", "Runs", "Settings"]),
    "admin": ({"is_staff": True, "is_superuser": True}, [], ["Queue", "Runs", "Processes", "Settings"]),
}
OPEN = ["/try/", "/try/?kind=consensus", "/dashboard/", "/v1/docs"]


def header(page):
    nav = re.search(r'(?s)<nav class="cs-nav".*?</nav>', page).group()
    return [text.strip() for text in re.findall(r"<a [^>]*>([^<]*)", nav)]


@pytest.mark.parametrize("path", ["/", "/nothing-here/", *OPEN])
@pytest.mark.parametrize("name", PEOPLE)
def test_the_same_header_everywhere(client, world, name, path):
    columns, permissions, sections = PEOPLE[name]
    user = world.user(name, **columns)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client.force_login(User.objects.get(pk=user.pk))
    page = client.get(path).content.decode()
    assert header(page) == [*sections, *JUDGE]
    assert f"<strong>{name}</strong>" in page
    assert page.count('id="logout-form"') == page.count('class="theme-toggle"') == 1


def test_pages_of_the_admin_that_are_ours(client, world):
    client.force_login(world.user("admin", is_staff=True, is_superuser=True))
    page = client.get("/admin/processes/process/costs/").content.decode()
    assert header(page) == [*PEOPLE["admin"][2], *JUDGE]
    assert re.search(r'aria-current="page">Processes<', page)
    assert "cs-nav-keys" not in page, "the queue's keys mean nothing there"


@pytest.mark.parametrize("path", OPEN)
def test_whoever_is_not_signed_in_sees_what_anybody_may(client, path):
    page = client.get(path).content.decode()
    assert header(page) == JUDGE
    assert "logout-form" not in page and page.count('class="theme-toggle"') == 1
