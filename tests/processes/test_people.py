"""Who stands behind a step's `person`."""

import pytest
from django.contrib.auth.models import Group, User

from processes.engine import Assignee
from processes.people import Directory, person_value
from processes.versions import compiled
from tests.processes.flows import ERRAND

pytestmark = pytest.mark.django_db


@pytest.fixture
def about(world):
    return compiled(world.publish(ERRAND).pk)


def test_a_role_is_its_mapped_group(about, django_assert_num_queries):
    directory = Directory(about, None)
    finance = Group.objects.get(name="finance").pk
    with django_assert_num_queries(0):
        assert directory.role("finance") == Assignee(group=finance)
        assert directory.role("unknown") is None


def test_an_initiator_is_a_person_or_nobody(about):
    assert Directory(about, 7).initiator() == Assignee(person=7)
    assert Directory(about, None).initiator() is None


@pytest.mark.parametrize("value", ["ada", "ada@example.org", "ADA@Example.ORG", " ada@example.org "])
def test_a_person_by_mail_in_any_case_or_by_name(about, world, value):
    ada = world.user("ada")
    world.user("ben")
    assert Directory(about, None).person(value) == Assignee(person=ada.pk)


@pytest.mark.parametrize(
    "value", ["", "  ", None, 7, True, ["ada"], {"mail": "ada"}, "Ada", "gone", "twins@example.org", "é"]
)
def test_whom_nobody_can_tell(about, world, value):
    world.user("ada")
    world.user("gone", is_active=False)
    for name in ("castor", "pollux"):
        world.user(name)
        User.objects.filter(username=name).update(email="twins@example.org")
    assert Directory(about, None).person(value) is None


def test_a_mail_address_comes_before_another_ones_user_name(about, world, django_assert_num_queries):
    world.user("ada@example.org")  # whose own address is another one
    ada = world.user("ada")
    with django_assert_num_queries(1):
        assert Directory(about, None).person("ada@example.org") == Assignee(person=ada.pk)


def test_an_address_that_two_people_have_is_nobodys_even_where_a_third_bears_it_as_a_name(about, world):
    for name in ("ada", "twins@example.org", "ben", "cy"):
        world.user(name)
    User.objects.filter(username__in=["ada", "ben"]).update(email="twins@example.org")
    assert Directory(about, None).person("twins@example.org") is None


def test_one_who_is_gone_keeps_nobody_from_the_user_name(about, world):
    world.user("ada", is_active=False)
    named = world.user("ada@example.org")
    assert Directory(about, None).person("ada@example.org") == Assignee(person=named.pk)


def test_how_a_person_is_named(world):
    assert person_value(world.user("ada")) == "ada@example.org"
    assert person_value(User(username="nomail")) == "nomail"
