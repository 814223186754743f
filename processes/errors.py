"""The protocol's errors: a code, what is wrong and how to mend it, and the issues one by one."""

from collections.abc import Sequence
from typing import Any, Literal, get_args

Code = Literal["invalid", "not_accepted", "stale", "conflict", "forbidden", "not_found", "retry"]
CODES: tuple[Code, ...] = get_args(Code)


class ToolError(Exception):
    """What a caller is told. `retry_after`: seconds, with `retry` only. `bound`: the caller's own doing, too much
    of it (HTTP 429), and not the server's state.
    """

    def __init__(
        self,
        code: Code,
        message: str,
        issues: Sequence[str] | None = None,
        *,
        retry_after: int | None = None,
        bound: bool = False,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.issues = list(issues) if issues is not None else None
        self.retry_after = retry_after
        self.bound = bound

    def view(self) -> dict[str, Any]:
        """`{code, message, issues?}`."""
        view: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.issues is not None:
            view["issues"] = self.issues
        return view


def run_ended() -> ToolError:
    return ToolError("conflict", "The run has ended; nothing more can be written to it.", ["run_ended"])


def used_before() -> ToolError:
    return ToolError(
        "conflict",
        "This requestId was used for another call. Use a new one for each new call.",
        ["requestId: used before"],
    )


def forgotten(run: str | None) -> ToolError:
    return ToolError(
        "conflict",
        "This call was done, and what it answered is no longer kept, because its run ended long ago."
        f" Read the run ({run}) with get_run instead.",
        ["requestId: done, its result is no longer kept"],
    )


def checking(seconds: int = 2) -> ToolError:
    return ToolError(
        "retry",
        "The submission is being checked; send the same call again in a moment.",
        retry_after=seconds,
    )


def too_many(message: str, issue: str, *, retry_after: int) -> ToolError:
    """More than one caller may have: at a time, or in a time."""
    return ToolError("retry", message, [issue], retry_after=retry_after, bound=True)
