"""The roster that the router publishes."""

from __future__ import annotations

from dataclasses import dataclass

from . import Unreadable, documents, shown
from .documents import words


@dataclass(frozen=True)
class Roster:
    """A directory, not an allowlist.

    `interval_s` is None where the router does not say how often it writes.
    """

    interval_s: float | None
    addresses: tuple[str, ...]


def roster(text: str) -> Roster | Unreadable:
    """The roster of contract version "2"; the schema 1 of an older router is named as such."""
    read = documents.document(text)
    if isinstance(read, Unreadable):
        return read
    if read.get("contract_version") != "2":
        old = " (an older router's: schema 1)" if read.get("schema") == 1 else ""
        return Unreadable(f'expected a roster of contract_version "2", saw {shown(read)}{old}')
    if isinstance(head := words(read, "router", "written_at"), Unreadable):
        return head
    interval, listed = read.get("interval_s"), read.get("members")
    if interval is not None and (isinstance(interval, bool) or not isinstance(interval, (int, float)) or interval < 0):
        return Unreadable(f"expected interval_s in seconds, saw {shown(interval)}")
    if not isinstance(listed, list):
        return Unreadable(f"expected a list of members, saw {shown(listed)}")
    addresses = []
    for item in listed:
        found = words(item, "address", "state")
        if isinstance(found, Unreadable):
            return found
        addresses.append(found[0])
    return Roster(interval, tuple(addresses))
