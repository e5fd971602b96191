"""The router's log, as the container runtime keeps it on stderr."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Any

from .text import lines

_LINE = re.compile(r"[0-9-]{10} [0-9:]{8}(?:,[0-9]{1,6})? [A-Z]{1,10} [\w.]{1,80}: (?P<message>.*)", re.ASCII)
_DRAINED = re.compile(r"drained (?P<instance>[A-Za-z0-9][A-Za-z0-9._-]{0,63}): (?P<summary>\{.{0,16384}\})")
_FIRST_SIGHT = re.compile(r"FIRST SIGHT\. 0*[1-9][0-9]* request")
_REFUSALS = re.compile(r"config reload FAILED|\bSKIPPED\b|\bNO VERDICT\b|roster: skipped")


@dataclass(frozen=True)
class Drained:
    """One poll's summary of one instance."""

    instance: str
    counters: dict[str, int]
    line: str


def drained(text: str) -> tuple[Drained, ...]:
    """The `drained` lines that could be read, in order.

    That one is missing proves nothing: logs are cut.
    """
    read = []
    for line in lines(text):
        found = _LINE.fullmatch(line)
        summary = _DRAINED.fullmatch(found["message"]) if found else None
        counters = _counters(summary["summary"]) if summary else None
        if summary and counters is not None:
            read.append(Drained(summary["instance"], counters, line))
    return tuple(read)


def refusals(text: str) -> tuple[str, ...]:
    """The lines that say that something is left out or an old configuration is kept.

    A request that lay in an outbox before the router's first poll counts: it is never delivered. `drained` lines do
    not: they repeat what agents wrote.
    """
    return tuple(
        line.strip()
        for line in lines(text)
        if (_REFUSALS.search(line) or _FIRST_SIGHT.search(line)) and not _is_drained(line)
    )


def _is_drained(line: str) -> bool:
    found = _LINE.fullmatch(line)
    return found is not None and found["message"].startswith("drained ")


def _counters(text: str) -> dict[str, int] | None:
    """The whole numbers of a Python dict's repr; None where it is none."""
    try:
        read: Any = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    if not isinstance(read, dict):
        return None
    return {key: item for key, item in read.items() if isinstance(key, str) and type(item) is int}
