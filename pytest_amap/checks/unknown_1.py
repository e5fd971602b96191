"""Unknown 1: the router's writes appear inside a running sandbox."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

from pytest_amap import instants, probes
from pytest_amap.checks import boxes
from pytest_amap.commands import Command, Look, Planned
from pytest_amap.delegations import Delegation
from pytest_amap.host import delegating
from pytest_amap.host.lab import PEER, Lab, Member
from pytest_amap.judging import decided, listed, unknown
from pytest_amap.observations import Ran, Read
from pytest_amap.parsers import Unreadable
from pytest_amap.verdicts import Part

NOTICES = f"{PEER}/notices"
MOST_NAMES = 2000
"""As many as the probe names."""


@dataclass(frozen=True)
class Seen:
    delegation: Delegation
    on_host: Read
    names: Ran
    content: Ran
    boxes: boxes.Boxes
    receiver_id: str
    label_prefix: str


def plan(lab: Lab) -> Iterable[Planned]:
    member = lab.receiver
    yield Look(place(lab, "<notice>"), "the notice on the host")
    yield from inside(member, "<notice>")
    yield from boxes.planned(lab, member)


def place(lab: Lab, notice: str) -> str:
    return os.fspath(delegating.notice_file(lab, lab.receiver.name, notice))


def inside(member: Member, notice: str) -> tuple[Command, Command]:
    return (
        member.probing(probes.names_in(NOTICES), f"{member.name} lists its notices"),
        member.probing(probes.read(f"{NOTICES}/notice-{notice}.json"), f"{member.name} reads the notice"),
    )


def collect(receiver: Member, delegation: Delegation) -> Seen:
    lab, host = receiver.lab, receiver.lab.host
    on_host = host.read(place(lab, delegation.notice), "the notice on the host")
    names, content = (host.run(command) for command in inside(receiver, delegation.notice))
    found = boxes.collect(lab, receiver)
    return Seen(delegation, on_host, names, content, found, receiver.id, lab.options.label_prefix)


def judge(seen: Seen) -> list[Part]:
    return [visible(seen), same_content(seen), younger(seen)]


def visible(seen: Seen) -> Part:
    receiver, notice = seen.delegation.receiver, f"notice-{seen.delegation.notice}.json"
    name, want = f"{receiver} lists the notice that the host shows", notice
    records = (seen.names.record, seen.on_host.record)
    if seen.on_host.text is None:
        return unknown(name, want, f"the host itself does not show it ({seen.on_host.problem})", *records)
    answer = probes.answer(seen.names)
    if isinstance(answer, Unreadable):
        return unknown(name, want, answer, *records)
    if answer.get("errno") is not None:
        return unknown(name, want, f"the lane could not be listed ({answer['errno']})", *records)
    names = answer.get("names") or ()
    if notice not in names and len(names) >= MOST_NAMES:
        return unknown(name, want, f"the first {len(names)} notices, not this one", *records)
    return decided(
        name,
        notice in names,
        want,
        f"notices listed: {len(names)}, {'it among them' if notice in names else 'not this one'}",
        *records,
    )


def same_content(seen: Seen) -> Part:
    name, want = "its content is the same inside and on the host", "the same text"
    records = (seen.content.record, seen.on_host.record)
    answer = probes.answer(seen.content)
    if isinstance(answer, Unreadable):
        return unknown(name, want, answer, *records)
    if answer.get("text") is None or seen.on_host.text is None:
        return unknown(
            name,
            want,
            f"inside: {answer.get('errno') or 'read'}; on the host: {seen.on_host.problem or 'read'}",
            *records,
        )
    same = answer["text"] == seen.on_host.text
    return decided(name, same, want, "the same" if same else "another text", *records)


def younger(seen: Seen) -> Part:
    """Only a write made while the sandbox was running shows that writes appear."""
    receiver = seen.delegation.receiver
    name, want = f"the router wrote it after {receiver} started", "a notice younger than the sandbox's start"
    placement = seen.delegation.placement()
    audit = seen.delegation.receiver_audit
    records = (audit.record if audit else "", *seen.boxes.records)
    if placement is None or placement.notice_id != seen.delegation.notice:
        return unknown(name, want, "no placement in the router's audit log", *records)
    found = seen.boxes.workloads(seen.receiver_id, seen.label_prefix)
    if isinstance(found, Unreadable):
        return unknown(name, want, found, *records)
    if len(found) != 1:
        said = f"{listed(box.name for box in found)} bear this sandbox's id, not one container"
        return unknown(name, want, said, *records)
    box = found[0]
    started, written = instants.second(box.started_at), instants.second(placement.ts)
    if box.status != "running" or not started or not written:
        said = f"container {box.status}, started {box.started_at or 'at no known time'}, written {placement.ts}"
        return unknown(name, want, said, *records)
    said, now = f"written {written}, started {started} (UTC)", instants.second(seen.names.ended)
    if max(written, started) > now:
        return unknown(name, want, f"{said}, but it is {now} only: the clock was set back", *records)
    if written > started:
        return decided(name, True, want, said, *records)
    return unknown(name, want, f"{said}: no notice is younger than {receiver}'s start; run --from-step 7", *records)
