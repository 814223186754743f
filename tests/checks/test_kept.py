"""What every process keeps for some seconds: who asks whom, and how a change is noticed."""

import pytest
from django.db import transaction

from checks import memory
from checks.kept import Kept


class Table:
    """What would be in the database."""

    def __init__(self):
        self.value, self.reads = "first", 0

    def read(self):
        self.reads += 1
        return self.value


@pytest.fixture
def table():
    return Table()


@pytest.fixture
def kept(table):
    return Kept("test-kept", table.read)


def test_it_is_read_once(table, kept):
    assert [kept.current(), kept.current(), kept.known()] == ["first"] * 3
    assert table.reads == 1


def test_what_is_known_is_asked_of_nobody(table, kept, monkeypatch):
    assert kept.known() is None and table.reads == 0
    kept.current()
    monkeypatch.setattr(memory, "get", lambda _: pytest.fail("the cache was asked"))
    table.value = "second"
    assert kept.known() == "first"


@pytest.mark.django_db(transaction=True)
def test_a_change_is_told_to_the_others_when_it_can_be_read(table, kept):
    other = Kept("test-kept", table.read)
    assert (kept.current(), other.current()) == ("first", "first")
    with transaction.atomic():
        table.value = "second"
        kept.changed()
        assert other.current() == "first"  # nothing is told within the transaction
    assert (kept.current(), other.current()) == ("second", "second")


@pytest.mark.django_db(transaction=True)
def test_who_read_it_before_the_change_could_be_read_reads_it_again(table, kept):
    kept.current()
    with transaction.atomic():
        kept.changed()
        kept.current()  # another thread, which still sees what was
        table.value = "second"
    assert kept.current() == "second"
