import json

import httpx
import pytest

from conformance import identities
from conformance.failures import CannotRunError
from conformance.identities import Identity, Session

GOOD = {
    "agents": [{"key": "k1"}, {"key": "k2"}],
    "people": [{"user": "ada", "password": "p", "value": "ada@example.org"}, {"bearer": "b"}],
    "operator": {"bearer": "o"},
    "session": {"signIn": "/in/", "csrfHeader": "X-Token"},
}
PAGE = '<form><input value="a&amp;b" type="hidden" name="csrfmiddlewaretoken"><input name="username"></form>'


def written(tmp_path, raw):
    path = tmp_path / "credentials.json"
    path.write_text(raw if isinstance(raw, str) else json.dumps(raw))
    return path


def test_a_file(tmp_path):
    found = identities.from_file(written(tmp_path, GOOD), sign_in=None, csrf_cookie="tok")
    assert [agent.bearer for agent in found.agents] == ["k1", "k2"]
    assert found.people[0].value == "ada@example.org"
    assert (found.session.sign_in, found.session.csrf_header, found.session.csrf_cookie) == (
        "/in/",
        "X-Token",
        "tok",
    )


@pytest.mark.parametrize(
    "changed",
    [{"agents": [{"key": "k"}]}, {"people": []}, {"operator": {}}, {"operator": {"user": "o"}}, {"operator": {"key": "k"}},
     {"session": {"path": "/"}}, {"agents": [{"key": 5}, {"key": "k"}]}],
)  # fmt: skip
def test_a_file_that_says_too_little_or_too_much(tmp_path, changed):
    with pytest.raises(CannotRunError):
        identities.from_file(written(tmp_path, GOOD | changed))


def test_a_file_that_is_none(tmp_path):
    for path in (tmp_path / "missing", written(tmp_path, "{"), written(tmp_path, "[]")):
        with pytest.raises(CannotRunError):
            identities.from_file(path)


def test_the_environment():
    given = {
        "CONFORMANCE_AGENT_1": "k1", "CONFORMANCE_AGENT_2": "k2", "CONFORMANCE_PERSON_1": "ada:p:ada@example.org",
        "CONFORMANCE_PERSON_2": "token", "CONFORMANCE_OPERATOR": "olga:p",
    }  # fmt: skip
    found = identities.from_environment(given)
    assert found.people[0] == Identity(user="ada", password="p", value="ada@example.org")
    assert found.people[1].bearer == "token"
    with pytest.raises(CannotRunError, match="CONFORMANCE_OPERATOR"):
        identities.from_environment({**given, "CONFORMANCE_OPERATOR": ""})


class SignIn:
    """A sign-in form that wants its token, and a tool that wants cookie and header."""

    def __init__(self):
        self.forms = []
        self.calls = []

    def __call__(self, request):
        if request.url.path == "/sign-in/" and request.method == "GET":
            return httpx.Response(200, text=PAGE, headers={"set-cookie": "csrftoken=cookie-1; Path=/"})
        if request.url.path == "/sign-in/":
            self.forms.append(request)
            fields = dict(httpx.QueryParams(request.content.decode()))
            if fields != {"username": "ada", "password": "p", "csrfmiddlewaretoken": "a&b"}:
                return httpx.Response(200, text=PAGE)
            cookies = [("set-cookie", "sessionid=s-1; Path=/"), ("set-cookie", "csrftoken=cookie-2; Path=/")]
            return httpx.Response(302, headers=[*cookies, ("location", "/")])
        self.calls.append(request)
        return httpx.Response(200, json={})


def client(handler):
    return httpx.Client(base_url="http://server:8000", transport=httpx.MockTransport(handler))


def test_signing_in_keeps_session_and_token():
    server = SignIn()
    http = client(server)
    identities.prove(http, Identity(user="ada", password="p"), Session(), "person 1")
    http.post("/v1/decide")
    call = server.calls[0]
    assert "sessionid=s-1" in call.headers["cookie"]
    assert call.headers["x-csrftoken"] == "cookie-2"
    assert call.headers["origin"] == "http://server:8000"
    assert server.forms[0].headers["referer"] == "http://server:8000/sign-in/"


@pytest.mark.parametrize(("password", "path"), [("wrong", "/sign-in/"), ("p", "/nowhere/")])
def test_a_wrong_password_or_no_form(password, path):
    server = SignIn()
    http = client(lambda request: server(request) if request.url.path == "/sign-in/" else httpx.Response(404))
    with pytest.raises(CannotRunError, match="person 1 can't sign in"):
        identities.prove(http, Identity(user="ada", password=password), Session(sign_in=path), "person 1")


def test_a_bearer_needs_no_form():
    http = client(lambda _: httpx.Response(200))
    identities.prove(http, Identity(bearer="token"), Session(), "agent 1")
    assert http.headers["authorization"] == "Bearer token"
