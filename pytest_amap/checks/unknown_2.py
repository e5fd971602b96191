"""Unknown 2: the errno of an agent's write to the inbox lane."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_amap.checks.writing import Attempt, attempt, control_part, planned
from pytest_amap.commands import Planned
from pytest_amap.judging import decided, only_beside, unknown
from pytest_amap.parsers import Unreadable
from pytest_amap.verdicts import Part

if TYPE_CHECKING:
    from pytest_amap.host.lab import Lab, Member


@dataclass(frozen=True)
class Seen:
    """A write to the inbox, and one to the outbox that must work."""

    attempt: Attempt


def plan(lab: Lab) -> Iterable[Planned]:
    return planned(lab.sender, "unknown_2")


def collect(sender: Member) -> Seen:
    return Seen(attempt(sender, "unknown_2"))


def judge(seen: Seen) -> list[Part]:
    control = control_part(seen.attempt)
    return [control, only_beside(control.outcome, errno_part(seen.attempt))]


REFUSALS = ("EROFS", "EACCES", "EPERM")
"""What layers refuse a write with. Any other errno says that the write met no layer: a full disk, a missing lane."""


def errno_part(tried: Attempt) -> Part:
    """Only the probe's own answer counts: an exit status alone says nothing of the errno."""
    name, want, record = "the errno of a write to the inbox", "EROFS", tried.inbox.record
    if tried.created:
        return decided(name, False, want, "the write worked: the file is on the host", record, tried.on_host.record)
    found = tried.errno_of(tried.inbox)
    if isinstance(found, Unreadable):
        return unknown(name, want, found, record)
    if found is not None and found not in REFUSALS:
        return unknown(name, want, f"{found}, which is no refusal", record)
    return decided(name, found == "EROFS", want, found or "the write worked", record)
