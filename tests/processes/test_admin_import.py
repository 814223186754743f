"""The import page: paste or upload, issues in place, a draft, and no typed text ever lost."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from processes.models import Process, Version
from processes.publishing import draft
from tests.processes.staff import AUTHOR, VIEW, logged, sign_in
from tests.processes.test_publishing import PLAIN, published

pytestmark = pytest.mark.django_db
BROKEN = PLAIN.replace("person: boss\n", "persn: boss\n")


@pytest.fixture
def page():
    return reverse("admin:processes_process_add")


@pytest.fixture
def author(client):
    return sign_in(client, *AUTHOR)


def upload(content, name="PROCESS.md"):
    return SimpleUploadedFile(
        name, content if isinstance(content, bytes) else content.encode(), "text/markdown"
    )


def test_a_pasted_text_is_checked_and_nothing_is_kept(client, page, author):
    response = client.post(page, {"text": BROKEN, "action": "check"})
    html = response.content.decode()
    assert "This text is refused with 2 issues." in html
    assert 'href="#line-9"' in html and 'id="line-9" class="bad"' in html
    assert "Did you mean person?" in html
    assert BROKEN.strip() in html.replace("&lt;", "<")
    assert not Process.objects.exists()


def test_a_sound_text_becomes_a_draft(client, page, author):
    sent = {"text": PLAIN.replace("\n", "\r\n"), "change": "first", "action": "save"}
    response = client.post(page, sent, follow=True)
    version = Version.objects.get()
    assert version.text == PLAIN  # a browser's CRLF is not the text's
    assert (version.created_by, version.change, version.number) == ("person:ada", "first", None)
    assert response.redirect_chain[0][0] == reverse(
        "admin:processes_version", args=[version.process_id, version.pk]
    )
    assert "The draft of leave is kept." in response.content.decode()
    assert logged() == ["Imported and kept as a draft."]


def test_an_unsound_text_is_shown_again_and_not_kept(client, page, author):
    html = client.post(page, {"text": BROKEN, "change": "first", "action": "save"}).content.decode()
    assert "Nothing was kept, since the text has issues." in html
    assert "persn: boss" in html and 'value="first"' in html
    assert not Version.objects.exists() and logged() == []


def test_an_uploaded_file_is_kept_byte_for_byte(client, page, author):
    text = "\ufeff" + PLAIN.replace("\n", "\r\n") + "mixed\nends\r\n"
    client.post(page, {"text": "", "file": upload(text), "action": "save"})
    assert Version.objects.get().text == text


def test_line_ends_of_a_crlf_file_survive_the_editor(client, page, author):
    text = PLAIN.replace("\n", "\r\n")
    html = client.post(page, {"text": "", "file": upload(text), "action": "check"}).content.decode()
    assert 'name="crlf" value="1"' in html
    client.post(page, {"text": text, "crlf": "1", "action": "save"})
    assert Version.objects.get().text == text


def test_a_file_replaces_an_untouched_text_only(client, page, author):
    loaded = client.post(page, {"text": BROKEN, "action": "check"}).context["entered"].loaded
    untouched = {
        "text": BROKEN.replace("\n", "\r\n"),
        "loaded": loaded,
        "file": upload(PLAIN),
        "action": "check",
    }
    assert "Ask for leave" in client.post(page, untouched).content.decode()
    touched = {**untouched, "text": BROKEN + "mine", "file": upload(PLAIN)}
    html = client.post(page, touched).content.decode()
    assert "You changed the text and chose a file." in html
    assert "mine</textarea>" in html


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\x89PNG\r\n\x1a\n\xff\xfe" * 50, "The file is no text in UTF-8."),
        (b"x" * (256 * 1024 + 1), "The file has more than 256 KiB."),
        ("Grüße".encode("latin-1"), "The file is no text in UTF-8."),
    ],
)
def test_a_file_that_is_no_process_file_is_refused_beside_the_field(client, page, author, content, words):
    html = client.post(page, {"text": "", "file": upload(content), "action": "save"}).content.decode()
    assert words in html and 'aria-describedby="file-e"' in html
    assert not Version.objects.exists()


@pytest.mark.parametrize(
    "text", ["garbage", "---\n\x00\n---\n", "---\n" + "a: " * 90_000, "\ud83d---", "---\n" * 99_000]
)
def test_any_text_comes_back_with_its_issues(client, page, author, text):
    response = client.post(page, {"text": text.encode("utf-8", "replace").decode(), "action": "save"})
    assert response.status_code == 200
    assert response.context["issues"]
    assert not Version.objects.exists()


def test_nothing_to_check_is_said(client, page, author):
    html = client.post(page, {"text": " \n", "action": "check"}).content.decode()
    assert "Paste a process file, or choose one." in html and "refused" not in html


def test_a_line_on_the_change_has_its_limit(client, page, author):
    html = client.post(page, {"text": PLAIN, "change": "x" * 301, "action": "save"}).content.decode()
    assert "at most 300 characters" in html
    assert not Version.objects.exists()


def test_what_an_author_wrote_is_never_markup(client, page, author):
    evil = PLAIN.replace("name: leave", 'name: "</textarea><script>alert(1)</script>"')
    html = client.post(page, {"text": evil, "change": '"><img src=x>', "action": "check"}).content.decode()
    assert "<script>alert" not in html and "<img src=x>" not in html
    assert "&lt;/textarea&gt;" in html


def test_another_draft_is_replaced_only_when_asked_twice(client, page, author):
    draft(PLAIN, by="person:ben")
    mine = PLAIN.replace("Ask for", "Request")
    response = client.post(page, {"text": mine, "action": "save"})
    assert "leave has a draft already, by person:ben" in response.content.decode()
    assert Version.objects.get().text == PLAIN
    seen = response.context["entered"].seen
    client.post(page, {"text": mine, "seen": seen, "action": "save"})
    assert Version.objects.get().text == mine
    assert logged() == ["Kept a draft."]


def test_the_next_draft_goes_on_from_a_published_text(client, page, author, world):
    version = published(world)
    assert "Ask for leave." in client.get(f"{page}?from={version.pk}").content.decode()
    client.post(page, {"text": PLAIN + "More.", "action": "save", "change": "more"})
    assert logged() == ["Kept a draft. more"]


@pytest.mark.parametrize("query", ["999", "x", "1'--"])
def test_a_version_that_is_not_there_is_not_found(client, page, author, query):
    assert client.get(page, {"from": query}).status_code == 404


@pytest.mark.parametrize("method", ["get", "post"])
def test_importing_needs_its_permission(client, page, method):
    sign_in(client, *VIEW, "change_version")
    assert getattr(client, method)(page, {"text": PLAIN, "action": "save"}).status_code == 403
    assert not Version.objects.exists()


def test_who_may_only_add_does_not_replace_a_draft(client, page):
    sign_in(client, *VIEW, "add_version")
    draft(PLAIN, by="person:ben")
    response = client.post(page, {"text": PLAIN + "Mine.", "action": "save"})
    assert "you may not replace one" in response.content.decode()
    assert "Mine.</textarea>" in response.content.decode()
    assert Version.objects.get().text == PLAIN


def test_a_stranger_is_asked_to_sign_in(client, page):
    assert client.get(page)["Location"].startswith(reverse("admin:login"))


def test_a_forged_post_is_refused(page, world):
    from django.test import Client

    client = Client(enforce_csrf_checks=True)
    sign_in(client, *AUTHOR)
    assert client.post(page, {"text": PLAIN, "action": "save"}).status_code == 403
    assert not Version.objects.exists()
