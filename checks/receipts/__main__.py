"""`python -m checks.receipts verify FILE --jwks FILE`: a receipt or an export, without a server, a database or Django.

Ends with 0 where it holds, with 1 where it does not, with 2 where it could not be looked at.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from checks import codec
from checks.receipts import export, keyset
from checks.receipts.jws import MAX_CHARS
from checks.receipts.verifying import examine

HOLDS, DOES_NOT, NOT_LOOKED_AT = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m checks.receipts", description="Verify receipts offline.")
    verify = parser.add_subparsers(required=True).add_parser(
        "verify", help="a receipt (compact JWS), or an export of manage.py export_receipts"
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
    if first.lstrip().startswith(b"{"):
        return _export(first, file, keys)
    text = (first + file.read(MAX_CHARS)).decode("ascii", "replace").strip()
    examined = examine(text, keys)
    if examined.payload is not None:
        sys.stdout.write(codec.dumps(examined.payload) + "\n")
    return _say(
        f"{'valid' if examined.valid else 'not valid'}: {examined.reason}", 0 if examined.valid else DOES_NOT
    )


def _export(first: bytes, file: BinaryIO, keys: dict[str, keyset.PublicKey]) -> int:
    def lines() -> Iterator[bytes]:
        yield first
        while line := file.readline(export.MAX_LINE + 1):
            yield line

    found = export.check(lines(), keys)
    for problem in found.problems:
        sys.stdout.write(f"{problem}\n")
    if found.problems:
        more = " or more" if len(found.problems) > export.MOST_PROBLEMS else ""
        return _say(f"not valid: {len(found.problems)}{more} found wrong", DOES_NOT)
    counts = f"{found.receipts} receipts in {found.chains} chains, {found.checkpoints} checkpoints"
    return _say(f"valid: {counts}, as they were exported at {found.signed_at}", HOLDS)


def _say(text: str, code: int) -> int:
    sys.stdout.write(text + "\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
