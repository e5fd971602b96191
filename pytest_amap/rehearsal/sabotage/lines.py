"""Faults in the log's lines about what was denied."""

from __future__ import annotations

from collections.abc import Callable

from .. import planted

_AN_HOUR = 3600.0
_BY_CURL = "NET:OPEN [MED] DENIED /usr/bin/curl(64) -> mail.example.org:443 [policy:- engine:opa] [reason:no rule]"

Line = tuple[str, float]
"""A message, and how many seconds ago it is dated."""


def delay() -> float:
    """Seconds that a denial takes to reach the log."""
    return 2.0 if "denial-logged-late" in planted.everything() else 0.0


def denial(message: str) -> Line:
    line = (message, 0.0)
    for name in planted.among(LINES):
        line = LINES[name](line[0])
    return line


LINES: dict[str, Callable[[str], Line]] = {
    "denial-stale": lambda message: (message, _AN_HOUR),
    "denial-of-look-alike": lambda message: (message.replace("mail.example.org", "mail.example.org.example.net"), 0.0),
    "denial-of-another-program": lambda message: (_BY_CURL, 0.0),
    "denial-called-allowed": lambda message: (message.replace("[MED] DENIED", "[INFO] ALLOWED"), 0.0),
}

# Planted by `delay`.
ELSEWHERE = ("denial-logged-late",)
