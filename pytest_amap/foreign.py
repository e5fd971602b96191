"""Text that others wrote, made safe to show: what every report and every line on a terminal shares. Pure."""

from __future__ import annotations

import re

_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u2800\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\uffff\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)
"""Controls, bidirectional and zero-width characters, blank letters, lone surrogates: they hide or reorder what is
read."""


LONGEST_LINE = 4000
"""Characters of one line on a terminal."""


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


def one_line(text: str, limit: int = LONGEST_LINE) -> str:
    """The text on one line, whitespace collapsed, cut to about `limit` characters, nothing unseen in it."""
    return " ".join(visible(cut(text.strip(), limit)).split())
