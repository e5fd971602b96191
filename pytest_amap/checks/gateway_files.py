"""Unknown 6's first half: what the gateway's file says, what wins over it, whether the gateway has read it. Pure."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from pytest_amap import instants
from pytest_amap.judging import decided, unknown
from pytest_amap.parsers import Unreadable, units
from pytest_amap.parsers.gateway_settings import State
from pytest_amap.verdicts import Part

if TYPE_CHECKING:
    from pytest_amap.checks.unknown_6 import Seen

OTHERS = "other settings of the gateway"


def judge(seen: Seen) -> Iterable[Part]:
    return [*settings(seen), more_settings(seen), overriding(seen)]


def settings(seen: Seen) -> Iterable[Part]:
    records = (seen.files.toml.record, seen.files.environment.record if seen.files.environment else "")
    for finding in seen.files.findings(seen.port, seen.alias):
        name = f"gateway settings: {finding.name}"
        if finding.state is State.UNREADABLE:
            yield unknown(name, finding.expected, finding.seen, *records)
        elif seen.files.hidden and not finding.ok:
            yield unknown(name, finding.expected, f"{finding.seen}, while something may win over it unseen", *records)
        else:
            yield decided(name, finding.ok, finding.expected, finding.seen, *records)


def more_settings(seen: Seen) -> Part:
    """What the posture does not rest on is named, so that no setting changes unseen; the operator reads it."""
    want = "each one is named"
    file = seen.files.file
    records = (seen.files.toml.record, seen.unit.record)
    if isinstance(file, Unreadable):
        return unknown(OTHERS, want, file, *records)
    return decided(OTHERS, True, want, "; ".join(seen.files.others()) or "none", *records)


def overriding(seen: Seen) -> Part:
    """A setting of the file holds only where nothing that wins over it is hidden. Whether the service runs is not
    asked here: without a user bus its files tell what it is started with, and that is no broken gateway."""
    name, want = "what overrides the gateway's file", "all that may override it can be read, and was there at the start"
    beside = [ran.record for ran in (seen.files.environment, seen.manager) if ran is not None]
    records = (seen.unit.record, *beside)
    read = seen.unit.parsed(units.unit)
    if open_questions := [*seen.files.hidden, *(later(seen, read) if isinstance(read, units.Unit) else ())]:
        return unknown(name, want, "; ".join(open_questions), *records)
    bus = " (set XDG_RUNTIME_DIR, or log in as this user)" if units.without_bus(seen.unit.stderr) else ""
    service = f"its service is not known: {read.why}{bus}" if isinstance(read, Unreadable) else f"service {read.state}"
    drop_ins = f"; drop-ins {', '.join(seen.files.drop_ins)}" if seen.files.drop_ins else ""
    said = f"the file is {seen.files.how}: {seen.files.toml.path}; {service}{drop_ins}"
    return decided(name, True, want, said, *records)


def later(seen: Seen, unit: units.Unit) -> Iterable[str]:
    """Files that were changed after the gateway had read them; a start is told to the second.

    A service that runs since nobody knows when may have read anything.
    """
    since = instants.epoch(unit.since)
    if since is None:
        if unit.state == "active":
            told = unit.active_since or "no time"
            yield f"whether the gateway has read its files is not known, its start being told as {told}: restart it"
        return
    for file in filter(None, (seen.files.toml, seen.files.environment)):
        changed = instants.epoch(file.mtime)
        if changed is not None and int(changed) > since:
            name = os.path.basename(file.path)
            yield f"{name} is of {file.mtime}, and the gateway started at {unit.since}: restart it"
