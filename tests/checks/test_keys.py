import re
from datetime import timedelta

import pytest
from django.utils import timezone

from checks import keys
from checks.models import Key

pytestmark = pytest.mark.django_db


def test_a_key_is_found_by_its_text_in_one_statement(django_assert_num_queries):
    key, text = keys.issue("screening agent")
    with django_assert_num_queries(1):
        assert keys.find(text) == key


def test_the_text_is_random_and_its_secret_is_not_kept():
    key, text = keys.issue("screening agent")
    other, other_text = keys.issue("screening agent")
    assert re.fullmatch(r"cs_[a-z0-9]{10}_[A-Za-z0-9_-]{43}", text)
    assert text != other_text
    assert key.prefix != other.prefix
    row = Key.objects.filter(pk=key.pk).values().get()
    assert all(text[-43:] not in str(value) for value in row.values())


@pytest.mark.parametrize(
    "text",
    [
        "", "cs_", "cs__", "Bearer x", "cs_abcdefghij_", "cs_abcdefghij_short", "cs_abc_" + "x" * 43,
        "cs_abcdefghij_" + "x" * 44, "cs_ABCDEFGHIJ_" + "x" * 43, "cs_abcdefghij_" + "x" * 42 + "!",
        "cs_abcdefghij_" + "x" * 43 + "\n", " cs_abcdefghij_" + "x" * 43, "cs_abc\x00efghij_" + "x" * 43,
        "xx_abcdefghij_" + "x" * 43, "cs_abcdefghij_" + "é" * 43, "cs_" + "x" * 100_000,
    ],
)  # fmt: skip
def test_what_has_not_the_shape_of_a_key_asks_nobody(text, django_assert_num_queries):
    with django_assert_num_queries(0):
        assert keys.parse_prefix(text) is None
        assert keys.find(text) is None


def test_an_unknown_prefix_is_nobody():
    assert keys.find("cs_abcdefghij_" + "x" * 43) is None


def test_a_wrong_secret_is_nobody():
    _, text = keys.issue("screening agent")
    wrong = text[:-1] + ("A" if text[-1] != "A" else "B")
    assert keys.find(wrong) is None


def test_the_secret_of_another_key_is_nobody():
    key, text = keys.issue("a")
    other, other_text = keys.issue("b")
    mixed = f"cs_{key.prefix}_{other_text[-43:]}"
    assert keys.find(mixed) is None
    assert not keys.proves(other, text)


def test_the_digest_is_no_secret():
    key, _ = keys.issue("a")
    assert keys.find(f"cs_{key.prefix}_{key.digest[:43]}") is None


@pytest.mark.parametrize("known", [True, False])
def test_the_same_comparison_is_made_whether_or_not_the_prefix_is_known(known, monkeypatch):
    _, text = keys.issue("a")
    text = text if known else "cs_abcdefghij_" + "x" * 43
    compared = []
    monkeypatch.setattr(keys.hmac, "compare_digest", lambda a, b: compared.append((len(a), len(b))) or a == b)
    keys.find(text)
    assert compared == [(64, 64)]


def test_a_caller_with_tables_of_its_own_proves_the_row_it_found():
    _, text = keys.issue("a")
    found = Key.objects.filter(prefix=keys.parse_prefix(text)).first()
    assert keys.proves(found, text)
    assert not keys.proves(None, text)
    assert not keys.proves(found, "")


def test_a_revoked_key_is_nobody():
    key, text = keys.issue("a")
    at = timezone.now()
    assert keys.revoke(key, at)
    assert key.revoked_at == at
    assert keys.find(text) is None
    assert not keys.proves(key, text)


def test_revoking_again_keeps_the_first_time():
    key, _ = keys.issue("a")
    at = timezone.now()
    stale = Key.objects.get(pk=key.pk)
    keys.revoke(key, at)
    assert not keys.revoke(stale, at + timedelta(hours=1))
    assert stale.revoked_at == at


@pytest.mark.parametrize("label", ["", "  ", "x" * 101])
def test_a_key_belongs_to_somebody(label):
    with pytest.raises(ValueError, match="label"):
        keys.issue(label)
    assert Key.objects.count() == 0


def test_a_key_never_shows_its_secret():
    key, text = keys.issue("screening agent")
    assert str(key) == f"screening agent ({key.prefix}…)"
    assert text[-43:] not in repr(key)


def test_a_save_names_its_columns():
    key, _ = keys.issue("a")
    with pytest.raises(TypeError, match="update_fields"):
        key.save()
