"""Readers of text that other programs wrote. Pure: no process, file, clock or pytest.

Every reader takes any `str` and returns its dataclass, or an `Unreadable` that says why; none raises. What is not
understood is never dropped in silence: it makes the whole text unreadable, or is kept beside the rest as `unparsed`.
An empty tuple is falsy too, so ask `isinstance(answer, Unreadable)` where a reader returns a tuple.
"""

from __future__ import annotations

import reprlib
from dataclasses import dataclass

_short = reprlib.Repr()
_short.maxstring = _short.maxother = 120


@dataclass(frozen=True)
class Unreadable:
    """The answer of a reader that could not read: falsy, and UNKNOWN where a verdict needs it."""

    why: str

    def __bool__(self) -> bool:
        return False


def shown(value: object) -> str:
    """A short, printable form of a foreign value, for the `why` of an `Unreadable`."""
    try:
        return _short.repr(value)
    except (ValueError, RecursionError):
        return f"a value of type {type(value).__name__} too large to show"
