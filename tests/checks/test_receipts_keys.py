"""Where the private key comes from, how one follows another, and what is published of them."""

import json
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.utils import timezone

from checks.receipts import keys, keyset, signing
from checks.receipts.encoding import b64
from checks.receipts.models import SigningKey
from checks.receipts.system_checks import check_key
from checks.receipts.verifying import examine
from tests.checks.receipting import Signer, draft

pytestmark = pytest.mark.django_db
ONE, TWO = (json.dumps(keyset.private_jwk(Signer(seed * 32).key)) for seed in (b"\x01", b"\x02"))
KID, KID2 = (Signer(seed * 32).kid for seed in (b"\x01", b"\x02"))
ROOT = Path(__file__).resolve().parents[2]
SECRET = json.loads(ONE)["d"]


@pytest.fixture(autouse=True)
def place(settings, tmp_path):
    """A file of the test's own, and nothing remembered."""
    settings.RECEIPT_KEY, settings.RECEIPT_KEY_FILE = "", tmp_path / "receipt-key"
    keys.forget()
    yield tmp_path / "receipt-key"
    keys.forget()


def sign():
    return signing.sign(draft(), signing.Head("run:r_1")).receipt


class TestEnvironment:
    def test_a_jwk(self, settings, place):
        settings.RECEIPT_KEY = ONE
        assert keys.current().kid == KID
        assert not place.exists()

    def test_a_seed(self, settings):
        settings.RECEIPT_KEY = b64(b"\x01" * 32)
        assert keys.current().kid == KID

    @pytest.mark.parametrize(
        "text",
        [
            "{", "x", b64(b"\x01" * 31), '{"kty":"OKP","crv":"Ed25519"}', '{"kty":"oct","k":"AA"}', ONE.replace('"x": "', '"x": "A'),
            "?" + SECRET, SECRET + "=",
        ],
    )  # fmt: skip
    def test_what_is_none_is_refused_without_being_shown(self, settings, text):
        settings.RECEIPT_KEY = text
        with pytest.raises(
            ImproperlyConfigured, match="RECEIPT_KEY holds no key that can sign receipts"
        ) as refused:
            keys.current()
        assert SECRET not in str(refused.value) and "receipt_key new" in str(refused.value)
        (problem,) = check_key()
        assert problem.id == "checks.E031" and SECRET not in str(problem)

    def test_scaled_it_must_be_set(self, settings, place):
        settings.CELERY_BROKER_URL = "redis://localhost"
        with pytest.raises(ImproperlyConfigured, match="RECEIPT_KEY is not set"):
            keys.current()
        assert [problem.id for problem in check_key()] == ["checks.E030"]
        assert not place.exists()
        settings.RECEIPT_KEY = ONE
        assert check_key() == []


class TestFile:
    def test_is_made_when_it_is_first_used_and_is_nobody_elses(self, place):
        assert check_key() == [] and not place.exists()
        kid = keys.current().kid
        assert place.stat().st_mode & 0o777 == 0o600
        assert [path.name for path in place.parent.iterdir()] == ["receipt-key"]
        keys.forget()
        assert keys.current().kid == kid

    def test_whatever_the_umask(self, place):
        before = os.umask(0)
        try:
            keys.current()
        finally:
            os.umask(before)
        assert place.stat().st_mode & 0o777 == 0o600

    @pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o666, 0o610, 0o700 | 0o001])
    def test_that_others_can_read_is_refused(self, place, mode):
        place.write_text(ONE)
        place.chmod(mode)
        with pytest.raises(
            ImproperlyConfigured, match=f"can be read by others .mode {mode:04o}.*chmod 600"
        ) as refused:
            keys.current()
        assert SECRET not in str(refused.value)
        assert [problem.id for problem in check_key()] == ["checks.E031"]

    @pytest.mark.parametrize("mode", [0o600, 0o400])
    def test_that_its_owner_alone_can_read_is_taken(self, place, mode):
        place.write_text(ONE + "\n")
        place.chmod(mode)
        assert keys.current().kid == KID

    @pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"x" * 10_000])
    def test_of_something_else_is_refused(self, place, content):
        place.write_bytes(content)
        place.chmod(0o600)
        with pytest.raises(ImproperlyConfigured):
            keys.current()

    def test_a_folder_is_none(self, place):
        place.mkdir()
        with pytest.raises(ImproperlyConfigured, match="can't be read"):
            keys.current()

    def test_that_can_not_be_made_is_told(self, settings, tmp_path):
        settings.RECEIPT_KEY_FILE = tmp_path / "nowhere" / "receipt-key"
        with pytest.raises(ImproperlyConfigured, match="nowhere/receipt-key can't be written"):
            keys.current()

    def test_two_that_make_it_at_once_agree(self, place):
        first, second = keys.new(), keys.new()
        keys.write(place, first)
        keys.write(place, second)  # its look for the file was before the first one's write
        assert keys.current().kid == first.thumbprint()

    def test_is_never_in_the_database(self, place):
        keys.current()
        secret = json.loads(place.read_text())["d"]
        assert all(secret not in str(row) for row in SigningKey.objects.values())


class TestRegistry:
    def test_the_first_use_keeps_the_public_part(self, settings):
        settings.RECEIPT_KEY = ONE
        sign()
        row = SigningKey.objects.get()
        assert (row.kid, row.x, row.retired_at, row.revoked_at) == (KID, json.loads(ONE)["x"], None, None)

    def test_nothing_is_signed_before_its_key_is_there(self, settings):
        settings.RECEIPT_KEY = ONE
        said = examine(sign(), keys.published()).payload
        assert keyset.moment(said["time"]) >= SigningKey.objects.get().created_at

    def test_signing_takes_no_statement(
        self, settings, django_assert_num_queries, django_capture_on_commit_callbacks
    ):
        settings.RECEIPT_KEY = ONE
        with django_capture_on_commit_callbacks(execute=True):
            sign()
        with django_assert_num_queries(0):
            sign()

    def test_a_row_that_was_rolled_back_is_written_again(self, settings):
        settings.RECEIPT_KEY = ONE
        with transaction.atomic():
            sign()
            transaction.set_rollback(True)
        assert not SigningKey.objects.exists()
        sign()
        assert SigningKey.objects.get().kid == KID

    def test_the_next_one_retires_the_one_before_after_a_while(self, settings):
        settings.RECEIPT_KEY = ONE
        old = sign()
        settings.RECEIPT_KEY = TWO
        new = sign()
        one, two = SigningKey.objects.get(kid=KID), SigningKey.objects.get(kid=KID2)
        assert one.retired_at == two.created_at + keys.OVERLAP and two.retired_at is None
        published = keys.published()
        assert examine(old, published).valid and examine(new, published).valid

    def test_a_server_that_still_runs_with_the_one_before_takes_nothing_back(self, settings):
        for key in (ONE, TWO, ONE, TWO):
            settings.RECEIPT_KEY = key
            assert examine(sign(), keys.published()).valid
        assert SigningKey.objects.get(kid=KID2).retired_at is None

    def test_a_retired_key_signs_no_more(self, settings):
        settings.RECEIPT_KEY = ONE
        sign()
        assert keys.retire(KID, timezone.now()) and not keys.retire(KID, timezone.now())
        keys.forget()
        with pytest.raises(
            ImproperlyConfigured, match=f"The key {KID} was retired at .*; the server signs with another"
        ):
            sign()

    def test_a_revoked_key_signs_no_more_and_the_first_time_is_kept(self, settings):
        settings.RECEIPT_KEY = ONE
        old = sign()
        at = timezone.now()
        assert keys.revoke(KID, at) and not keys.revoke(KID, at + timedelta(days=1))
        keys.forget()
        with pytest.raises(ImproperlyConfigured, match=r"was revoked at .* and signs no more"):
            sign()
        examined = examine(old, keys.published())
        assert not examined.valid and keyset.told(at) in examined.reason

    def test_a_process_looks_again_after_a_while(
        self, settings, monkeypatch, django_capture_on_commit_callbacks
    ):
        settings.RECEIPT_KEY = ONE
        with django_capture_on_commit_callbacks(execute=True):
            sign()
        keys.revoke(KID, timezone.now())
        sign()
        now = keys.time.monotonic()
        monkeypatch.setattr(keys.time, "monotonic", lambda: now + keys.LOOKED_AT_AGAIN_SECONDS + 1)
        with pytest.raises(ImproperlyConfigured):
            sign()

    def test_published_knows_the_key_before_it_is_used(self, settings, django_assert_num_queries):
        settings.RECEIPT_KEY = ONE
        with django_assert_num_queries(1):
            assert set(keys.published()) == {KID}
        assert not SigningKey.objects.exists()

    @pytest.mark.parametrize("name", ["retired_at", "revoked_at"])
    def test_the_database_refuses_an_end_before_the_beginning(self, name):
        at = timezone.now()
        with pytest.raises(IntegrityError), transaction.atomic():
            SigningKey.objects.create(kid="k", x="x", created_at=at, **{name: at - timedelta(seconds=1)})


class TestCommand:
    def said(self, capsys, *arguments):
        call_command("receipt_key", *arguments)
        return capsys.readouterr().out

    def test_new_prints_a_key_that_signs(self, settings, capsys, place):
        settings.RECEIPT_KEY = self.said(capsys, "new").strip()
        assert json.loads(settings.RECEIPT_KEY)["crv"] == "Ed25519"
        assert examine(sign(), keys.published()).valid
        assert not place.exists()

    def test_list(self, settings, capsys):
        settings.RECEIPT_KEY = ONE
        assert self.said(capsys, "list") == f"{KID}  not used yet  (signs here)\n"
        sign()
        settings.RECEIPT_KEY = TWO
        sign()
        two, one = self.said(capsys, "list").splitlines()
        assert two.startswith(f"{KID2}  created ") and two.endswith("(signs here)")
        assert one.startswith(f"{KID}  created ") and ", to be retired " in one
        assert SECRET not in one + two

    def test_rotate_puts_a_new_one_in_the_file(self, capsys, place):
        old = sign()
        said = self.said(capsys, "rotate")
        assert place.stat().st_mode & 0o777 == 0o600 and str(place) in said
        new = sign()
        published = keys.published()
        assert len(published) == 2 and examine(old, published).valid and examine(new, published).valid
        assert examine(old, published).kid != examine(new, published).kid

    def test_rotate_publishes_a_key_that_signed_without_its_row(self, capsys, place):
        """As after a database was put back from before the key was first used."""
        old = sign()
        SigningKey.objects.all().delete()
        self.said(capsys, "rotate")
        assert examine(old, keys.published()).valid

    def test_rotate_leaves_the_environment_alone(self, settings):
        settings.RECEIPT_KEY = ONE
        with pytest.raises(CommandError, match="is the environment's"):
            call_command("receipt_key", "rotate")

    @pytest.mark.parametrize("action", ["retire", "revoke"])
    def test_the_one_that_signs_here_has_to_be_followed_by_another(self, settings, capsys, action):
        settings.RECEIPT_KEY = ONE
        sign()
        call_command("receipt_key", action, KID)
        assert "signs here" in capsys.readouterr().err
        settings.RECEIPT_KEY = TWO
        sign()
        call_command("receipt_key", action, KID)
        assert capsys.readouterr().err == ""

    @pytest.mark.parametrize("action", ["retire", "revoke"])
    def test_retire_and_revoke(self, settings, capsys, action):
        settings.RECEIPT_KEY = ONE
        assert self.said(capsys, action, KID) == f"{KID} is {action}d.\n"
        assert self.said(capsys, action, KID) == f"{KID} was {action}d before.\n"

    @pytest.mark.parametrize(
        "arguments", [["retire"], ["revoke"], ["list", "x"], ["new", "x"], ["revoke", "nobody"]]
    )
    def test_refusals(self, settings, arguments):
        settings.RECEIPT_KEY = ONE
        with pytest.raises(CommandError):
            call_command("receipt_key", *arguments)

    def test_a_broken_key_is_told_in_words_and_hides_no_other(self, settings, capsys):
        settings.RECEIPT_KEY = ONE
        sign()
        settings.RECEIPT_KEY = "x"
        call_command("receipt_key", "list")
        out, told = capsys.readouterr()
        assert out.startswith(f"{KID}  created ") and "RECEIPT_KEY holds no key" in told
        assert self.said(capsys, "revoke", KID) == f"{KID} is revoked.\n"

    def test_a_kid_that_looks_like_an_option(self, settings, capsys, monkeypatch):
        seeds = (number.to_bytes(32, "big") for number in range(10_000))
        odd = next(key for key in map(keyset.private_key, seeds) if key.thumbprint().startswith("-"))
        settings.RECEIPT_KEY = keys.text_of(odd)
        assert self.said(capsys, "revoke", "--", odd.thumbprint()) == f"{odd.thumbprint()} is revoked.\n"
        made = iter([odd, odd, Signer().key])
        monkeypatch.setattr(keys.OKPKey, "generate_key", lambda _: next(made))
        assert keys.new().thumbprint() == KID

    def test_rotate_follows_revoke(self, capsys, place):
        sign()
        call_command("receipt_key", "revoke", SigningKey.objects.get().kid)
        keys.forget()
        with pytest.raises(ImproperlyConfigured):
            sign()
        self.said(capsys, "rotate")
        assert examine(sign(), keys.published()).valid

    def test_rotate_mends_a_file_that_others_can_read(self, capsys, place):
        sign()
        place.chmod(0o644)
        self.said(capsys, "rotate")
        assert place.stat().st_mode & 0o777 == 0o600
        assert examine(sign(), keys.published()).valid

    def test_is_no_prisoner_of_the_system_checks(self, tmp_path):
        """They ask for a key, and this is where it comes from."""
        environment = {
            "VAR_DIR": str(tmp_path),
            "BROKER_URL": "redis://127.0.0.1:1/0",
            "PATH": os.environ["PATH"],
        }
        told = subprocess.run(
            [sys.executable, "manage.py", "receipt_key", "new"],
            cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (told.returncode, told.stderr) == (0, "")
        assert keyset.read_private(json.loads(told.stdout))


class TestPublished:
    def test_anybody_may_read_them(self, client, settings):
        settings.RECEIPT_KEY = ONE
        sign()
        settings.RECEIPT_KEY = TWO
        sign()
        keys.revoke(KID, timezone.now())
        response = client.get("/.well-known/jwks.json")
        assert response.status_code == 200 and response["Content-Type"] == "application/jwk-set+json"
        assert response["Cache-Control"] == "public, max-age=300"
        two, one = response.json()["keys"]
        assert set(two) == {"kty", "crv", "x", "kid", "use", "alg", "created_at"}
        assert set(one) - set(two) == {"retired_at", "revoked_at"}
        assert (one["kid"], one["kty"], one["crv"], one["use"], one["alg"]) == (
            KID,
            "OKP",
            "Ed25519",
            "sig",
            "EdDSA",
        )
        assert set(keyset.read(response.json())) == {KID, KID2}
        assert SECRET not in response.text

    def test_takes_no_post(self, client):
        assert client.post("/.well-known/jwks.json").status_code == 405

    def test_without_a_key_those_of_before_are_published(self, client, settings):
        settings.RECEIPT_KEY = ONE
        sign()
        settings.RECEIPT_KEY = "x"
        assert [key["kid"] for key in client.get("/.well-known/jwks.json").json()["keys"]] == [KID]
