"""What `openshell logs` prints: entries and decisions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from .text import lines

_ENTRY = re.compile(
    r"\[(?P<epoch>[0-9]{1,12}\.[0-9]{1,9})\] \[(?P<source>\w+)\s*\] \[(?P<level>\w+)\s*\]"
    r" \[(?P<target>[^\]]+)\] (?P<message>.*)"
)
_DECISION = re.compile(
    r"(?P<kind>[A-Z][A-Z0-9_]*):[A-Z][A-Z0-9_]* (?:\[\w+\] )?(?P<action>ALLOWED|DENIED|BLOCKED)(?P<rest> .*|)"
)
_BINARY = re.compile(r"(?P<binary>/.*?)(?:\([0-9]{1,10}\))?", re.ASCII)
_TARGET = re.compile(
    r"(?:https?://)?(?:(?P<name>[A-Za-z0-9_.-]{1,253})|\[(?P<v6>[0-9A-Fa-f:.]{2,45})\])(?::(?P<port>[0-9]{1,5}))?"
    r"(?:/\S*)?(?: HTTP/[0-9.]+)?",
    re.ASCII,
)
_NOTES = re.compile(r" \[[a-z_]{5,}:")  # longer than a group of an IPv6 address


@dataclass(frozen=True)
class Entry:
    """One line of the log; `epoch` in seconds, `level` as printed, without padding."""

    epoch: float
    source: str
    level: str
    target: str
    message: str


@dataclass(frozen=True)
class NetEvent:
    """One decision; `kind` is its class, such as NET or DNS.

    `host` is in lower case without a final dot; empty where the line's target was not understood. `port` and `binary`
    are None where the line has none; a DNS refusal names no binary.
    """

    epoch: float
    kind: str
    action: str
    host: str
    port: int | None
    binary: str | None
    line: str


def entries(text: str) -> tuple[Entry, ...]:
    """The entries, in the order of the log; see `unparsed` for the other lines."""
    return tuple(entry for _, entry in _read(text) if entry)


def unparsed(text: str) -> tuple[str, ...]:
    """The lines that are no entry, blank ones aside.

    With any of these the log is not known to be complete.
    """
    return tuple(line for line, entry in _read(text) if not entry)


def network(text: str) -> tuple[NetEvent, ...]:
    """Every line that allows, denies or blocks something, whatever its class (field report A30)."""
    read = []
    for line, entry in _read(text):
        found = _DECISION.fullmatch(entry.message) if entry else None
        if entry and found:
            read.append(_event(entry, found, line))
    return tuple(read)


def about(events: Iterable[NetEvent], host: str) -> tuple[NetEvent, ...]:
    """The events of exactly this host: no sub-domain, no look-alike."""
    return tuple(event for event in events if event.host and event.host == _host(host))


def _read(text: str) -> list[tuple[str, Entry | None]]:
    read: list[tuple[str, Entry | None]] = []
    for line in lines(text):
        if found := _ENTRY.fullmatch(line):
            words = found["source"], found["level"], found["target"].strip(), found["message"]
            read.append((line, Entry(float(found["epoch"]), *words)))
        elif line.strip():
            read.append((line, None))
    return read


def _event(entry: Entry, decision: re.Match[str], line: str) -> NetEvent:
    """`[METHOD ]TARGET` or `BINARY[(PID)] -> TARGET`, then the bracketed notes."""
    rest = decision["rest"]
    noted = _NOTES.search(rest)
    before, arrow, target = rest[: noted.start() if noted else None].strip().rpartition(" -> ")
    binary = _BINARY.fullmatch(before.strip()) if arrow else None
    method, _, rest_of_target = target.partition(" ")
    host, port = _target(rest_of_target if rest_of_target and method.isupper() else target)
    return NetEvent(
        epoch=entry.epoch,
        kind=decision["kind"],
        action=decision["action"],
        host=host,
        port=port,
        binary=binary["binary"] if binary else None,
        line=line,
    )


def _target(text: str) -> tuple[str, int | None]:
    found = _TARGET.fullmatch(text.strip())
    port = int(found["port"]) if found and found["port"] else None
    if not found or (port is not None and not 0 < port < 65536):
        return "", None
    return _host(found["name"] or found["v6"]), port


def _host(name: str) -> str:
    return name.lower().removesuffix(".") if name.isascii() else name
