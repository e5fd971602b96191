"""How the CLI says that something went wrong: a boxed message on stderr, wrapped as the real one wraps it."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

_WIDTH = 80

_STATUS = {
    "NotFound": "Some requested entity was not found",
    "AlreadyExists": "Some entity that we attempted to create already exists",
    "InvalidArgument": "Client specified an invalid argument",
    "FailedPrecondition": "The system is not in a state required for the operation's execution",
    "PermissionDenied": "The caller does not have permission to execute the specified operation",
    "Aborted": "The operation was aborted",
}


class CliError(Exception):
    """Ends the command with exit code `code`; `causes` are the links below the message."""

    def __init__(self, message: str, causes: Sequence[str] = (), *, code: int = 1, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.causes, self.code, self.hint = message, tuple(causes), code, hint


class UsageError(Exception):
    """A command line that cannot be read: exit code 2, no box."""


def refused(status: str, message: str) -> CliError:
    """An answer of the gateway, with the gRPC code's English text around the server's message."""
    return CliError(f"code: '{_STATUS[status]}', message: \"{message}\"")


def box(error: CliError) -> str:
    """The message as a block of lines, the last of them empty."""
    lines = _wrapped(error.message, "Error:   × ", "  │ ")
    if error.hint:
        lines += ["  │"]
        for line in error.hint.splitlines():
            lines += _wrapped(line, "  │ ", "  │ ")
    for number, cause in enumerate(error.causes, 1):
        last = number == len(error.causes)
        lines += _wrapped(cause, "  ╰─▶ " if last else "  ├─▶ ", "      " if last else "  │   ")
    return "\n".join(lines) + "\n\n"


def _wrapped(text: str, first: str, rest: str) -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=first,
        subsequent_indent=rest,
        break_on_hyphens=True,
        break_long_words=False,
        drop_whitespace=True,
    ) or [first.rstrip()]
