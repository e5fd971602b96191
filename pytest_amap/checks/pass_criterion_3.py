"""Pass criterion 3: a write to the inbox lane is denied at both layers, the mount and the policy's entry."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kit import lanes
from pytest_amap import probes
from pytest_amap.checks import boxes, lane_mounts
from pytest_amap.checks.standing import still_ready
from pytest_amap.checks.writing import Attempt, attempt, control_part, elsewhere, planned
from pytest_amap.commands import Command, Planned
from pytest_amap.judging import decided, listed, only_beside, unknown
from pytest_amap.observations import Ran, Stat
from pytest_amap.parsers import Unreadable, policy
from pytest_amap.verdicts import FAIL, PASS, UNKNOWN, Part

if TYPE_CHECKING:
    from pytest_amap.host.lab import Lab, Member

UNLISTED = lanes.SANDBOX_ROOT
"""Mounted below, listed nowhere itself, and readable by everybody as far as ownership goes."""


@dataclass(frozen=True)
class Bound:
    """One row of the mount table as it must be; `source` is resolved, `given` as the create command has it."""

    source: str
    given: str
    target: str
    read_only: bool


@dataclass(frozen=True)
class Box:
    """One member's sandbox from outside and from inside."""

    member: str
    id: str
    wanted: tuple[Bound, ...]
    sources: tuple[Stat, ...]
    containers: boxes.Boxes
    policy: Ran
    mounts: Ran
    unlisted: Ran
    listed: Ran


@dataclass(frozen=True)
class Seen:
    member: str
    attempt: Attempt
    phase: Ran
    boxes: tuple[Box, ...]
    label_prefix: str


def plan(lab: Lab) -> Iterable[Planned]:
    yield from planned(lab.sender, "pass_criterion_3")
    yield lab.commands.get(lab.sender.name)
    for member in ends(lab):
        yield from boxes.planned(lab, member)
        yield lab.commands.policy_of(member.name)
        yield from inside(member)


def ends(lab: Lab) -> tuple[Member, Member]:
    return lab.sender, lab.receiver


def inside(member: Member) -> tuple[Command, Command, Command]:
    targets = sorted(lanes.targets().values())
    return (
        member.probing(probes.mounts(*targets), f"{member.name}'s mount table"),
        member.probing(probes.names_in(UNLISTED), f"{member.name} lists an unlisted directory"),
        member.probing(probes.names_in(lanes.PAYLOAD_TARGET), f"{member.name} lists a listed directory"),
    )


def collect(lab: Lab) -> Seen:
    tried = attempt(lab.sender, "pass_criterion_3")
    phase = lab.host.run(lab.commands.get(lab.sender.name))
    boxes = tuple(box(lab, member) for member in ends(lab))
    return Seen(lab.sender.name, tried, phase, boxes, lab.options.label_prefix)


def box(lab: Lab, member: Member) -> Box:
    host = lab.host
    rows = lanes.mounts(lab.home, member.name)
    mounts, unlisted, listed_ = (host.run(command) for command in inside(member))
    return Box(
        member=member.name,
        id=member.id,
        wanted=tuple(
            Bound(os.path.realpath(row.source), os.fspath(row.source), row.target, row.read_only) for row in rows
        ),
        sources=tuple(
            host.stat(os.path.realpath(row.source), f"{member.name}'s {row.role} on the host") for row in rows
        ),
        containers=boxes.collect(lab, member),
        policy=host.run(lab.commands.policy_of(member.name)),
        mounts=mounts,
        unlisted=unlisted,
        listed=listed_,
    )


def judge(seen: Seen) -> list[Part]:
    control = control_part(seen.attempt)
    parts = [
        control,
        only_beside(control.outcome, refused(seen)),
        still_ready(seen.member, seen.boxes[0].id, seen.phase),
    ]
    for one in seen.boxes:
        parts += [
            *lane_mounts.judge(one, seen.label_prefix),
            policy_entries(one),
            enforced(one),
        ]
    return parts


def refused(seen: Seen) -> Part:
    tried = seen.attempt
    name, want = (
        f"a write to {seen.member}'s inbox is refused",
        "EROFS or EACCES from the write itself, and no file on the host",
    )
    records = (tried.inbox.record, tried.on_host.record)
    if tried.created:
        return decided(
            name,
            False,
            want,
            "the file appeared on the host at /opt/amap/lanes/inbox (the mount lets writes through)",
            *records,
        )
    found = tried.errno_of(tried.inbox)
    if isinstance(found, Unreadable):
        return unknown(name, want, found, *records)
    if found is None:
        return decided(
            name, False, want, "the write to /opt/amap/lanes/inbox worked (the mount lets writes through)", *records
        )
    if found not in ("EROFS", "EACCES") or tried.on_host.kind != "absent":
        return unknown(name, want, f"{found}; on the host: {tried.on_host.kind}", *records)
    if why := elsewhere(tried.inbox, tried.inbox_lane):
        return unknown(name, want, f"{found}, but {why}", *records)
    return decided(name, True, want, found, *records)


def policy_entries(one: Box) -> Part:
    """Layer two, as the gateway holds it: each lane in its own list and in no other, nor below a writable parent."""
    name, want = (
        f"{one.member}'s policy entries",
        "inbox, peer, payload, roster read-only; outbox read-write; hard_requirement",
    )
    found = policy.policy(one.policy.stdout) if one.policy.ok else Unreadable(one.policy.said)
    if isinstance(found, Unreadable):
        return unknown(name, want, found, one.policy.record)
    if odd := [key for key in found.extra if key.startswith(("filesystem", "landlock"))]:
        return unknown(name, want, f"settings that this suite does not know: {listed(odd)}", one.policy.record)
    read_only, read_write = (
        {os.path.normpath(path) for path in paths} for paths in (found.read_only, found.read_write)
    )
    wrong = []
    for bound in one.wanted:
        access, wanted = policy.access(found, bound.target), "read-only" if bound.read_only else "read-write"
        if access != wanted:
            wrong.append(f"{bound.target} is {access} (policy layer)")
        elif bound.target not in (read_only if bound.read_only else read_write):
            wrong.append(f"{bound.target} has no entry of its own (policy layer)")
    named = {bound.target for bound in one.wanted}
    wrong += [
        f"{path} is listed and no lane"
        for path in sorted(read_only | read_write)
        if path not in named and lane_mounts.lies_in(path, (UNLISTED,))
    ]
    if found.compatibility != "hard_requirement":
        wrong.append(f"landlock compatibility is {found.compatibility or 'not set'}")
    return decided(name, not wrong, want, listed(wrong) if wrong else "as expected", one.policy.record)


def enforced(one: Box) -> Part:
    """Layer two, in force: an entry in a listing proves intent, not enforcement."""
    name, want = (
        f"{one.member}'s policy is in force",
        f"EACCES on listing {UNLISTED}, which no list names, while a listed directory can be listed",
    )
    records = (one.unlisted.record, one.listed.record)
    hidden, shown = probes.answer(one.unlisted), probes.answer(one.listed)
    for answer in (hidden, shown):
        if isinstance(answer, Unreadable):
            return unknown(name, want, answer, *records)
    assert not isinstance(hidden, Unreadable)
    assert not isinstance(shown, Unreadable)
    if shown.get("errno", "no errno") is not None:
        return unknown(name, want, f"the listed directory gave {shown.get('errno', 'no errno')}", *records)
    errno = hidden.get("errno", "no errno")
    if errno == "EACCES" and hidden.get("permitted") is not True:
        return unknown(name, want, "EACCES, which its owner and mode alone explain", *records)
    found = policy.policy(one.policy.stdout) if one.policy.ok else Unreadable(one.policy.said)
    if errno is None and not isinstance(found, Unreadable) and policy.access(found, UNLISTED) != "none":
        return unknown(name, want, f"it can be listed, but the policy itself lets {UNLISTED} be read", *records)
    outcome = PASS if errno == "EACCES" else FAIL if errno is None else UNKNOWN
    return Part(name, outcome, want, str(errno or "it can be listed: Landlock is not applied"), records)
