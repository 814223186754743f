"""What a case can end with, other than well."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One call and its answer. `answer`: the decoded envelope, None where it was no JSON."""

    who: str
    tool: str
    arguments: dict[str, Any]
    status: int
    answer: Any
    text: str


class Failure(Exception):  # noqa: N818 - a finding about a server, not an error of ours
    """The server broke the case's rule. `exchange`: the call that shows it, where it is not the last one."""

    def __init__(self, message: str, exchange: Exchange | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.exchange = exchange


class Skip(Exception):  # noqa: N818 - likewise
    """The case can't be tried here; the message is the reason."""


class CannotRunError(Exception):
    """The suite can't start: no server, no sign-in, wrong options. Exit code 2."""
