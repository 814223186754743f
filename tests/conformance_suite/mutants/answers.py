"""Wrong about answers: repeated calls, numbers, pages, contracts, versions."""

import json
import uuid
from unittest import mock

from checks import codec
from processes import inputs, paging, pipeline
from processes.callers import CallerKind
from processes.errors import ToolError
from tests.conformance_suite.mutants.registry import at_the_door, mutant, rounded


def first_of_request(known, given, what):
    """What was first seen with the requestId of this call; what is seen now where there is none."""
    return known.setdefault(given["requestId"], what) if "requestId" in given else what


@mutant("requests-forgotten", "A call that is sent again is done again.", "replay.start_run", "replay.claim")
def requests_forgotten():
    def call_anew(call, caller, given):
        anew = {"requestId": str(uuid.uuid4())} if "requestId" in given else {}
        return call(caller, {**given, **anew})

    return at_the_door("", call_anew)


@mutant(
    "arguments-unread",
    "A used requestId gives its result whatever the arguments.",
    "replay.start_run-different",
)
def arguments_unread():
    known = {}
    return at_the_door("", lambda call, caller, given: call(caller, first_of_request(known, given, given)))


@mutant("caller-unread", "A used requestId gives its result to whoever asks.", "replay.claim-another-caller")
def caller_unread():
    known = {}
    return at_the_door("", lambda call, caller, given: call(first_of_request(known, given, caller), given))


@mutant("refusals-kept", "A requestId whose call was refused is used up.", "replay.failed-call")
def refusals_kept():
    known = {}

    def keep(call, caller, given):
        request = given.get("requestId")
        if request in known:
            raise known[request]
        try:
            return call(caller, given)
        except ToolError as error:
            if request is not None:
                known[request] = error
            raise

    return at_the_door("", keep)


@mutant("replay-is-a-read", "A replay shows the run as it is by now.", "replay.original-view")
def replay_is_a_read():
    real = pipeline.call

    def start(call, caller, given):
        found = call(caller, given)
        return real("get_run", caller, {"runId": found["run"]["id"]}) if found.get("replayed") else found

    return at_the_door("start_run", start)


@mutant("numbers-rounded", "Numbers are read as floats.", "number.deep", "number.output")
def numbers_rounded():
    decoder = json.JSONDecoder(
        parse_float=rounded,
        parse_int=rounded,
        parse_constant=codec._constant,
        object_pairs_hook=codec._object,
    )
    exact = codec._DECODER

    class AllButReceipts:
        """What is signed is read back strictly, and nothing would be answered at all."""

        def decode(self, text):
            return (exact if '"commitments":' in text else decoder).decode(text)

    return mock.patch.object(codec, "_DECODER", AllButReceipts())


@mutant("inputs-rounded", "Runs are found by numbers that are nearly the same.", "runs.exact")
def inputs_rounded():
    real = inputs.digest

    def digest(value):
        return real(rounded(value.text) if isinstance(value, codec.Number) else value)

    return mock.patch.object(inputs, "digest", digest)


@mutant("pages-overlap", "A page begins with the last entry of the one before.", "work.pages")
def pages_overlap():
    real = paging.decode

    def decode(cursor, *kinds):
        return [
            value - 1 if kind is int else value
            for kind, value in zip(kinds, real(cursor, *kinds), strict=True)
        ]

    return mock.patch.object(paging, "decode", decode)


@mutant("pages-by-count", "A cursor counts entries, and what is claimed meanwhile hides one.", "work.stable")
def pages_by_count():
    def get_work(call, caller, given):
        if caller.kind is not CallerKind.AGENT or "process" not in given:
            return call(caller, given)
        begin, most = int(given.get("cursor", 0)), int(given.get("limit", 20))
        plain = {key: value for key, value in given.items() if key != "cursor"}
        items = call(caller, {**plain, "limit": 100})["items"]
        more = len(items) > begin + most
        return {"items": items[begin : begin + most], "nextCursor": str(begin + most) if more else None}

    return at_the_door("get_work", get_work)


@mutant("talkative", "A run view has a key that the contract does not know.", "start.read-again")
def talkative():
    return at_the_door("get_run", lambda call, *given: {**call(*given), "debug": True})


@mutant("depends-on-who", "describe offers people fewer tools.", "describe.same-for-all")
def depends_on_who():
    def describe(call, caller, given):
        told = call(caller, given)
        agent = caller.kind is CallerKind.AGENT
        return told if agent else {**told, "tools": [tool for tool in told["tools"] if tool != "claim"]}

    return at_the_door("describe", describe)


@mutant("version-unread", "A run is of the latest version, whichever was asked for.", "start.unknown-version")
def version_unread():
    def start(call, caller, given):
        return call(caller, {key: value for key, value in given.items() if key != "version"})

    return at_the_door("start_run", start)
