"""Evidence: files that the server verifies, links that it records."""

import base64
import hashlib
import time

from conformance.client import Data
from conformance.demands import demand, equal, exactly, item_of, names, record_of, states
from conformance.failures import Skip
from conformance.registry import STRICT, Chapter, tool
from conformance.world import POLL_SECONDS, World

chapter = Chapter("evidence", "Files and links")
UPLOAD = tool("upload")
LARGEST_TRIED = 16 * 1024 * 1024
READS = 8  # until a file's address is another one


def refused(w: World, claim: Data, *evidence: Data, words: tuple[str, ...]) -> None:
    refusal = w.agent.refused(
        "submit", "not_accepted", token=w.keep(claim), output={}, summary="S", evidence=list(evidence)
    )
    names(refusal, *words)


@chapter.case(
    "upload", "An upload tells its hash and size", "tools: upload", "The server hashes the bytes that it stored.", UPLOAD,
)  # fmt: skip
def upload(w: World) -> None:
    content = bytes(range(256)) * 5
    kept = w.upload(content)
    equal(kept["sha256"], hashlib.sha256(content).hexdigest(), "sha256")
    equal(kept["bytes"], len(content), "bytes")
    demand(w.upload(content)["id"] != kept["id"], "two uploads must have two ids")


@chapter.case(
    "person-uploads", "A person uploads too", "core §4.2", "upload is for agents and people.", UPLOAD,
)  # fmt: skip
def person_uploads(w: World) -> None:
    equal(w.upload(b"abc", by=w.person)["bytes"], len(b"abc"), "bytes")


@chapter.case(
    "not-base64", "What is no base64", "tools: upload", "contentBase64 that can't be decoded is invalid.", UPLOAD,
)  # fmt: skip
def not_base64(w: World) -> None:
    given = {"fileName": "a.txt", "contentType": "text/plain"}
    w.agent.refused("upload", "invalid", contentBase64="****", **given)
    w.agent.refused("upload", "invalid", **given)


@chapter.case(
    "too-large", "A file beyond the limit", "tools: upload", "Files are bounded by describe.maxUploadBytes.", UPLOAD,
)  # fmt: skip
def too_large(w: World) -> None:
    most = int(w.about.get("maxUploadBytes", 10 * 1024 * 1024))
    if most > LARGEST_TRIED:
        raise Skip(f"files of up to {most} bytes are allowed, more than is worth sending")
    content = base64.b64encode(b"x" * (most + 1)).decode()
    w.agent.refused(
        "upload", "invalid", fileName="a.bin", contentType="application/octet-stream", contentBase64=content
    )


@chapter.case(
    "file", "A file is recorded with its hash and an address", "core §5, §3.1",
    "File evidence in run data carries the sha256 of its bytes and a short-lived url that opens it.",
)  # fmt: skip
def a_file(w: World) -> None:
    view = w.start("conform-files")
    claim = w.claim(view, "attach")
    kept = w.upload(b"the report")
    view = w.submit(claim, evidence=[{"kind": "file", "ref": kept["id"]}])
    for data in (view["data"], w.view(view, w.person)["data"], w.claim(view, "after")["data"]):
        item = data["steps"]["attach"]["evidence"][0]
        equal((item["ref"], item["sha256"]), (kept["id"], kept["sha256"]), "ref and sha256")
        answer = w.nobody.http.get(item["url"])
        demand(answer.is_success, f"url must open the file, and answers {answer.status_code}")
        equal(answer.content, b"the report", "the bytes behind url")


@chapter.case(
    "attachment", "A file is handed out with care", "our ruling on core §5",
    "A file's address answers with an attachment that no browser sniffs or runs.", STRICT,
)  # fmt: skip
def attachment(w: World) -> None:
    claim = w.claim(w.start("conform-files"), "attach")
    kept = w.upload(b"<script>alert(1)</script>", name="page.html")
    view = w.submit(claim, evidence=[{"kind": "file", "ref": kept["id"]}])
    answer = w.nobody.http.get(view["data"]["steps"]["attach"]["evidence"][0]["url"])
    demand(answer.headers.get("content-disposition", "").startswith("attachment"), "it must be an attachment")
    equal(answer.headers.get("x-content-type-options"), "nosniff", "X-Content-Type-Options")


@chapter.case(
    "address-altered", "A file's address can't be guessed", "our ruling on core §5",
    "Addresses are signed: one with a character changed opens nothing.", STRICT,
)  # fmt: skip
def address_altered(w: World) -> None:
    claim = w.claim(w.start("conform-files"), "attach")
    view = w.submit(claim, evidence=[{"kind": "file", "ref": w.upload()["id"]}])
    url = view["data"]["steps"]["attach"]["evidence"][0]["url"]
    place = len(url) - 8
    changed = url[:place] + ("A" if url[place] != "A" else "B") + url[place + 1 :]
    demand(not w.nobody.http.get(changed).is_success, "an altered address must not open the file")


@chapter.case(
    "file-required", "No file where one is asked for", "core §5, §6.3",
    "evidence: [file] wants at least one file; without it nothing changes.",
)  # fmt: skip
def file_required(w: World) -> None:
    view = w.start("conform-files")
    claim = w.claim(view, "attach")
    equal(claim["step"]["evidence"], ["file"], "step.evidence of the claim")
    refused(w, claim, words=("file",))
    refused(w, claim, {"kind": "link", "ref": "https://example.org/report"}, words=("file",))
    states(w.view(view), attach="claimed")


@chapter.case(
    "no-such-file", "A file that was never uploaded", "core §5", "A ref that no upload gave is not accepted, and is named.",
)  # fmt: skip
def no_such_file(w: World) -> None:
    claim = w.claim(w.start("conform-files"), "attach")
    refused(w, claim, {"kind": "file", "ref": "f-made-up"}, words=("f-made-up",))
    good = {"kind": "file", "ref": w.upload()["id"]}
    refused(w, claim, good, {"kind": "file", "ref": "f-made-up"}, words=("f-made-up",))
    w.submit(claim, evidence=[good])


@chapter.case(
    "link", "A link is recorded as stated", "core §5",
    "The server verifies nothing about a link and keeps it as it is, a document number as well.",
)  # fmt: skip
def link(w: World) -> None:
    view = w.start("conform-links")
    claim = w.claim(view, "attach")
    refused(w, claim, words=("link",))
    given = [{"kind": "link", "ref": "DOC 2026/17 §4"}, {"kind": "link", "ref": "https://example.org/?a=1#b"}]
    equal(record_of(w.submit(claim, evidence=given), "attach")["evidence"], given, "the recorded evidence")


@chapter.case(
    "both", "Two kinds, each by itself", "core §6.3", "Every listed kind must be attached; what is missing is named.",
)  # fmt: skip
def both(w: World) -> None:
    claim = w.claim(w.start("conform-files-and-links"), "attach")
    file, page = {"kind": "file", "ref": w.upload()["id"]}, {"kind": "link", "ref": "https://example.org"}
    refused(w, claim, words=("file", "link"))
    refused(w, claim, file, words=("link",))
    refused(w, claim, page, words=("file",))
    kept = record_of(w.submit(claim, evidence=[page, file, page]), "attach")["evidence"]
    equal(
        [item["kind"] for item in kept], ["link", "file", "link"], "the kinds that are kept, in their order"
    )


@chapter.case(
    "unasked", "Evidence that nobody asked for", "core §5", "More items of any kind may be attached, also where none is asked for.",
)  # fmt: skip
def unasked(w: World) -> None:
    claim = w.claim(w.start("conform-two"), "first")
    given = [{"kind": "link", "ref": "https://example.org"}]
    view = w.submit(claim, {"first": "1"}, evidence=given)
    equal(record_of(view, "first")["evidence"], given, "the recorded evidence")


@chapter.case(
    "unknown-kind", "A kind that is none", "core §5", "Evidence is a file or a link; other arguments are invalid.",
)  # fmt: skip
def unknown_kind(w: World) -> None:
    claim = w.claim(w.start("conform-links"), "attach")
    for item in (
        {"kind": "photo", "ref": "a"},
        {"kind": "link"},
        {"ref": "a"},
        {"kind": "link", "ref": "a", "x": 1},
    ):
        w.agent.refused("submit", "invalid", token=claim["token"], output={}, summary="S", evidence=[item])


@chapter.case(
    "snapshot", "An address is no part of the snapshot", "core §3.4",
    "A snapshot hashes run data; an address that is made afresh with each read does not change it.", UPLOAD,
)  # fmt: skip
def snapshot(w: World) -> None:
    view = w.start("conform-files")
    w.work(view, "attach", evidence=[{"kind": "file", "ref": w.upload()["id"]}])
    first = w.escalate(view, "after")
    again = w.view(view)
    for _ in range(READS):
        if address(again) != address(first):
            break
        time.sleep(POLL_SECONDS)  # an address may tell the second that it was made in
        again = w.view(view)
    equal(item_of(again, "after")["snapshot"], item_of(first, "after")["snapshot"], "the snapshot read anew")


def address(view: Data) -> str:
    """The address of the file that conform-files attached."""
    return str(view["data"]["steps"]["attach"]["evidence"][0]["url"])


@chapter.case(
    "person-attaches", "A person attaches a file", "core §3.4, §5",
    "A file that completes a task is verified and recorded like an agent's.", UPLOAD,
)  # fmt: skip
def person_attaches(w: World) -> None:
    view, kept = w.start("conform-task"), w.upload(by=w.person)
    evidence = [{"kind": "file", "ref": kept["id"]}]
    record = record_of(w.decide(view, "task", "completed", output={"answer": "A"}, evidence=evidence), "task")
    equal(record["evidence"][0]["sha256"], kept["sha256"], "sha256 of a file that a person attached")


@chapter.case(
    "another-callers", "A file of another caller", "our ruling on core §5",
    "An upload can be cited by whoever uploaded it, or within a run that cites it already; by nobody else.", STRICT,
)  # fmt: skip
def another_callers(w: World) -> None:
    claim = w.claim(w.start("conform-files"), "attach")
    theirs = w.upload(by=w.other)["id"]
    refused(w, claim, {"kind": "file", "ref": theirs}, words=(theirs,))


@chapter.case(
    "exact-lines", "The issue lines, word for word", "our ruling on tools: submit",
    "Issues read `evidence: file required` and `evidence f_0: not found`.", STRICT,
)  # fmt: skip
def exact_lines(w: World) -> None:
    claim = w.claim(w.start("conform-files-and-links"), "attach")
    given = [{"kind": "file", "ref": "f_0"}]
    refusal = w.agent.refused(
        "submit", "not_accepted", token=claim["token"], output={}, summary="S", evidence=given
    )
    exactly(refusal, "evidence f_0: not found", "evidence: file required", "evidence: link required")
