"""Cursors: opaque, ours alone."""

import base64
from datetime import UTC, datetime

import pytest
from django.core import signing

from processes import paging
from processes.errors import ToolError

AT = datetime(2026, 11, 30, 9, 0, 0, 123456, tzinfo=UTC)


@pytest.mark.parametrize("key", [(AT, 12), (AT, "w_1"), ("vendor-check",), ("é",)])
def test_a_key_comes_back(key):
    assert paging.decode(paging.encode(*key), *map(type, key)) == list(key)


def test_a_cursor_is_plain_text_of_a_length_that_the_contract_takes():
    cursor = paging.encode(AT, "w_" + "0" * 38)
    assert cursor.isascii() and len(cursor) <= 500


def signed(text: str) -> str:
    return base64.urlsafe_b64encode(signing.Signer(salt=paging._SALT).sign(text).encode()).decode()


@pytest.mark.parametrize(
    "cursor",
    [
        "", "x", "é", "=", "a" * 400, base64.b64encode(b"\xff\xfe").decode(),
        base64.urlsafe_b64encode(b'["2026-11-30T09:00:00+00:00", 12]').decode(),
        signed("[]"), signed('["2026-11-30T09:00:00+00:00"]'), signed('["yesterday", 12]'),
        signed('[12, "x"]'), signed("12"), signed("null"), signed("{"),
        paging.encode(AT, 12)[:-4], paging.encode("a", 12), paging.encode(AT, 12, 13),
    ],
)  # fmt: skip
def test_what_is_no_cursor_of_this_list_is_invalid(cursor):
    with pytest.raises(ToolError) as refused:
        paging.decode(cursor, datetime, int)
    assert (refused.value.code, refused.value.issues) == ("invalid", ["cursor: unknown"])
