"""A form larger than any page's is refused before its files are read."""

from unittest import mock

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

pytestmark = pytest.mark.django_db
UNREAD = mock.patch(
    "django.http.request.HttpRequest._load_post_and_files", side_effect=AssertionError("read")
)


@pytest.fixture
def browser(world, settings):
    settings.MAX_FORM_BYTES = 2000
    client = Client(enforce_csrf_checks=True, raise_request_exception=True)
    client.force_login(world.user("ada"))
    return client


def send(client, size: int, **headers):
    files = {"files": SimpleUploadedFile("large.bin", b"x" * size)}
    return client.post("/items/w_0/decide/", files, headers=headers)


def test_a_page_says_so(browser):
    with UNREAD:
        response = send(browser, 3000)
    assert response.status_code == 413
    assert "larger than 2.0 KB and was not sent" in response.content.decode()
    assert "back button" in response.content.decode()


def test_a_fragment_leaves_the_form_as_it_is(browser):
    with UNREAD:
        response = send(browser, 3000, HX_Request="true")
    assert (response.status_code, response.headers["HX-Retarget"]) == (200, "#toasts")
    text = response.content.decode()
    assert "Attach fewer or smaller files" in text and "<html" not in text


def test_what_fits_goes_on(browser):
    assert send(browser, 100).status_code == 403  # to the CSRF check, which this form does not pass


@pytest.mark.parametrize(
    ("name", "value"), [("CONTENT_LENGTH", "many"), ("HTTP_TRANSFER_ENCODING", "chunked")]
)
def test_a_size_that_nobody_can_tell(browser, name, value):
    with UNREAD:
        assert browser.post("/sign-in/", {"a": "b"}, **{name: value}).status_code == 413


def test_the_rest_door_has_bounds_of_its_own(browser):
    response = browser.post("/v1/claim", b"x" * 3000, content_type="application/json")
    assert response.status_code != 413


@pytest.mark.parametrize(
    "address",
    [
        "/admin/processes/run/%00/change/",
        "/admin/processes/historyentry/?run__id__exact=a%00b",
        "/admin/processes/run/?q=%00",
    ],
)
def test_an_address_with_a_nul_leads_nowhere(address):
    """PostgreSQL has no such character, and would make it a 500."""
    client = Client(raise_request_exception=False)
    client.force_login(User.objects.create_superuser("root"))
    assert client.get(address).status_code == 404
