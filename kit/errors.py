"""The one exception of the kit."""

from __future__ import annotations


class Refused(Exception):
    """The kit will not do it; the message is one sentence for the operator: expected, seen, what to do."""


def one_line(text: str) -> str:
    """`text` as a terminal may show it: names from outside can hold line breaks, escapes and broken characters."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)
