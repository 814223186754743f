"""`python -m checks.receipts verify FILE --jwks FILE`: a receipt or an export, without a server, a database or Django.

Ends with 0 where it holds, with 1 where it does not, with 2 where it could not be looked at.
"""

import argparse
import itertools
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from checks import codec
from checks.receipts import export, keyset
from checks.receipts.jws import MAX_CHARS
from checks.receipts.verifying import examine

HOLDS, DOES_NOT, NOT_LOOKED_AT = 0, 1, 2
MAX_ANSWER = 1_000_000
NO_RECEIPT = (
    "It is JSON, but neither an export of manage.py export_receipts nor an answer with a `receipt` in it. "
    "Give the receipt itself (three parts with stops between), the answer that it came with, or an export as it was written."
)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m checks.receipts", description="Verify receipts offline.")
    verify = parser.add_subparsers(required=True).add_parser(
        "verify",
        help="a receipt (compact JWS), the API's answer with one in it, or an export of manage.py export_receipts",
    )
    verify.add_argument("file", help="the file, or - for standard input")
    verify.add_argument("--jwks", required=True, help="a copy of the server's /.well-known/jwks.json")
    asked = parser.parse_args(arguments)
    try:
        keys = keyset.read(codec.loads(Path(asked.jwks).read_bytes()))
    except OSError as error:
        return _say(f"{asked.jwks} can't be read: {error.strerror}", NOT_LOOKED_AT)
    except (codec.CodecError, keyset.WrongKeyError) as error:
        return _say(f"{asked.jwks} holds no keys: {error}.", NOT_LOOKED_AT)
    if asked.file == "-":
        return _verified(sys.stdin.buffer, keys)
    try:
        with Path(asked.file).open("rb") as file:
            return _verified(file, keys)
    except OSError as error:
        return _say(f"{asked.file} can't be read: {error.strerror}", NOT_LOOKED_AT)


def _verified(file: BinaryIO, keys: dict[str, keyset.PublicKey]) -> int:
    first = file.readline(export.MAX_LINE + 1)
    if not first.lstrip().startswith((b"{", b"[")):
        return _receipt((first + file.read(MAX_CHARS)).decode("ascii", "replace").strip(), keys)
    rest = file.read(MAX_ANSWER)
    whole = _json(first + rest)
    if isinstance(whole, dict) and isinstance(whole.get("receipt"), str) and "chain" not in whole:
        return _receipt(whole["receipt"], keys)  # an answer that was saved as it came
    if whole is not None and not export.is_line(whole):
        return _say(NO_RECEIPT, NOT_LOOKED_AT)
    return _export(itertools.chain((first + rest).splitlines(keepends=True), _lines(file)), keys)


def _json(data: bytes) -> Any:
    """None where it is not one value: an export is one on each line."""
    try:
        return codec.loads(data)
    except codec.CodecError:
        return None


def _receipt(text: str, keys: dict[str, keyset.PublicKey]) -> int:
    examined = examine(text, keys)
    if examined.payload is not None:
        sys.stdout.write(codec.dumps(examined.payload) + "\n")
    return _say(
        f"{'valid' if examined.valid else 'not valid'}: {examined.reason}", 0 if examined.valid else DOES_NOT
    )


def _lines(file: BinaryIO) -> Iterator[bytes]:
    while line := file.readline(export.MAX_LINE + 1):
        yield line


def _export(lines: Iterable[bytes], keys: dict[str, keyset.PublicKey]) -> int:
    found = export.check(lines, keys)
    for problem in found.problems:
        sys.stdout.write(f"{problem}\n")
    if found.problems:
        more = " or more" if len(found.problems) > export.MOST_PROBLEMS else ""
        return _say(f"not valid: {len(found.problems)}{more} found wrong", DOES_NOT)
    counts = f"{_many(found.receipts, 'receipt')} in {_many(found.chains, 'chain')}, {_many(found.checkpoints, 'checkpoint')}"
    parts = [
        f"; it is of the chain {found.chain} alone" if found.chain is not None else "",
        f"; of each chain it begins with the first receipt since {found.since}, and tells nothing of earlier ones"
        if found.since is not None
        else "",
    ]
    return _say(f"valid: {counts}, as they were exported at {found.signed_at}{''.join(parts)}", HOLDS)


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _say(text: str, code: int) -> int:
    sys.stdout.write(text + "\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
