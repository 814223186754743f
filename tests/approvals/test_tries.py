"""How often somebody may try: free tries, growing waits, and who is counted as whom."""

import threading
from unittest import mock

import pytest

from approvals import tries
from approvals.tries import Try

START = 1_000_000.0


@pytest.fixture
def clock():
    """`clock.at += seconds`."""

    class Clock:
        at = START

    with mock.patch("time.time", side_effect=lambda: Clock.at):
        yield Clock


def fail(times: int, account: str = "ada", address: str = "192.0.2.7") -> list[int]:
    return [Try(account, address).begin() for _ in range(times)]


def test_the_first_are_free_and_then_the_wait_doubles(clock):
    assert fail(6) == [0] * 6  # five free ones, and one that makes the next wait
    waits = []
    for _ in range(12):
        wait = Try("ada", "192.0.2.7").begin()
        waits.append(wait)
        clock.at += wait
        assert Try("ada", "192.0.2.7").begin() == 0
    assert waits[:9] == [2, 4, 8, 16, 32, 64, 128, 256, 512]


def test_a_wait_never_grows_longer_than_a_quarter_of_an_hour(clock):
    for _ in range(60):
        clock.at += Try("ada", "192.0.2.7").begin()
    assert Try("ada", "192.0.2.7").begin() <= 900


def test_trying_while_waiting_changes_nothing(clock):
    fail(6)
    first, *_, last = fail(100)
    assert first == last == 2


def test_an_hour_later_all_is_forgotten(clock):
    fail(6)
    clock.at += 3601
    assert fail(6) == [0] * 6


def test_success_clears_the_account(clock):
    fail(5)
    Try("ada", "192.0.2.7").begin()
    Try("ada", "192.0.2.7").succeeded()
    assert fail(5) == [0] * 5


def test_elsewhere_the_owner_still_gets_in(clock):
    fail(6)
    assert fail(1)[0] and fail(1, address="198.51.100.1") == [0]


def test_many_addresses_are_one_account(clock):
    told = [fail(1, address=f"198.51.100.{n}")[0] for n in range(40)]
    assert told[:31] == [0] * 31 and all(told[31:])


def test_many_accounts_are_one_address(clock):
    told = [fail(1, account=f"user{n}")[0] for n in range(120)]
    assert told[:101] == [0] * 101 and all(told[101:])
    assert fail(1, account="new", address="198.51.100.1") == [0]


def test_an_own_account_clears_no_others_tries(clock):
    """Signing in between the guesses gains nothing."""
    for n in range(101):
        fail(1, account=f"user{n}")
    clock.at += 5
    own = Try("mallory", "192.0.2.7")
    assert own.begin() == 0
    own.succeeded()
    assert fail(1, account="another")[0] > 0


def test_names_are_the_same_however_they_are_written(clock):
    for name in ("ada", "ADA", " ada ", "\uff41da", "Ada"):
        fail(1, account=name)
    assert fail(2)[1] > 0


def test_at_once_no_more_get_through(clock):
    told, start = [], threading.Barrier(20)

    def one():
        start.wait()
        told.append(Try("ada", "192.0.2.7").begin())

    threads = [threading.Thread(target=one) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told.count(0) <= 6


def test_the_cache_holds_no_names():
    with mock.patch.object(tries.memory, "count", wraps=tries.memory.count) as count:
        fail(1, account="ada@example.org")
    assert "ada" not in str(count.call_args_list) and "192.0.2.7" not in str(count.call_args_list)
