"""Settings from the environment, and what they say when they don't go together."""

from urllib.parse import quote

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import environment as env
from config import system_checks


@pytest.mark.parametrize(
    ("reader", "raw", "words"),
    [
        (lambda: env.flag("X", default=False), "maybe", "set it to 1 or 0"),
        (lambda: env.whole("X", 1), "ten", "a whole number"),
        (lambda: env.whole("X", 1, least=5), "4", "between 5"),
        (lambda: env.seconds("X", 1.0), "inf", "between"),
        (lambda: env.seconds("X", 1.0), "nan", "between"),
        (lambda: env.choice("X", "a", ["a", "b"]), "c", "one of a, b"),
        (lambda: env.redis("X"), "memcached://h", "use redis://"),
        (lambda: env.database("X", "x"), "mysql://h/db", "starts with 'mysql'"),
        (lambda: env.database("X", "x"), "postgres://h:port/db", "no port number"),
        (lambda: env.database("X", "x"), "postgres://h/db?ssl=1", "known are"),
        (lambda: env.database("X", "x"), "sqlite:///db?mode=ro", "no path alone"),
        (lambda: env.database("X", "x"), "sqlite:///a#b", "no path alone"),
        (lambda: env.database("X", "x"), "sqlite://var/db", "no path alone"),
        (lambda: env.database("X", "x"), "sqlite:///", "no path alone"),
    ],
)
def test_a_wrong_value_names_the_variable(monkeypatch, reader, raw, words):
    monkeypatch.setenv("X", raw)
    with pytest.raises(ImproperlyConfigured, match=words) as refused:
        reader()
    assert str(refused.value).startswith("X ")


def test_a_database_keeps_its_options(monkeypatch):
    monkeypatch.setenv("X", "postgres://u:p%40ss@h:5433/db?sslmode=require")
    found = env.database("X", "x")
    assert (found["PASSWORD"], found["PORT"], found["OPTIONS"]["sslmode"]) == ("p@ss", "5433", "require")


@pytest.mark.parametrize("path", ["/srv/a b#c/db", "/srv/100%/db", "/srv/a%41?x/db", "relative/db"])
def test_the_usual_database_is_where_its_folder_is_whatever_that_is_called(monkeypatch, path):
    monkeypatch.delenv("X", raising=False)
    assert env.database("X", path)["NAME"] == path
    monkeypatch.setenv("X", f"sqlite:///{quote(path)}")
    assert env.database("X", "x")["NAME"] == path


def test_a_database_that_went_away_is_noticed_in_seconds(monkeypatch):
    monkeypatch.setenv("X", "postgres://h/db?connect_timeout=9")
    options = env.database("X", "x")["OPTIONS"]
    assert options["connect_timeout"] == "9" and int(options["tcp_user_timeout"]) <= 30_000


def test_connections_are_kept_and_looked_at_before_they_are_used(monkeypatch):
    monkeypatch.setenv("X", "postgres://h/db")
    found = env.database("X", "x")
    assert found["CONN_MAX_AGE"] > 0 and found["CONN_HEALTH_CHECKS"] is True


@pytest.mark.parametrize(
    ("changes", "check", "ids"),
    [
        ({}, system_checks.site, []),
        ({"SITE_URL": "countersign"}, system_checks.site, ["config.E001"]),
        ({"SITE_URL": "http://elsewhere.org"}, system_checks.site, ["config.E002"]),
        ({"SITE_URL": "http://a.b.org", "ALLOWED_HOSTS": [".b.org"]}, system_checks.site, []),
        ({"DEBUG": True, "HTTPS": True}, system_checks.site, ["config.E003"]),
        ({}, system_checks.scale, []),
    ],
)
def test_combinations(settings, changes, check, ids):
    for name, value in changes.items():
        setattr(settings, name, value)
    found = check(None)
    assert [message.id for message in found] == ids
    assert all(message.hint for message in found)


def test_a_broker_needs_what_machines_share(settings, monkeypatch):
    monkeypatch.delenv("SECRET_KEY", raising=False)
    settings.CELERY_BROKER_URL = "amqp://localhost"
    settings.CELERY_RESULT_BACKEND = None
    ids = {message.id for message in system_checks.scale(None)}
    assert {"config.E005", "config.E006"} <= ids
