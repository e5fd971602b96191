"""Which lines of a sandbox's log belong to one call: told by what is new in it, and by the line's own clock. Pure."""

from __future__ import annotations

import re
from datetime import datetime

from pytest_amap.observations import Ran
from pytest_amap.parsers import logs
from pytest_amap.parsers.text import lines

DNS, HTTPS = 53, 443
_INTERPRETER = re.compile(r"python[0-9.]*")
"""The probe's program, by whatever version the image has."""
_LOST = re.compile(r"drop|truncat|lost|overflow|buffer|skipp|incomplete", re.IGNORECASE)
_NETWORK = re.compile(r"(NET|HTTP|DNS)[A-Z0-9_]*:")


def events(log: Ran, before: Ran, host: str, after: Ran, actions: tuple[str, ...]) -> list[logs.NetEvent]:
    """Lines about exactly that host that came since the call: new ones, and not older by their own clock."""
    return [event for event in new_lines(log, before, host, actions) if event.epoch >= begun(after)]


def new_lines(log: Ran, before: Ran, host: str, actions: tuple[str, ...]) -> list[logs.NetEvent]:
    """What was there before the call is no line of it, whatever time it bears: clocks are set back."""
    found = logs.about(logs.network(log.stdout), host) if log.ok else ()
    old = set(lines(before.stdout))
    return [event for event in found if event.action in actions and event.line not in old]


def begun(call: Ran) -> float:
    return datetime.fromisoformat(call.started).timestamp()


def by_name_alone(event: logs.NetEvent) -> bool:
    """That a name was looked up, or was not, is no connection."""
    return event.port == DNS or event.kind == "DNS"


def of_the_probe(event: logs.NetEvent) -> bool:
    """Not of another program or another port of the same host; a refusal by name tells neither."""
    if event.port not in (None, DNS, HTTPS):
        return False
    return event.binary is None or _INTERPRETER.fullmatch(event.binary.rpartition("/")[2]) is not None


def unread(log: Ran, before: Ran, host: str, since: float) -> list[str]:
    """What came since and may be the line that is missed: no entry, such as a word of lines dropped, a decision about
    the host in words or of a form not known, one that ends in the middle, or a warning beside the log."""
    old = {*lines(before.stdout), *lines(before.stderr)}
    understood = {event.line for event in logs.network(log.stdout) if event.host}
    odd = [line for line in logs.unparsed(log.stdout) if line not in old]
    odd += [line for line in lines(log.stderr) if line not in old and _LOST.search(line)]
    last = lines(log.stdout)[-1]
    for entry in logs.entries(log.stdout):
        if entry.epoch < since or not _NETWORK.match(entry.message):
            continue
        not_known = host in entry.message.lower() and not any(line.endswith(entry.message) for line in understood)
        if not_known or (last.endswith(entry.message) and not last.endswith("]")):
            odd.append(entry.message)
    return odd


def reaches_back(log: Ran, before: Ran, since: float, most: int) -> bool:
    """Whether nothing that came since the call can have left a log that keeps its newest lines alone."""
    found, old = logs.entries(log.stdout), logs.entries(before.stdout)
    return found[0].epoch < since or (not {*found}.isdisjoint(old) if old else len(found) < most)
