"""Exports from a server as it is, the command that writes them, and what the admin shows."""

import subprocess
import sys
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from unittest import mock

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from checks import keys as bearer_keys
from checks.models import Checkpoint, JudgeCall, SigningKey
from checks.receipts import checkpoints, export, exporting, keys

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[3]


class TestExport:
    @pytest.fixture
    def there(self, judged):
        """Two chains of 4 and 2, a checkpoint over the first three, another over the rest but one."""
        other = bearer_keys.issue("another", for_judge=True)[1]
        for bearer in (None, other, None):
            judged(**({"bearer": bearer} if bearer else {}))
        checkpoints.sweep()
        judged()
        judged(bearer=other)
        checkpoints.sweep()
        return judged()["receipt"]

    def check(self, *, tamper=lambda lines: lines, **options):
        return export.check(tamper(list(exporting.lines(**options))), keys.published())

    def test_is_sound(self, there):
        found = self.check()
        assert (found.problems, found.receipts, found.chains, found.checkpoints) == ([], 6, 2, 2)

    def test_an_empty_server_too(self):
        assert not self.check().problems

    @pytest.mark.parametrize("place", range(11))
    def test_a_line_less_is_found(self, there, place):
        assert len(list(exporting.lines())) == 11
        assert self.check(tamper=lambda lines: lines[:place] + lines[place + 1 :]).problems

    def test_a_row_that_is_gone_from_the_database_is_found(self, there):
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM checks_callsalt")
            cursor.execute("DELETE FROM checks_judgecall WHERE seq = 2 AND receipt <> %s", [there])
        problems = [str(problem) for problem in self.check().problems]
        assert any("receipt 2 is missing before this one" in text for text in problems)
        assert any("covers receipt 2 of" in text and "which is missing" in text for text in problems)

    def test_of_one_chain_names_no_other(self, there, key):
        chain, other = f"key:{key[0].pk}", JudgeCall.objects.exclude(key=key[0]).first().chain
        whole = b"".join(exporting.lines(chain=chain))
        found = export.check(whole.splitlines(keepends=True), keys.published())
        assert (found.problems, found.receipts, found.chains, found.checkpoints) == ([], 4, 1, 2)
        assert f'"{chain}"'.encode() in whole and f'"{other}"'.encode() not in whole
        assert b'"path"' in whole and b'"covers"' not in whole

    def test_of_no_chain(self, there):
        found = self.check(chain="run:nobody")
        assert (found.problems, found.receipts, found.chains) == ([], 0, 0)

    def test_since_begins_each_chain_there(self, there):
        third = JudgeCall.objects.filter(seq=3).get()
        found = self.check(since=third.signed_at)
        # the third and fourth of one, the second of the other
        assert (found.problems, found.receipts) == ([], 3)
        assert not self.check(since=timezone.now() + timedelta(days=1)).problems

    def test_since_leaves_no_gap_where_a_clock_went_back(self, there, key):
        third = JudgeCall.objects.get(seq=3)
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE checks_judgecall SET signed_at = %s WHERE seq = 4", ["2001-01-01 00:00:00+00:00"]
            )
        found = self.check(since=third.signed_at, chain=third.chain)
        assert not found.problems and found.receipts == 2

    def test_since_asks_once_for_many_chains(self, there, monkeypatch):
        since = JudgeCall.objects.get(seq=3).signed_at
        whole = self.check(since=since)
        with CaptureQueriesContext(connection) as few:
            list(exporting.lines(since=since))
        monkeypatch.setattr(exporting, "CHAINS_AT_ONCE", 1)
        with CaptureQueriesContext(connection) as many:
            list(exporting.lines(since=since))
        assert len(many) == len(few) + 1  # of two chains
        again = self.check(since=since)
        assert (again.receipts, again.chains, again.problems) == (whole.receipts, whole.chains, [])

    def test_asks_no_more_for_more(self, there, judged):
        def asked():
            with CaptureQueriesContext(connection) as captured:
                list(exporting.lines())
            return len([query for query in captured.captured_queries if "SAVEPOINT" not in query["sql"]])

        before = asked()
        for number in range(12):
            judged(bearer=bearer_keys.issue(f"key {number}", for_judge=True)[1])
            judged()
        checkpoints.sweep()
        assert asked() == before

    def test_many_heads_take_lines_of_their_own(self, there, monkeypatch):
        monkeypatch.setattr(exporting, "AT_ONCE", 1)
        whole = list(exporting.lines())
        assert len([line for line in whole if line.startswith(b'{"heads"')]) == 3
        assert not export.check(whole, keys.published()).problems


class TestExportCommand:
    @pytest.mark.parametrize("chain", ["key:0", "run:r_x", "nothing", "checkpoints"])
    def test_a_chain_that_is_not_there_is_refused(self, judged, chain):
        judged()
        with pytest.raises(CommandError, match="There is no chain"):
            call_command("export_receipts", "--chain", chain)

    def test_writes_a_file_that_the_offline_command_verifies(self, judged, client, tmp_path):
        judged()
        checkpoints.sweep()
        judged()
        to, jwks = tmp_path / "receipts.jsonl", tmp_path / "jwks.json"
        jwks.write_bytes(client.get("/.well-known/jwks.json").content)
        call_command("export_receipts", "--to", str(to))
        command = [sys.executable, "-m", "checks.receipts", "verify", str(to), "--jwks", str(jwks)]
        told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert (told.returncode, told.stderr) == (0, "")
        assert told.stdout.startswith("valid: 2 receipts in 1 chain, 1 checkpoint, as")
        whole = to.read_bytes().splitlines(keepends=True)
        to.write_bytes(b"".join(whole[:2] + whole[3:]))
        told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert told.returncode == 1
        assert "line 3: of key:" in told.stdout and "receipt 1 is missing before this one" in told.stdout

    def test_writes_to_standard_output(self, judged, monkeypatch):
        judged()
        out = BytesIO()
        monkeypatch.setattr(sys, "stdout", type("Out", (), {"buffer": out})())
        call_command("export_receipts", "--since", "2026-01-01", "--chain", JudgeCall.objects.get().chain)
        found = export.check(out.getvalue().splitlines(keepends=True), keys.published())
        assert (found.problems, found.receipts) == ([], 1)

    @pytest.mark.parametrize("since", ["yesterday", "2026-13-01", "1"])
    def test_refuses_a_date_that_is_none(self, since):
        with pytest.raises(CommandError, match="is no date"):
            call_command("export_receipts", "--since", since)

    def test_overwrites_nothing(self, tmp_path):
        to = tmp_path / "there"
        to.write_text("mine")
        with pytest.raises(CommandError, match="is there already; name another file"):
            call_command("export_receipts", "--to", str(to))
        assert to.read_text() == "mine"

    def test_leaves_nothing_behind_that_is_not_whole(self, judged, tmp_path, monkeypatch):
        judged()
        to = tmp_path / "export.jsonl"
        with monkeypatch.context() as patched:
            patched.setattr(exporting, "_rows", mock.Mock(side_effect=OperationalError("gone")))
            with pytest.raises(OperationalError):
                call_command("export_receipts", "--to", str(to))
        assert not to.exists()
        call_command("export_receipts", "--to", str(to))
        assert not export.check(to.read_bytes().splitlines(keepends=True), keys.published()).problems

    def test_without_a_key_writes_nothing(self, settings, tmp_path):
        settings.RECEIPT_KEY = "x"
        with pytest.raises(CommandError, match="RECEIPT_KEY holds no key"):
            call_command("export_receipts", "--to", str(tmp_path / "new"))
        assert not (tmp_path / "new").exists()


class TestAdmin:
    @pytest.mark.parametrize("name", ["signingkey", "checkpoint", "judgecall"])
    def test_shows_and_changes_nothing(self, admin_client, judged, name):
        it = judged()
        checkpoints.sweep()
        row = {"signingkey": SigningKey, "checkpoint": Checkpoint, "judgecall": JudgeCall}[name].objects.get()
        base = f"/admin/checks/{name}/"
        listed = admin_client.get(base).text
        page = admin_client.get(f"{base}{row.pk}/change/")
        assert page.status_code == 200 and 'name="_save"' not in page.text
        shown = {"signingkey": SigningKey.objects.get().kid, "judgecall": it["receipt"]}
        shown["checkpoint"] = Checkpoint.objects.get().receipt
        assert shown[name] in page.text
        assert "signingkey" in base or shown[name] not in listed
        assert admin_client.post(f"{base}{row.pk}/change/", {"count": 2}).status_code == 403
        assert admin_client.get(f"{base}add/").status_code == 403
        assert admin_client.post(f"{base}{row.pk}/delete/").status_code == 403
