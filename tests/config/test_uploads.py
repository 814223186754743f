"""Where files are kept: a folder, or a bucket that nobody but the server reads."""

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.files.storage import storages
from django.test import override_settings

from config import system_checks, uploads
from processes import files
from tests.servers import s3

KEYS = {"S3_ACCESS_KEY_ID": "id", "S3_SECRET_ACCESS_KEY": "very-secret"}


@pytest.fixture
def env(monkeypatch):
    def put(**values):
        for name in ("S3_BUCKET", "UPLOADS_DIR", *uploads.NAMES):
            monkeypatch.delenv(name, raising=False)
        for name, value in values.items():
            monkeypatch.setenv(name, value)

    put()
    return put


def ids() -> list[str | None]:
    found = system_checks.storage(None)
    assert all(message.hint for message in found)
    assert "very-secret" not in str(found)
    return [message.id for message in found]


def test_a_folder_is_for_its_owner_only(env):
    assert uploads.storage()["OPTIONS"] == {
        "file_permissions_mode": 0o600,
        "directory_permissions_mode": 0o700,
    }
    assert ids() == []


def test_a_bucket_is_private(env):
    env(S3_BUCKET="b", S3_PREFIX="/countersign/", **KEYS)
    options = uploads.storage()["OPTIONS"]
    assert (options["default_acl"], options["querystring_auth"], options["custom_domain"]) == (
        None,
        True,
        None,
    )
    assert (options["bucket_name"], options["location"]) == ("b", "countersign")
    assert ids() == []


def test_without_keys_the_machines_own_are_used(env):
    env(S3_BUCKET="b")
    assert "access_key" not in uploads.storage()["OPTIONS"] and ids() == []


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"S3_REGION": "eu-central-1"}, ["config.E007"]),
        (KEYS, ["config.E007"]),
        ({"S3_BUCKET": "b", "S3_ACCESS_KEY_ID": "id"}, ["config.E009"]),
        ({"S3_BUCKET": "b", "S3_SECRET_ACCESS_KEY": "very-secret"}, ["config.E009"]),
        ({"S3_BUCKET": "b", "S3_ENDPOINT_URL": "store:9000"}, ["config.E010"]),
        ({"S3_BUCKET": "b", "S3_ENDPOINT_URL": "http://store:9000", **KEYS}, []),
    ],
)
def test_half_a_configuration_is_told(env, values, expected):
    env(**values)
    assert ids() == expected


def test_the_packages_are_asked_for(env, monkeypatch):
    env(S3_BUCKET="b")
    monkeypatch.setattr(uploads, "find_spec", {}.get)
    assert ids() == ["config.E008"]
    assert "client_config" not in uploads.storage()["OPTIONS"]


def test_machines_that_share_a_broker_share_their_files(env, settings):
    settings.CELERY_BROKER_URL = "redis://localhost"
    assert ids() == ["config.W001"]
    env(UPLOADS_DIR="/srv/uploads")
    assert ids() == []
    env(S3_BUCKET="b")
    assert ids() == []


def test_a_wrong_addressing_stops_the_start(env):
    env(S3_BUCKET="b", S3_ADDRESSING="sideways")
    with pytest.raises(ImproperlyConfigured, match="S3_ADDRESSING"):
        uploads.storage()


@pytest.fixture
def store(env):
    with s3.serve() as found:
        env(S3_BUCKET="bucket", S3_ENDPOINT_URL=found.url, S3_REGION="x", S3_ADDRESSING="path", **KEYS)
        with override_settings(STORAGES={**storages.backends, "default": uploads.storage()}):
            yield found


@pytest.mark.django_db
def test_files_live_in_the_store(store):
    upload = files.store(b"report", file_name="r.txt", content_type="text/plain", by="agent:a")
    upload.save(force_insert=True)
    path = f"/bucket/{upload.path}"
    assert store.objects == {path: b"report"}
    (put,) = [headers for method, _, headers in store.asked if method == "PUT"]
    assert put["authorization"].startswith("AWS4-HMAC-SHA256 ")
    assert not [name for name in put if "acl" in name or "grant" in name]
    read = files.read(upload)
    assert read is not None and read.read() == b"report"
    assert files.verify({upload.pk})[upload.pk][1] is None
    store.objects[path] = b"changed"
    assert files.verify({upload.pk})[upload.pk][1] == "changed since it was uploaded"
    files.discard(upload)
    assert store.objects == {} and files.read(upload) is None
    assert files.verify({upload.pk})[upload.pk][1] == "its bytes are gone"


@pytest.mark.django_db
def test_addresses_are_the_servers_own(store, settings):
    """Nobody is sent to the store."""
    upload = files.store(b"report", file_name="r.txt", content_type="text/plain", by="agent:a")
    assert files.url(upload.pk).startswith(f"{settings.SITE_URL}/v1/files/")
    assert store.url not in files.url(upload.pk)
