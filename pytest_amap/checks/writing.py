"""A write that must be refused beside one that must work, as unknown_2 and pass_criterion_3 try it."""

from __future__ import annotations

import os
from dataclasses import dataclass

from pytest_amap import probes
from pytest_amap.commands import Command, Look, Planned
from pytest_amap.host import files
from pytest_amap.host.lab import INBOX, OUTBOX, Member
from pytest_amap.judging import unknown
from pytest_amap.observations import Ran, Stat
from pytest_amap.parsers import Unreadable
from pytest_amap.verdicts import PASS, Part


@dataclass(frozen=True)
class Attempt:
    """`inbox` tried to create a file and leave it, `outbox` created one and removed it; the stats are the host's own
    look at both places afterwards, and at the lanes. `before` is the inbox's place before the attempt."""

    inbox: Ran
    outbox: Ran
    before: Stat
    on_host: Stat
    outbox_on_host: Stat
    inbox_lane: Stat
    outbox_lane: Stat

    @property
    def created(self) -> bool:
        """Whether the refused file stands on the host, whatever the probe said."""
        return self.before.kind == "absent" and self.on_host.kind not in ("absent", "unreadable")

    @staticmethod
    def errno_of(ran: Ran) -> str | Unreadable | None:
        """The errno's name, None when the write worked."""
        found = probes.answer(ran)
        if isinstance(found, Unreadable):
            return found
        errno = found.get("errno", 0)
        return errno if isinstance(errno, (str, type(None))) else Unreadable("the probe named no errno")


def elsewhere(ran: Ran, lane: Stat) -> str:
    """Why the probe was not in the host's lane, or "": any read-only directory at that path would answer EROFS."""
    found = probes.answer(ran)
    folder = None if isinstance(found, Unreadable) else found.get("folder")
    if lane.kind != "directory" or not isinstance(folder, list):
        return f"whether it was in the host's lane could not be told ({lane.kind} there, {folder or 'nothing'} inside)"
    return "" if folder == [lane.device, lane.inode] else "it was in another directory than the host's lane"


def probe_name(check: str, run: str) -> str:
    """A dot-file, which neither daemon nor router takes for a document; no two checks of a run meet each other's."""
    return f".amap-probe-{check}-{run}"


def commands(member: Member, name: str) -> tuple[Command, Command]:
    inbox = member.probing(probes.create(f"{INBOX}/{name}", remove=False), f"write to {member.name}'s inbox")
    outbox = member.probing(probes.create(f"{OUTBOX}/{name}", remove=True), f"write to {member.name}'s outbox")
    return inbox, outbox


def planned(member: Member, check: str) -> list[Planned]:
    name = probe_name(check, "<run>")
    inbox, outbox = commands(member, name)
    looks = [Look(path, "did anything appear") for path in places(member, name)]
    return [inbox, outbox, *looks, *(Look(os.path.dirname(look.path), "the lane on the host") for look in looks)]


def places(member: Member, name: str) -> tuple[str, str]:
    home = member.lab.home
    return os.fspath(home.lane(member.name, "inbox") / name), os.fspath(home.lane(member.name, "outbox") / name)


def attempt(member: Member, check: str) -> Attempt:
    """Try both; a file that should not have appeared is taken away again on the host."""
    host = member.lab.host
    name = probe_name(check, host.evidence.run)
    inbox_place, outbox_place = places(member, name)
    inbox, outbox = commands(member, name)
    before = host.stat(inbox_place, "the inbox before the write")
    refused, control = host.run(inbox), host.run(outbox)
    tried = Attempt(
        refused,
        control,
        before,
        host.stat(inbox_place, "the inbox after the write"),
        host.stat(outbox_place, "the outbox after the write"),
        *(host.stat(os.path.dirname(place), "the lane on the host") for place in (inbox_place, outbox_place)),
    )
    if tried.created:
        take_away(member, inbox_place)
    return tried


def take_away(member: Member, path: str) -> None:
    """What cannot be taken away is named in the report; the verdict rests on what was seen before."""
    try:
        os.unlink(path)
    except OSError as error:
        member.lab.run.left.tell(f"the probe's file {path} stays in {member.name}'s inbox ({files.name_of(error)})")


def control_part(tried: Attempt) -> Part:
    """The positive twin: a sandbox in which nothing works would otherwise refuse everything."""
    name, want = "control: the outbox takes a write", "the write works, and the file is gone again"
    records = (tried.outbox.record, tried.outbox_on_host.record, tried.outbox_lane.record)
    answer = probes.answer(tried.outbox)
    if isinstance(answer, Unreadable):
        return unknown(name, want, answer, *records)
    if answer.get("errno") is not None:
        return unknown(name, want, f"refused with {answer['errno']}", *records)
    if answer.get("gone") is not True or tried.outbox_on_host.kind != "absent":
        return unknown(name, want, "the probe's file is still there", *records)
    if why := elsewhere(tried.outbox, tried.outbox_lane):
        return unknown(name, want, f"it worked, but {why}", *records)
    return Part(name, PASS, want, "it worked and is gone", records)
