"""What a request says of its body's size, in whatever spelling a server lets through."""

import pytest

from checks import sizes


@pytest.mark.parametrize(
    ("said", "size"),
    [
        (None, 0), ("", 0), ("0", 0), ("17", 17), ("999999999999", 999_999_999_999),
        ("9" * 13, None), ("9" * 5000, None), ("²", None), ("٣", None), ("-1", None), ("1.5", None), ("x", None), (" 1", None),
    ],
)  # fmt: skip
def test_a_size_is_a_plain_number_or_none(said, size):
    assert sizes.told({} if said is None else {"CONTENT_LENGTH": said}) == size
