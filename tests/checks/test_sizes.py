"""What a request says of its body's size, in whatever spelling a server lets through."""

import io

import pytest
from django.core.handlers.wsgi import WSGIRequest

from checks import sizes
from checks.judge.api import judge


@pytest.mark.parametrize(
    ("said", "size"),
    [
        (None, 0), ("", 0), ("0", 0), ("17", 17), ("999999999999", 999_999_999_999),
        ("9" * 13, None), ("9" * 5000, None), ("²", None), ("٣", None), ("-1", None), ("1.5", None), ("x", None), (" 1", None),
    ],
)  # fmt: skip
def test_a_size_is_a_plain_number_or_none(said, size):
    assert sizes.told({} if said is None else {"CONTENT_LENGTH": said}) == size


@pytest.mark.parametrize(("size", "left"), [(150_000, 0), (1_000_000, 0), (1_000_001, 1_000_001)])
def test_what_is_refused_unread_is_read_away_where_that_is_cheap(size, left):
    body = io.BytesIO(b"x" * size)
    request = WSGIRequest({
        "REQUEST_METHOD": "POST", "PATH_INFO": "/v1/judge", "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(size), "wsgi.input": body, "SERVER_NAME": "testserver", "SERVER_PORT": "80",
        "HTTP_AUTHORIZATION": "",
    })  # fmt: skip
    sizes.drain(request)
    assert len(body.read()) == left


@pytest.mark.django_db
def test_the_judges_door_reads_a_refused_body_away():
    body = io.BytesIO(b"x" * 150_000)
    response = judge(WSGIRequest({
        "REQUEST_METHOD": "POST", "PATH_INFO": "/v1/judge", "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": "150000", "wsgi.input": body, "SERVER_NAME": "testserver", "SERVER_PORT": "80",
    }))  # fmt: skip
    assert response.status_code == 401 and body.read() == b""
