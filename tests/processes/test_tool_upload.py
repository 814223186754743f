"""upload: store a file, get its id and the hash that its bytes must keep."""

import base64
import hashlib

import pytest
from django.core.files.storage import default_storage
from django.db import OperationalError, connection

from processes import contracts, files
from processes.callers import NOBODY
from processes.models import Request, Upload

pytestmark = pytest.mark.django_db


def given(content: bytes = b"report", **changed: str) -> dict[str, str]:
    sent = {"fileName": "report.pdf", "contentType": "application/pdf"}
    return {**sent, "contentBase64": base64.b64encode(content).decode(), **changed}


def stored_files() -> set[str]:
    def walk(folder: str) -> set[str]:
        folders, files = default_storage.listdir(folder)
        below = (walk(f"{folder}/{name}" if folder else name) for name in folders)
        return {f"{folder}/{name}" for name in files}.union(*below)

    return walk("") if default_storage.exists("") else set()


def test_a_file_is_stored(world):
    agent = world.agent("worker")
    found = world.call(agent, "upload", **given())
    assert contracts.result_issues("upload", found) == []
    assert found == {"id": found["id"], "sha256": hashlib.sha256(b"report").hexdigest(), "bytes": 6}
    row = Upload.objects.get()
    assert (row.pk, row.file_name, row.content_type) == (found["id"], "report.pdf", "application/pdf")
    assert row.by == "agent:worker"
    with default_storage.open(row.path) as file:
        assert file.read() == b"report"


def test_ids_can_not_be_guessed_and_names_make_no_paths(world):
    agent = world.agent()
    ids = {world.call(agent, "upload", **given())["id"] for _ in range(3)}
    assert len(ids) == 3 and all(len(ref) == 34 and ref.startswith("f_") for ref in ids)
    assert not any("report" in row.path for row in Upload.objects.all())


def test_people_upload_too(world):
    world.call(world.person("ada"), "upload", **given())
    assert Upload.objects.get().by == "person:ada"


@pytest.mark.parametrize("name", ["a", "Bericht März.pdf", "x" * 255, "...", "a b'\"<c>.html", "日本.txt"])
def test_names_that_are_taken(world, name):
    world.call(world.agent(), "upload", **given(fileName=name))
    assert Upload.objects.get().file_name == name


@pytest.mark.parametrize("kind", ["text/plain", "text/plain; charset=utf-8", "image/svg+xml", "a/b.c-d"])
def test_media_types_that_are_taken(world, kind):
    world.call(world.agent(), "upload", **given(contentType=kind))


# ---- refusals


@pytest.mark.parametrize("name", ["a/b", "..\\b", "a\nb", "a\x7f", "\t"])
def test_names_that_are_refused(world, name):
    refused = world.refused(world.agent(), "upload", **given(fileName=name))
    assert (refused.code, len(refused.issues)) == ("invalid", 1)
    assert refused.issues[0].startswith("fileName: ")


@pytest.mark.parametrize("kind", ["text", "text/", "/plain", "text/plain\r\nX-Evil: 1", "text /plain", "é/é"])
def test_media_types_that_are_refused(world, kind):
    refused = world.refused(world.agent(), "upload", **given(contentType=kind))
    assert refused.issues == ["contentType: expected a media type such as text/plain"]


@pytest.mark.parametrize("content", ["not base64!", "YQ", "YQ=", "Y\nQ==", "YQ==YQ==", "é"])
def test_what_is_no_base64(world, content):
    refused = world.refused(world.agent(), "upload", **given(contentBase64=content))
    assert (refused.code, refused.issues) == ("invalid", ["contentBase64: not base64"])


def test_the_largest_file_and_one_byte_more(world, settings):
    settings.MAX_UPLOAD_BYTES = 64
    agent = world.agent()
    assert world.call(agent, "upload", **given(b"x" * 64))["bytes"] == 64
    refused = world.refused(agent, "upload", **given(b"x" * 65))
    assert (refused.code, refused.issues) == ("invalid", ["contentBase64: 65 bytes, at most 64"])


def test_every_issue_at_once_and_nothing_stored(world):
    before = stored_files()
    sent = given(fileName="a/b", contentType="x", contentBase64="?")
    assert len(world.refused(world.agent(), "upload", **sent).issues) == 3
    assert stored_files() == before and not Upload.objects.exists() and not Request.objects.exists()


@pytest.mark.parametrize("missing", ["fileName", "contentType", "contentBase64"])
def test_arguments(world, missing):
    agent = world.agent()
    assert world.refused(agent, "upload", **given(**{missing: ""})).issues == [f"{missing}: empty"]
    assert world.refused(agent, "upload", **given(**{missing: None})).code == "invalid"
    assert world.refused(agent, "upload", **given(), runId="r").code == "invalid"


def test_nobody_uploads_nothing(world):
    assert world.refused(NOBODY, "upload", **given()).code == "forbidden"


def test_a_write_that_fails_takes_its_bytes_back(world, monkeypatch):
    def broken(*_args, **_kwargs):
        raise RuntimeError("the database went away")

    before = stored_files()
    monkeypatch.setattr(Upload, "save", broken)
    with pytest.raises(RuntimeError):
        world.call(world.agent(), "upload", **given())
    assert stored_files() == before


def test_a_replay_stores_nothing_new(world):
    agent = world.agent()
    first = world.call(agent, "upload", **given(), requestId="same")
    before = stored_files()
    assert world.call(agent, "upload", **given(), requestId="same") == first
    assert stored_files() == before and Upload.objects.count() == 1
    assert world.refused(agent, "upload", **given(b"other"), requestId="same").code == "conflict"


@pytest.mark.django_db(transaction=True)
def test_a_commit_that_gets_no_answer_keeps_the_bytes(world, monkeypatch):
    """It may have happened: then the id is somebody's, and the same call is told so."""
    agent = world.agent()
    commit = connection.commit

    def lost(*_args):
        monkeypatch.undo()
        commit()
        raise OperationalError("the connection was closed")

    monkeypatch.setattr(connection, "commit", lost)
    assert world.refused(agent, "upload", **given(), requestId="same").code == "retry"
    kept = world.call(agent, "upload", **given(), requestId="same")
    assert files.verify({kept["id"]})[kept["id"]][1] is None
