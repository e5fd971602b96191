"""Listeners as `ss -ltnH` shows them.

Piped, some versions glue the first columns: `LISTEN0` (field report A17).
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

from .addresses import is_loopback
from .text import lines

__all__ = ["Listeners", "is_loopback", "listeners"]

_ROW = re.compile(
    r"LISTEN\s*[0-9]{1,10}\s+[0-9]{1,10}\s+(?P<address>\S{1,80}):(?P<port>[0-9]{1,5})\s+\S{1,80}:\*(?:\s.*)?", re.ASCII
)
_ZONE = re.compile(r"%[\w.-]+", re.ASCII)


@dataclass(frozen=True)
class Listeners:
    """Who listens on one port: addresses without brackets, `*` for all; and unreadable rows.

    While `unparsed` is not empty, nothing follows from an address that is not there.
    """

    addresses: tuple[str, ...]
    unparsed: tuple[str, ...]


def listeners(ss_text: str, port: int) -> Listeners:
    """The listeners on `port`.

    A heading row is skipped; any other row that is not understood is kept. Of another port's row the address is not
    looked at.
    """
    addresses, unparsed = [], []
    for line in lines(ss_text):
        row = line.strip()
        if not row or (row.startswith("State") and "Local Address:Port" in row):
            continue
        found = _ROW.fullmatch(row)
        if found and port != int(found["port"]) <= 65535:
            continue
        address = _address(found["address"]) if found and int(found["port"]) == port else None
        if address is None:
            unparsed.append(row[:300])
        else:
            addresses.append(address)
    return Listeners(tuple(addresses), tuple(unparsed))


def _address(text: str) -> str | None:
    """`*`, or a numeric address, with its zone, which ss writes inside or behind the brackets."""
    if text.partition("%")[0] == "*":
        return text
    bare = text.replace("[", "", 1).replace("]", "", 1)
    try:
        ipaddress.ip_address(_ZONE.sub("", bare, count=1))
    except ValueError:
        return None
    return bare
