"""The one exception of the kit, and foreign text as its sentences show it."""

from __future__ import annotations


class Refused(Exception):
    """The kit will not do it; the message is one sentence for the operator: expected, seen, what to do."""


SHOWN = 80
"""How many characters of a foreign value a message quotes."""


def shown(value: object) -> str:
    """`value` as a message quotes it: in ASCII, so that a lookalike letter shows, and cut where it is long."""
    quoted = ascii(value)
    return quoted if len(quoted) <= SHOWN else f"{quoted[: SHOWN - 1]}... ({len(quoted)} characters)"


def one_line(text: str) -> str:
    """`text` as a terminal may show it: names from outside can hold line breaks, escapes and broken characters."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def said(error: OSError) -> str:
    """What the system said, and of which path where it names one."""
    return f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror)
