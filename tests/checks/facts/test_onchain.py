"""Chains over real TLS: every answer that Base and Solana give, and those that no chain should give."""

import hashlib
import json
import time
from dataclasses import replace

import pytest
from django.test import override_settings

from checks import codec, facts
from checks.facts.rpc import Session
from tests.servers.tls import TlsServer, page, raw, silent, trusting

TX = "0x" + "a1" * 32
OWNER, TOKEN = "0x" + "b2" * 20, "0x" + "c3" * 20
SIGNATURE = "5" * 87
KEY, MINT = "11111111111111111111111111111112", "So11111111111111111111111111111111111111112"
BASE_TX = {"chain": "base", "kind": "tx_confirmed", "tx": TX}
SOLANA_TX = {"chain": "solana", "kind": "tx_confirmed", "tx": SIGNATURE}
BASE_COIN = {"chain": "base", "kind": "token_balance_at_least", "address": OWNER, "amount": "1000"}
BASE_TOKEN = {**BASE_COIN, "token": TOKEN}
SOLANA_COIN = {"chain": "solana", "kind": "token_balance_at_least", "address": KEY, "amount": "1000"}
SOLANA_TOKEN = {**SOLANA_COIN, "token": MINT}
RECEIPT, LATEST = "eth_getTransactionReceipt", "eth_blockNumber"
STATUSES = "getSignatureStatuses"


BUSY = {"code": -32000, "message": "no"}


class Chain:
    """Answers each method with what the test says; what is under "refusal" is an error."""

    def __init__(self, **results):
        self.results, self.calls = results, []

    def __call__(self, asked):
        call = json.loads(asked.body)
        self.calls.append((call["method"], call["params"]))
        answer = {"jsonrpc": "2.0", "id": call["id"], "result": self.results.get(call["method"])}
        if isinstance(answer["result"], dict) and "refusal" in answer["result"]:
            answer = {"jsonrpc": "2.0", "id": call["id"], "error": answer["result"]["refusal"]}
        return page(json.dumps(answer).encode(), Content_Type="application/json")(asked)


def checked(entry, answer, **given):
    (fact,), problems = facts.read([{"type": "onchain", **entry, **given}])
    assert problems == []
    with TlsServer(["localhost"], answer) as server:
        url = f"https://localhost:{server.port}/rpc?key=secret-key"

        def session(chain):
            return Session(endpoint=url, tls=trusting, resolve=lambda _: ["127.0.0.1"])

        outcome = facts.run([replace(fact, session=session)], "")[0]
    assert "secret-key" not in outcome.detail
    return outcome


def receipt(status="0x1", block="0x64", **more):
    return {"status": status, "blockNumber": block, "transactionHash": TX, **more}


class TestATransactionOnBase:
    @pytest.mark.parametrize(
        ("results", "passed", "detail"),
        [
            ({RECEIPT: None}, False, "The transaction is not known, or still pending."),
            ({RECEIPT: receipt("0x0"), LATEST: "0x70"}, False, "The transaction failed."),
            ({RECEIPT: receipt(), LATEST: "0x63"}, False, "The transaction's block is not confirmed yet."),
            ({RECEIPT: receipt(), LATEST: "0x64"}, True, "The transaction went well and has 1 confirmation; asked is 1."),
            ({RECEIPT: receipt(), LATEST: "0x6d"}, True, "The transaction went well and has 10 confirmations; asked is 1."),
        ],
        ids=["unknown", "failed", "pre-confirmed", "just now", "deep"],
    )  # fmt: skip
    def test_is(self, results, passed, detail):
        it = checked(BASE_TX, Chain(**results))
        assert (it.passed, it.detail, it.unreachable) == (passed, detail, False)
        assert it.evidence_hash

    def test_has_as_many_confirmations_as_asked(self):
        chain = {RECEIPT: receipt(), LATEST: "0x6d"}
        assert checked(BASE_TX, Chain(**chain), confirmations=10).passed
        assert not checked(BASE_TX, Chain(**chain), confirmations=11).passed

    def test_is_asked_for_as_the_chain_takes_it(self):
        chain = Chain(**{RECEIPT: receipt(), LATEST: "0x64"})
        it = checked(BASE_TX, chain)
        assert chain.calls == [(RECEIPT, [TX]), (LATEST, [])]
        transcript = [[RECEIPT, [TX], receipt()], [LATEST, [], "0x64"]]
        assert it.evidence_hash == hashlib.sha256(codec.canonical(transcript).encode()).hexdigest()

    @pytest.mark.parametrize(
        "results",
        [
            {RECEIPT: "0x1"},
            {RECEIPT: {}},
            {RECEIPT: receipt(status="0x2"), LATEST: "0x70"},
            {RECEIPT: receipt(status=1), LATEST: "0x70"},
            {RECEIPT: receipt(block=None), LATEST: "0x70"},
            {RECEIPT: receipt(transactionHash="0x" + "f" * 64), LATEST: "0x70"},
            {RECEIPT: receipt(), LATEST: None},
            {RECEIPT: receipt(), LATEST: "70"},
            {RECEIPT: {"refusal": BUSY}},
            {RECEIPT: receipt(), LATEST: {"refusal": BUSY}},
        ],
    )
    def test_never_passes_on_an_odd_answer(self, results):
        it = checked(BASE_TX, Chain(**results))
        assert (it.passed, it.unreachable) == (False, True)


class TestATransactionOnSolana:
    @pytest.mark.parametrize(
        ("status", "passed", "detail"),
        [
            (None, False, "The transaction is not known."),
            ({"confirmationStatus": "processed", "err": None}, False, "The transaction is not confirmed yet."),
            ({"confirmationStatus": "confirmed", "err": None}, True, "The transaction went well and is confirmed."),
            ({"confirmationStatus": "finalized", "err": None}, True, "The transaction went well and is finalized."),
            ({"confirmationStatus": "finalized", "err": {"InstructionError": [0, "Custom"]}}, False, "The transaction failed."),
            ({"err": None}, False, "The transaction is not confirmed yet."),
        ],
        ids=["unknown", "processed", "confirmed", "finalized", "failed", "no word"],
    )  # fmt: skip
    def test_is(self, status, passed, detail):
        chain = Chain(**{STATUSES: {"context": {"slot": 1}, "value": [status]}})
        it = checked(SOLANA_TX, chain)
        assert (it.passed, it.detail, it.unreachable) == (passed, detail, False)
        assert chain.calls == [(STATUSES, [[SIGNATURE], {"searchTransactionHistory": True}])]

    @pytest.mark.parametrize(
        "result",
        [None, {}, {"value": []}, {"value": ["x"]}, {"value": [{"confirmationStatus": "finalized"}]}],
    )
    def test_never_passes_on_an_odd_answer(self, result):
        it = checked(SOLANA_TX, Chain(**{STATUSES: result}))
        assert (it.passed, it.unreachable) == (False, True)


def word(amount):
    return f"0x{amount:064x}"


def account(amount, mint=MINT):
    info = {"mint": mint, "owner": KEY, "tokenAmount": {"amount": amount, "decimals": 6, "uiAmount": 0.1}}
    return {"pubkey": KEY, "account": {"data": {"program": "spl-token", "parsed": {"info": info}}}}


class TestABalance:
    @pytest.mark.parametrize(
        ("entry", "method", "result", "passed"),
        [
            (BASE_COIN, "eth_getBalance", "0x3e8", True),
            (BASE_COIN, "eth_getBalance", "0x3e7", False),
            (BASE_COIN, "eth_getBalance", "0x0", False),
            (BASE_TOKEN, "eth_call", word(1000), True),
            (BASE_TOKEN, "eth_call", word(999), False),
            (BASE_TOKEN, "eth_call", word(2**256 - 1), True),
            (BASE_TOKEN, "eth_call", "0x", False),
            (SOLANA_COIN, "getBalance", {"value": 1000}, True),
            (SOLANA_COIN, "getBalance", {"value": 999}, False),
            (SOLANA_TOKEN, "getTokenAccountsByOwner", {"value": []}, False),
            (SOLANA_TOKEN, "getTokenAccountsByOwner", {"value": [account("999")]}, False),
            (SOLANA_TOKEN, "getTokenAccountsByOwner", {"value": [account("999"), account("1")]}, True),
        ],
    )
    def test_is_at_least(self, entry, method, result, passed):
        it = checked(entry, Chain(**{method: result}))
        assert (it.passed, it.unreachable) == (passed, False)
        assert it.evidence_hash

    @pytest.mark.parametrize(
        ("entry", "method", "result"),
        [
            (BASE_COIN, "eth_getBalance", "1000"),
            (BASE_COIN, "eth_getBalance", None),
            (BASE_COIN, "eth_getBalance", 5000),
            (BASE_TOKEN, "eth_call", "0x3e8"),
            (BASE_TOKEN, "eth_call", word(5000) + "00"),
            (SOLANA_COIN, "getBalance", {"value": 1000.5}),
            (SOLANA_COIN, "getBalance", {"value": "5000"}),
            (SOLANA_COIN, "getBalance", {"value": 1e300}),
            (SOLANA_TOKEN, "getTokenAccountsByOwner", {"value": [account(5000)]}),
            (SOLANA_TOKEN, "getTokenAccountsByOwner", {"value": [account("-1")]}),
            (SOLANA_TOKEN, "getTokenAccountsByOwner", {"value": [account("5000.0")]}),
            (SOLANA_TOKEN, "getTokenAccountsByOwner", {"value": [account("5000", mint=KEY)]}),
            (SOLANA_TOKEN, "getTokenAccountsByOwner", {"value": [{}]}),
        ],
    )
    def test_never_passes_on_an_odd_answer(self, entry, method, result):
        it = checked(entry, Chain(**{method: result}))
        assert (it.passed, it.unreachable) == (False, True)

    def test_large_amounts_are_compared_as_integers(self):
        result = {"value": [account("9007199254740992")]}  # a float can't tell it from the next
        it = checked(SOLANA_TOKEN, Chain(getTokenAccountsByOwner=result), amount="9007199254740993")
        assert not it.passed

    def test_a_token_is_asked_for_as_its_contract_takes_it(self):
        chain = Chain(eth_call=word(1000))
        checked({**BASE_TOKEN, "address": OWNER.upper().replace("0X", "0x")}, chain)
        data = "0x70a08231" + "0" * 24 + OWNER[2:]
        assert chain.calls == [("eth_call", [{"to": TOKEN, "data": data}, "latest"])]

    def test_solana_is_asked_for_what_is_final(self):
        chain = Chain(getBalance={"value": 1})
        checked(SOLANA_COIN, chain)
        assert chain.calls == [("getBalance", [KEY, {"commitment": "finalized"}])]


class TestAnErrorThatAnswers:
    REVERTED = {"code": 3, "message": "execution reverted", "data": "0x"}

    @pytest.mark.parametrize(
        ("entry", "method", "error", "detail"),
        [
            (BASE_TOKEN, "eth_call", REVERTED, "The chain refused eth_call: execution reverted."),
            (BASE_TOKEN, "eth_call", {"code": 3}, "The chain refused eth_call: 3."),
            (BASE_TOKEN, "eth_call", {"code": -32000, "message": "Execution reverted: no"}, "The chain refused eth_call: Execution reverted: no."),
            (SOLANA_TOKEN, "getTokenAccountsByOwner", {"code": -32602, "message": "Invalid param: could not find mint"},
             "The chain refused getTokenAccountsByOwner: Invalid param: could not find mint."),
            (SOLANA_COIN, "getBalance", {"code": -32602, "message": "Invalid param: WrongSize"}, "The chain refused getBalance: Invalid param: WrongSize."),
            (SOLANA_TX, STATUSES, {"code": -32602, "message": "Invalid param"}, "The chain refused getSignatureStatuses: Invalid param."),
        ],
    )  # fmt: skip
    def test_of_what_it_is_about_does_not_hold(self, entry, method, error, detail):
        chain = Chain(**{method: {"refusal": error}})
        it = checked(entry, chain)
        assert (it.passed, it.unreachable, it.detail) == (False, False, detail)
        ((_, params),) = chain.calls
        transcript = [[method, params, {"error": error}]]
        assert it.evidence_hash == hashlib.sha256(codec.canonical(transcript).encode()).hexdigest()

    @pytest.mark.parametrize(
        ("entry", "method", "error"),
        [
            (BASE_TOKEN, "eth_call", BUSY),
            (BASE_TOKEN, "eth_call", {"code": -32005, "message": "limit exceeded"}),
            (BASE_TOKEN, "eth_call", {"code": -32602, "message": "invalid params"}),
            (BASE_TOKEN, "eth_call", {"code": "3"}),
            (BASE_TOKEN, "eth_call", "execution reverted"),
            (BASE_COIN, "eth_getBalance", REVERTED),
            (BASE_TX, RECEIPT, REVERTED),
            (SOLANA_TOKEN, "getTokenAccountsByOwner", {"code": -32005, "message": "Node is behind"}),
            (SOLANA_COIN, "getBalance", {"code": -32603, "message": "Internal error"}),
        ],
    )
    def test_of_the_endpoint_says_nothing(self, entry, method, error):
        it = checked(entry, Chain(**{method: {"refusal": error}}))
        assert (it.passed, it.unreachable) == (False, True)
        assert it.detail == f"The chain's endpoint refused {method}."
        assert it.evidence_hash

    @pytest.mark.parametrize(
        "latest", [page(b"no", 500), page(b"<html>"), raw(b"")], ids=["500", "html", "nothing"]
    )
    def test_what_was_read_before_is_in_the_evidence(self, latest):
        first = Chain(**{RECEIPT: receipt()})

        def answer(asked):
            known = json.loads(asked.body)["method"] == RECEIPT
            return first(asked) if known else latest(asked)

        it = checked(BASE_TX, answer)
        transcript = [[RECEIPT, [TX], receipt()]]
        assert (it.passed, it.unreachable) == (False, True)
        assert it.evidence_hash == hashlib.sha256(codec.canonical(transcript).encode()).hexdigest()


class TestTheEndpoint:
    def test_the_next_address_is_tried_when_the_first_says_nothing(self):
        (fact,), _ = facts.read([{"type": "onchain", **BASE_TX}])
        with TlsServer(["localhost"], Chain(**{RECEIPT: None})) as server, silent("127.0.0.2", server.port):
            url = f"https://localhost:{server.port}/"
            addresses = ["127.0.0.2", "127.0.0.1"]

            def session(chain):
                deadline = time.monotonic() + 2
                return Session(endpoint=url, tls=trusting, resolve=lambda _: addresses, deadline=deadline)

            it = facts.run([replace(fact, session=session)], "")[0]
        assert it.detail == "The transaction is not known, or still pending."

    @pytest.mark.parametrize(
        "answer",
        [
            page(b"no", 500),
            page(b"no", 429),
            page(b"", 302, Location="https://elsewhere.example.com/"),
            page(b"<html>"),
            page(b"[]"),
            page(b'{"jsonrpc":"2.0","id":7,"result":null}'),
            page(b'{"jsonrpc":"2.0","id":1}'),
            page(b"x" * 2_000_000),
            raw(b""),
        ],
        ids=["500", "429", "redirect", "html", "list", "other id", "no result", "huge", "nothing"],
    )
    def test_that_does_not_answer_is_unreachable(self, answer):
        it = checked(BASE_TX, answer)
        assert (it.passed, it.unreachable, it.evidence_hash) == (False, True, None)

    @pytest.mark.parametrize("url", ["http://localhost/", "https://user:pass@localhost/", "", "nonsense"])
    def test_must_be_https(self, url):
        (fact,), _ = facts.read([{"type": "onchain", **BASE_TX}])
        with override_settings(BASE_RPC_URL=url):
            it = facts.run([fact], "")[0]
        assert it.detail == "The chain's endpoint is not set to an https address."


@pytest.mark.parametrize(
    "entry",
    [
        {**BASE_TX, "tx": "0xabc"},
        {**BASE_TX, "tx": SIGNATURE},
        {**SOLANA_TX, "tx": TX},
        {**SOLANA_TX, "tx": "0OIl" * 22},
        {**BASE_COIN, "address": "0x12"},
        {**BASE_TOKEN, "token": MINT},
        {**SOLANA_COIN, "address": OWNER},
        {**SOLANA_TOKEN, "token": "1111"},
    ],
)
def test_what_cant_exist_fails_and_nobody_is_asked(entry):
    chain = Chain()
    it = checked(entry, chain)
    assert (it.passed, it.unreachable, chain.calls) == (False, False, [])
    assert "has not the form of" in it.detail
