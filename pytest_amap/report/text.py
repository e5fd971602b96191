"""Foreign text made safe to show, and times in words: what every report writer shares. Pure."""

from __future__ import annotations

import re
from datetime import datetime

from pytest_amap.results import RunResult

_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\uffff\U000e0000-\U000e0fff]"
)
"""Controls, bidirectional and zero-width characters, lone surrogates: they can hide or reorder what is read."""


def visible(text: str) -> str:
    """The text with every character that cannot be seen written as an escape; newline and tab stay.

    What comes back can always be encoded as UTF-8.
    """
    return _UNSEEN.sub(_escape, text.replace("\r\n", "\n"))


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def cut(text: str, limit: int) -> str:
    """The first `limit` characters, and how many more there were."""
    more = len(text) - limit
    return text if more <= 0 else f"{text[:limit]}... [{more} more characters]"


def one_line(text: str, limit: int) -> str:
    """The text on one line, whitespace collapsed, cut to about `limit` characters, nothing unseen in it."""
    return " ".join(visible(cut(text.strip(), limit)).split())


def listed(names: list[str], none: str = "none") -> str:
    return ", ".join(names) if names else none


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def is_rehearsal(run: RunResult) -> bool:
    """Whether what the run shows was observed on the rehearsal host, also when it is replayed."""
    return run.host == "rehearsal" or run.replay_of.startswith("rehearsal")


def seconds_between(started: str, ended: str) -> float | None:
    """Seconds from one ISO 8601 time to another, or None when either cannot be read."""
    try:
        return (datetime.fromisoformat(ended) - datetime.fromisoformat(started)).total_seconds()
    except (TypeError, ValueError):
        return None


def span(seconds: float) -> str:
    """A duration in words: "0.4 s", "41 s", "3 min 05 s", "1 h 02 min"."""
    if seconds < 10:
        return f"{max(seconds, 0):.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"
