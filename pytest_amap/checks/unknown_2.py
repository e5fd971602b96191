"""Unknown 2: the errno of an agent's write to the inbox lane."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pytest_amap.checks.standing import recorded
from pytest_amap.checks.writing import Attempt, attempt, control_part, elsewhere, planned
from pytest_amap.commands import Planned
from pytest_amap.host.lab import Lab, Member
from pytest_amap.judging import decided, only_beside, unknown
from pytest_amap.observations import Ran
from pytest_amap.parsers import Unreadable
from pytest_amap.verdicts import Part


@dataclass(frozen=True)
class Seen:
    """A write to the inbox, one to the outbox that must work, and whose sandbox it was."""

    member: str
    id: str
    attempt: Attempt
    standing: Ran


def plan(lab: Lab) -> Iterable[Planned]:
    return [*planned(lab.sender, "unknown_2"), lab.commands.get(lab.sender.name)]


def collect(sender: Member) -> Seen:
    tried = attempt(sender, "unknown_2")
    return Seen(sender.name, sender.id, tried, sender.lab.host.run(sender.lab.commands.get(sender.name)))


def judge(seen: Seen) -> list[Part]:
    control = control_part(seen.attempt)
    errno = only_beside(control.outcome, errno_part(seen.attempt))
    return [control, errno, recorded(seen.member, seen.id, seen.standing)]


REFUSALS = ("EROFS", "EACCES", "EPERM")
"""What layers refuse a write with. Any other errno says that the write met no layer: a full disk, a missing lane."""


def errno_part(tried: Attempt) -> Part:
    """Only the probe's own answer counts: an exit status alone says nothing of the errno."""
    name, want = "the errno of a write to the inbox", "EROFS"
    records = (tried.inbox.record, tried.on_host.record, tried.inbox_lane.record)
    if tried.created:
        return decided(name, False, want, "the write worked: the file is on the host", *records)
    found = tried.errno_of(tried.inbox)
    if isinstance(found, Unreadable):
        return unknown(name, want, found, *records)
    if found is None:
        return decided(name, False, want, "the write worked", *records)
    if found not in REFUSALS:
        return unknown(name, want, f"{found}, which is no refusal", *records)
    if why := elsewhere(tried.inbox, tried.inbox_lane):
        return unknown(name, want, f"{found}, but {why}", *records)
    if tried.on_host.kind != "absent":
        return unknown(name, want, f"{found}; on the host: {tried.on_host.kind}", *records)
    return decided(name, found == "EROFS", want, found, *records)
