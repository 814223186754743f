"""Uploaded files: stored bytes, who may cite them, signed addresses."""

import time
from unittest import mock

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from processes import files
from processes.errors import ToolError
from processes.models import Upload

pytestmark = pytest.mark.django_db


def stored(content: bytes = b"report", by: str = "agent:a") -> Upload:
    upload = files.store(content, file_name="r.txt", content_type="text/plain", by=by)
    upload.save(force_insert=True)
    return upload


def test_the_bytes_are_written_and_the_row_is_the_callers_to_save():
    upload = files.store(b"report", file_name="r.txt", content_type="text/plain", by="agent:a")
    assert not Upload.objects.exists()
    assert default_storage.exists(upload.path) and upload.size == 6
    files.discard(upload)
    assert not default_storage.exists(upload.path)


def test_same_bytes_twice_are_two_files():
    assert stored().path != stored().path


def test_refs_are_those_of_files():
    evidence = [
        {"kind": "file", "ref": "f_1"},
        {"kind": "link", "ref": "f_2"},
        {"kind": "file", "ref": "f_1"},
    ]
    assert files.refs(evidence) == {"f_1"}


def test_verify_names_what_is_wrong(django_assert_num_queries):
    sound, changed, gone = stored(), stored(), stored()
    default_storage.delete(gone.path)
    default_storage.delete(changed.path)
    default_storage.save(changed.path, ContentFile(b"other"))
    with django_assert_num_queries(1):
        found = files.verify({sound.pk, changed.pk, gone.pk, "f_none"})
    assert {ref: wrong for ref, (_, wrong) in found.items()} == {
        sound.pk: None,
        changed.pk: "changed since it was uploaded",
        gone.pk: "its bytes are gone",
    }
    with django_assert_num_queries(0):
        assert files.verify(set()) == {}


@pytest.mark.parametrize(
    ("by", "cited", "there"), [("agent:a", False, True), ("agent:b", True, True), ("agent:b", False, False)]
)
def test_who_may_cite_it(by, cited, there):
    upload = stored()
    known = files.citable(files.verify({upload.pk}), by=by, cited={upload.pk} if cited else set())
    assert set(known) == ({upload.pk} if there else set())


def signature(upload: Upload) -> str:
    return files.url(upload.pk).rpartition("/")[2]


def refused(address: str, message: str) -> None:
    with pytest.raises(ToolError, match=message) as error:
        files.opened(address)
    assert error.value.code == "not_found"


def test_an_address_opens_its_file(settings):
    settings.SITE_URL = "https://x.example"
    upload = stored()
    assert files.url(upload.pk).startswith(f"https://x.example/v1/files/{upload.pk}:")
    assert files.opened(signature(upload)) == upload
    file = files.read(upload)
    assert file is not None and file.read() == b"report"
    file.close()


def test_addresses_that_open_nothing():
    upload = stored()
    address = signature(upload)
    for forged in ("", upload.pk, address[:-1], f"{upload.pk}:x:y", address.replace(upload.pk, "f_none")):
        refused(forged, "No file was ever given out by this address.")
    from django.core import signing

    refused(signing.TimestampSigner().sign(upload.pk), "No file was")  # signed for something else


def test_an_address_of_a_file_that_is_gone():
    refused(files.url("f_none").rpartition("/")[2], "The file is gone from this server's store.")


def test_an_address_of_a_key_that_was_dropped(settings):
    upload = stored()
    address = signature(upload)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "new", [settings.SECRET_KEY]
    assert files.opened(address) == upload
    settings.SECRET_KEY_FALLBACKS = []
    refused(address, "No file was")


def test_an_address_ends(settings):
    settings.FILE_URL_SECONDS = 60
    upload = stored()
    address = signature(upload)
    with mock.patch("django.core.signing.time.time", return_value=time.time() + 59):
        assert files.opened(address) == upload
    with mock.patch("django.core.signing.time.time", return_value=time.time() + 62):
        refused(address, "This address is no longer valid. Read the run again for a new one.")


def test_bytes_that_are_gone_are_none():
    upload = stored()
    default_storage.delete(upload.path)
    assert files.read(upload) is None
