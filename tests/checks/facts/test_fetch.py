"""The guarded fetcher against real TLS servers: the good ones, the slow ones, the huge ones, the false ones."""

import gzip
import hashlib
import socket
import threading
import time
import zlib
from dataclasses import replace

import pytest

from checks.facts import wire
from checks.facts.fetch import Fetcher, FetchError
from checks.facts.url_contains import UrlContains
from tests.servers.dns import DnsServer
from tests.servers.tls import TlsServer, page, raw, redirect, silent, trusting

PUBLIC = "93.184.216.34"
PUBLIC_V6 = "2606:4700::1111"
NAME = "status.example.com"
URL = f"https://{NAME}/"


def fetcher(server, *addresses, **options):
    values = {"resolve": lambda _: addresses or [PUBLIC], "connecting": server.connecting, "tls": trusting}
    return Fetcher(**(values | options))


def fetched(answer, url=URL, **options):
    with TlsServer([NAME], answer) as server:
        return fetcher(server, **options).get(url), server


def failed(answer, url=URL, **options):
    with TlsServer([NAME], answer) as server, pytest.raises(FetchError) as caught:
        fetcher(server, **options).get(url)
    return caught.value


class TestAGoodPage:
    def test_is_read_over_a_connection_to_the_checked_address(self):
        got, server = fetched(
            page(b"all well", Content_Type="text/plain"), "https://Status.Example.com/a?b=c#d"
        )
        assert (got.status, got.body, got.cut) == (200, b"all well", False)
        assert (got.url, got.content_type) == ("https://status.example.com/a?b=c", "text/plain")
        assert server.connected == [(PUBLIC, 443)]
        asked = server.asked[0]
        assert (asked.method, asked.path, asked.sni, asked.headers["host"]) == ("GET", "/a?b=c", NAME, NAME)
        assert {"cookie", "authorization", "referer"}.isdisjoint(asked.headers)

    def test_the_explicit_port_is_taken(self):
        assert fetched(page(b"x"), f"https://{NAME}:443/")[0].body == b"x"

    def test_a_public_number_is_taken_and_verified(self):
        with TlsServer([PUBLIC], page(b"by number")) as server:
            got = fetcher(server).get(f"https://{PUBLIC}/")
            assert (got.body, server.asked[0].headers["host"]) == (b"by number", PUBLIC)

    def test_a_public_v6_number_is_taken_and_verified(self):
        with TlsServer([PUBLIC_V6], page(b"six")) as server:
            assert fetcher(server).get(f"https://[{PUBLIC_V6}]/").body == b"six"
            assert (server.connected, server.asked[0].headers["host"]) == (
                [(PUBLIC_V6, 443)],
                f"[{PUBLIC_V6}]",
            )

    def test_the_next_address_is_tried_when_one_does_not_answer(self):
        with TlsServer([NAME], page(b"second")) as server:

            def connecting(address, port, seconds):
                if address == PUBLIC:
                    raise ConnectionRefusedError
                return server.connecting(address, port, seconds)

            found = fetcher(server, PUBLIC, PUBLIC_V6, connecting=connecting).get(URL)
            assert (found.body, server.connected) == (b"second", [(PUBLIC_V6, 443)])

    @pytest.mark.parametrize("hanging", [1, 3])
    def test_the_next_address_is_tried_when_the_first_ones_say_nothing(self, hanging):
        with TlsServer([NAME], page(b"at last")) as server, silent() as nobody:

            def connecting(address, port, seconds):
                if address != PUBLIC_V6:
                    return socket.create_connection(nobody, timeout=seconds)
                return server.connecting(address, port, seconds)

            addresses = [f"93.184.216.{n}" for n in range(hanging)]
            got = fetcher(server, *addresses, PUBLIC_V6, connecting=connecting, seconds=2.0).get(URL)
            assert got.body == b"at last"

    def test_where_all_say_nothing_it_ends_at_the_deadline(self):
        started = time.monotonic()
        with silent() as nobody, pytest.raises(FetchError, match="did not answer in time"):
            Fetcher(
                resolve=lambda _: [PUBLIC, PUBLIC_V6],
                connecting=lambda *_: socket.create_connection(nobody),
                seconds=1.0,
            ).get(URL)
        assert 0.8 < time.monotonic() - started < 2

    def test_one_that_connects_has_the_whole_time_to_answer(self):
        def slow(asked):
            time.sleep(0.9)
            yield from page(b"slow")(asked)

        with TlsServer([NAME], slow) as server:
            found = fetcher(server, PUBLIC, PUBLIC_V6, seconds=1.6).get(URL)
            assert (found.body, server.connected) == (b"slow", [(PUBLIC, 443)])

    def test_chunks_are_put_together(self):
        answer = raw(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"3\r\nabc\r\n",
            b"2\r\nde\r\n",
            b"0\r\n\r\n",
        )
        assert fetched(answer)[0].body == b"abcde"

    @pytest.mark.parametrize(
        ("encoding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress), ("identity", bytes)]
    )
    def test_it_is_unpacked(self, encoding, pack):
        assert fetched(page(pack(b"hello" * 9), Content_Encoding=encoding))[0].body == b"hello" * 9

    def test_no_proxy_is_asked(self, monkeypatch):
        for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, "http://127.0.0.1:9")
        assert fetched(page(b"x"))[0].body == b"x"

    def test_authorities_are_not_taken_from_the_environment(self, monkeypatch, tmp_path):
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
        wire.trusted.cache_clear()
        assert wire.trusted().cert_store_stats()["x509_ca"] > 50


class TestRedirects:
    def test_three_are_followed(self):
        answers = {"/": redirect("/1"), "/1": redirect(f"https://{NAME}/2", 301), "/2": redirect("3", 307)}
        got, server = fetched({**answers, "/3": page(b"there")})
        assert (got.url, got.body, server.accepted) == (f"https://{NAME}/3", b"there", 4)

    def test_a_fourth_is_not(self):
        with TlsServer([NAME], redirect("/")) as server, pytest.raises(FetchError) as caught:
            fetcher(server).get(URL)
        assert (caught.value.message, server.accepted) == ("It redirects more than 3 times.", 4)

    def test_cookies_are_not_kept(self):
        set_cookie = page(b"", 302, Location="/1", Set_Cookie="a=b")
        _, server = fetched({"/": set_cookie, "/1": page(b"")})
        assert all("cookie" not in asked.headers for asked in server.asked)

    def test_each_hop_is_looked_up_by_its_own_name(self):
        with (
            TlsServer(
                [NAME, "other.example.org"], {"/": redirect("https://other.example.org/x"), "/x": page(b"x")}
            ) as server,
            DnsServer({NAME: [[PUBLIC]], "other.example.org": [[PUBLIC_V6]]}) as dns,
        ):
            assert fetcher(server, resolve=dns.resolve).get(URL).body == b"x"
            assert server.connected == [(PUBLIC, 443), (PUBLIC_V6, 443)]
            assert server.asked[1].sni == "other.example.org"


class TestAFalseServer:
    def test_a_certificate_of_another_name_is_not_taken(self):
        with TlsServer(["another.example.com"], page(b"x")) as server, pytest.raises(FetchError) as caught:
            fetcher(server).get(URL)
        assert "certificate that is not its own" in caught.value.message
        assert (caught.value.refused, server.asked) == (False, [])

    def test_a_certificate_of_nobody_known_is_not_taken(self):
        with TlsServer([NAME], page(b"x")) as server, pytest.raises(FetchError, match="certificate"):
            fetcher(server, tls=wire.trusted).get(URL)
        assert server.asked == []

    def test_one_that_speaks_no_tls(self):
        listener = socket.create_server(("127.0.0.1", 0))

        def plain():
            client, _ = listener.accept()
            client.sendall(b"HTTP/1.1 200 OK\r\n\r\nhello")
            client.close()

        threading.Thread(target=plain, daemon=True).start()

        def connecting(address, port, seconds):
            return socket.create_connection(listener.getsockname(), timeout=seconds)

        with pytest.raises(FetchError):
            Fetcher(resolve=lambda _: [PUBLIC], connecting=connecting, tls=trusting).get(URL)
        listener.close()

    @pytest.mark.parametrize(
        "answer",
        [
            raw(b"hello\r\n\r\n"),
            raw(b"HTTP/1.1 abc\r\n\r\n"),
            raw(b""),
            raw(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"),
            raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"),
            raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
            page(gzip.compress(b"x" * 5000)[:-20], Content_Encoding="gzip"),
            page(b"no gzip", Content_Encoding="gzip"),
            page(b"x", Content_Encoding="br"),
            page(b"x", Content_Encoding="gzip, gzip"),
        ],
        ids=["no http", "no status", "nothing", "short", "short chunk", "no chunk", "short gzip", "no gzip", "br", "twice"],
    )  # fmt: skip
    def test_half_an_answer_is_none(self, answer):
        assert not failed(answer).refused


class TestTooMuch:
    def test_a_huge_body_is_read_to_a_million_bytes(self):
        sent = []

        def answer(asked):
            yield b"HTTP/1.1 200 OK\r\n\r\n"
            for _ in range(500):
                sent.append(1)
                yield b"x" * 100_000

        got, _ = fetched(answer)
        assert (len(got.body), got.cut) == (1_000_000, True)
        assert len(sent) < 100  # of 50 MB most was never sent

    def test_a_body_of_just_a_million_is_whole(self):
        got, _ = fetched(page(b"x" * 1_000_000))
        assert (len(got.body), got.cut) == (1_000_000, False)

    def test_a_gzip_bomb_is_unpacked_to_a_million_bytes(self):
        packer = zlib.compressobj(6, zlib.DEFLATED, 31)
        bomb = b"".join(packer.compress(bytes(1_000_000)) for _ in range(100)) + packer.flush()
        assert len(bomb) < 120_000  # a thousandth of what is in it
        started = time.monotonic()
        got, _ = fetched(page(bomb, Content_Encoding="gzip"))
        assert (len(got.body), got.cut) == (1_000_000, True)
        assert time.monotonic() - started < 2

    def test_a_bomb_in_a_bomb_stays_packed(self):
        inner = gzip.compress(bytes(10_000_000))
        got, _ = fetched(page(gzip.compress(inner), Content_Encoding="gzip"))
        assert got.body == inner

    def test_endless_headers(self):
        assert (
            "more than is read"
            in failed(
                raw(b"HTTP/1.1 200 OK\r\n", *[b"X-%d: %s\r\n" % (i, b"y" * 900) for i in range(99)], b"\r\n")
            ).message
        )

    def test_an_endless_header(self):
        assert not failed(raw(b"HTTP/1.1 200 OK\r\nX: ", *[b"y" * 10_000] * 50)).refused

    def test_endless_interim_answers(self):
        assert not failed(raw(*[b"HTTP/1.1 100 Continue\r\n\r\n" * 1000] * 20)).refused

    def test_chunks_of_one_byte_are_bounded(self):
        def answer(asked):
            yield b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            for _ in range(1000):
                yield b"1;ext=aaaaaaaaaaaaaaaaaaaaaaa\r\nx\r\n" * 1000

        assert "more than is read" in failed(answer).message


class TestTooSlow:
    @pytest.mark.parametrize(
        "answer",
        [
            raw(b"", b"HTTP/1.1 200 OK\r\n\r\n", every=3),
            raw(*[bytes([byte]) for byte in b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"], every=0.2),
            raw(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n", *[b"x"] * 100, every=0.2),
        ],
        ids=["silent", "headers drip", "body drips"],
    )
    def test_ends_at_the_deadline(self, answer):
        started = time.monotonic()
        error = failed(answer, seconds=1.0)
        assert (error.message, error.refused) == ("The server did not answer in time.", False)
        assert 0.8 < time.monotonic() - started < 2

    def test_a_handshake_that_never_ends(self):
        started = time.monotonic()
        with TlsServer([NAME], page(b"x"), hold=4) as server, pytest.raises(FetchError):
            fetcher(server, seconds=0.6).get(URL)
        assert time.monotonic() - started < 1.5

    def test_a_name_server_that_says_nothing(self):
        started = time.monotonic()
        with DnsServer({}, silent=True) as dns, pytest.raises(FetchError, match="looked up in time"):
            Fetcher(resolve=dns.resolve, seconds=0.5).get(URL)
        assert time.monotonic() - started < 1.5

    def test_redirects_share_one_deadline(self):
        def slow(asked):
            time.sleep(0.5)
            yield from redirect("/")(asked)

        started = time.monotonic()
        assert failed(slow, seconds=1.2).message == "The server did not answer in time."
        assert time.monotonic() - started < 2


class TestTheFact:
    def outcome(self, answer, **entry):
        from checks import facts

        (fact,), problems = facts.read([{"type": "url_contains", "url": URL, **entry}])
        assert problems == []
        with TlsServer([NAME], answer) as server:
            it = replace(fact, fetcher=fetcher(server))
            return facts.run([it], "")[0]

    def test_a_text_is_found(self):
        it = self.outcome(page(b"<p>All systems operational</p>"), text="operational")
        assert (it.passed, it.detail) == (True, "The text “operational” is on the page.")
        assert it.evidence_hash == hashlib.sha256(b"<p>All systems operational</p>").hexdigest()

    def test_the_hash_is_of_the_unpacked_body(self):
        it = self.outcome(page(gzip.compress(b"operational"), Content_Encoding="gzip"), text="operational")
        assert it.evidence_hash == hashlib.sha256(b"operational").hexdigest()

    def test_a_text_is_not_found(self):
        it = self.outcome(page(b"down"), text="operational")
        assert (it.passed, it.unreachable) == (False, False)
        assert it.detail == "The text “operational” is not on the page."

    def test_a_pattern(self):
        assert self.outcome(page(b"99.95 % up"), pattern=r"99\.\d+ %").passed

    def test_the_character_set_that_the_server_names(self):
        said = page("geöffnet".encode("latin-1"), Content_Type="text/html; charset=ISO-8859-1")
        assert self.outcome(said, text="geöffnet").passed

    @pytest.mark.parametrize("charset", ["utf-7", "idna", "rot13", "unicode_escape", "nonsense", "zlib"])
    def test_a_character_set_that_nobody_means_is_read_as_utf8(self, charset):
        said = page("geöffnet".encode(), Content_Type=f"text/html; charset={charset}")
        assert self.outcome(said, text="geöffnet").passed

    def test_beyond_the_first_million_bytes_nothing_is_found_and_it_says_so(self):
        it = self.outcome(page(b"x" * 1_000_000 + b"operational"), text="operational")
        expected = "The text “operational” is not in the page's first 1,000,000 bytes; it is longer."
        assert (it.passed, it.detail) == (False, expected)

    @pytest.mark.parametrize(
        "pattern", [r"x$", r"x\z", r"x\b", r"x\B$", r"(?m)x$", r"^x{3}[^y]*$", r"y?x\z|z", r"x{1000}y?\z"]
    )
    def test_the_cut_is_no_end_of_the_page(self, pattern):
        it = self.outcome(page(b"x" * 1_000_000 + b"y"), pattern=pattern)
        assert not it.passed
        assert "not in the page's first 1,000,000 bytes; it is longer" in it.detail

    @pytest.mark.parametrize(("last", "pattern"), [(b"!", "!"), ("é".encode()[:1], r"[^x]"), (b" ", r"x\b.")])
    def test_what_touches_the_cut_does_not_count(self, last, pattern):
        assert not self.outcome(page(b"x" * 999_999 + last + b"z" * 9), pattern=pattern).passed

    def test_what_lies_before_the_cut_is_found(self):
        assert self.outcome(page(b"x" * 999_998 + b"y" + b"z" * 9), pattern=r"x\By\B").passed
        assert self.outcome(page(b"x" * 999_999 + b"y" + b"z" * 9), text="xy").passed

    def test_a_large_pattern_takes_its_reach_for_no_end(self):
        it = self.outcome(page(b"abc " * 20_000 + b"<b>"), pattern=r"^[\p{L} ]*$")
        assert not it.passed
        assert "the pattern is too large for more" in it.detail

    def test_a_pattern_is_shown_with_its_blanks(self):
        it = self.outcome(page(b"x"), pattern="^Notice ")
        assert it.detail == "The pattern “^Notice ” is not on the page."

    @pytest.mark.parametrize(
        ("status", "unreachable"), [(404, False), (403, False), (500, True), (429, True)]
    )
    def test_a_page_that_is_not_there_says_nothing(self, status, unreachable):
        it = self.outcome(page(b"operational", status), text="operational")
        assert (it.passed, it.unreachable, it.evidence_hash) == (False, unreachable, None)
        assert it.detail == f"The server answered {status} instead of 200."

    def test_three_are_asked_at_the_same_time(self):
        from checks import facts

        def slow(asked):
            time.sleep(0.5)
            yield from page(b"x")(asked)

        with TlsServer([NAME], slow) as server:
            one = UrlContains(url=URL, text="x", pattern=None, source="", fetcher=fetcher(server))
            started = time.monotonic()
            assert all(it.passed for it in facts.run([one, one, one], ""))
            assert time.monotonic() - started < 1.4


@pytest.mark.parametrize(
    ("error", "refused"),
    [
        (socket.gaierror(socket.EAI_NONAME, "no such name"), True),
        (socket.gaierror(socket.EAI_AGAIN, "try again"), False),
        (OSError("no network"), False),
        (UnicodeError("no name at all"), True),
    ],
)
def test_a_name_that_never_was_is_told_from_one_that_nobody_could_look_up(error, refused):
    """The one bounces whoever wrote it; the other is to be asked again."""

    def resolve(_):
        raise error

    with pytest.raises(FetchError) as caught:
        Fetcher(resolve=resolve).get(URL)
    assert (caught.value.refused, caught.value.message) == (refused, "The host's name is not known.")
