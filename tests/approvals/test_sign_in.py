"""The sign-in page, ours and the admin's: too many tries are told the same way, whoever was tried."""

import re
import time

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db
PAGES = ["/sign-in/", "/admin/login/"]
RIGHT, WRONG = "pass-word-1", "pass-word-2"


@pytest.fixture(autouse=True)
def ada(world):
    return world.user("ada", is_staff=True)


def sign_in(page: str, name: str = "ada", password: str = WRONG, address: str = "192.0.2.7", client=None):
    client = client or Client(enforce_csrf_checks=False)
    return client.post(page, {"username": name, "password": password}, REMOTE_ADDR=address)


def says(response) -> str:
    """The page's words without what is random in it, or was typed."""
    return re.sub(r'value="[^"]*"|"X-CSRFToken": "\w+"', "", response.content.decode())


@pytest.mark.parametrize("page", PAGES)
def test_the_right_password_signs_in(page):
    client = Client()
    assert sign_in(page, password=RIGHT, client=client).status_code == 302
    assert "_auth_user_id" in client.session


@pytest.mark.parametrize("page", PAGES)
def test_too_many_tries(page):
    assert {sign_in(page).status_code for _ in range(6)} == {200}
    response = sign_in(page)
    assert response.status_code == 429 and 1 <= int(response.headers["Retry-After"]) <= 3
    assert "Too many tries. Wait" in response.content.decode()


@pytest.mark.parametrize("page", PAGES)
def test_the_right_password_waits_too(page):
    for _ in range(6):
        sign_in(page)
    client = Client()
    assert sign_in(page, password=RIGHT, client=client).status_code == 429
    assert "_auth_user_id" not in client.session


def test_both_pages_count_together():
    for page in PAGES * 3:
        sign_in(page)
    assert [sign_in(page).status_code for page in PAGES] == [429, 429]


@pytest.mark.parametrize("page", PAGES)
def test_nobody_learns_who_exists(page):
    for _ in range(7):
        there, nowhere = sign_in(page), sign_in(page, name="zoe", address="192.0.2.8")
        assert there.status_code == nowhere.status_code
        assert says(there) == says(nowhere)


def test_a_wait_ends(monkeypatch):
    for _ in range(6):
        sign_in(PAGES[0])
    now = time.time()
    monkeypatch.setattr("time.time", lambda: now + 4)
    assert sign_in(PAGES[0], password=RIGHT).status_code == 302


def test_whoever_signed_in_starts_anew():
    for _ in range(5):
        sign_in(PAGES[0])
    assert sign_in(PAGES[0], password=RIGHT).status_code == 302
    assert {sign_in(PAGES[0]).status_code for _ in range(5)} == {200}


def test_a_form_without_a_password_is_no_try():
    for _ in range(20):
        assert sign_in(PAGES[0], password="").status_code == 200
    assert sign_in(PAGES[0], password=RIGHT).status_code == 302


def test_a_made_up_address_is_not_believed():
    for n in range(6):
        Client().post(PAGES[0], {"username": "ada", "password": WRONG}, HTTP_X_FORWARDED_FOR=f"10.0.0.{n}")
    refused = Client().post(
        PAGES[0], {"username": "ada", "password": WRONG}, HTTP_X_FORWARDED_FOR="10.0.0.99"
    )
    assert refused.status_code == 429
