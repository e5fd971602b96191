"""Pass criterion 3: a write to the inbox lane is denied at both layers, the mount and the policy's entry."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kit import lanes
from pytest_amap import probes
from pytest_amap.checks import boxes
from pytest_amap.checks.standing import still_ready
from pytest_amap.checks.writing import Attempt, attempt, control_part, elsewhere, planned
from pytest_amap.commands import Command, Planned
from pytest_amap.judging import decided, listed, only_beside, unknown
from pytest_amap.observations import Ran, Stat
from pytest_amap.parsers import Unreadable, containers, mountinfo, policy
from pytest_amap.verdicts import FAIL, PASS, UNKNOWN, Part

if TYPE_CHECKING:
    from pytest_amap.host.lab import Lab, Member

OPENSHELL_ROOTS = (
    *("/.openshell", "/opt/openshell", "/etc/openshell", "/etc/openshell-tls"),
    *("/run/openshell", "/run/openshell-sidecar", "/run/netns"),
)
"""Its own runtime's places, which its driver refuses as targets of anybody else's bind (container_paths.rs)."""

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
            mount_flags(one, seen.label_prefix),
            mount_table(one),
            same_directories(one),
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


def mount_flags(one: Box, prefix: str) -> Part:
    """Layer one, from outside: sources, targets and RW of the one container that bears the lanes."""
    name, want = (
        f"{one.member}'s mounts, as the runtime shows them",
        "payload, roster, inbox, peer read-only; outbox writable; each from this member's own source",
    )
    records = one.containers.records
    found = one.containers.workloads(one.id, prefix)
    if isinstance(found, Unreadable):
        return unknown(name, want, found, *records)
    bearing = [box for box in found if any(box.mount(bound.target) for bound in one.wanted)]
    if len(bearing) > 1 or (not bearing and len(found) != 1):
        return unknown(name, want, f"{len(bearing)} of {len(found)} containers of this sandbox bear lanes", *records)
    box = (bearing or found)[0]
    if box.status != "running":
        return unknown(name, want, f"container {box.name} is {box.status}: another one may run the sandbox", *records)
    wrong = list(wrong_mounts(one, box.mounts))
    return decided(name, not wrong, want, listed(wrong) if wrong else "as expected", *records)


def wrong_mounts(one: Box, mounts: tuple[containers.Mount, ...]) -> Iterable[str]:
    at = {mount.destination: mount for mount in mounts}
    for bound in one.wanted:
        mount = at.get(bound.target)
        if mount is None:
            yield f"{bound.target} is not mounted"
        elif mount.rw is bound.read_only:
            yield f"{bound.target} is {'writable' if mount.rw else 'read-only'} (mount layer)"
        elif os.path.normpath(mount.source) not in (bound.source, bound.given):
            yield f"{bound.target} comes from another source ({mount.source})"
    known = {bound.target for bound in one.wanted}
    for mount in mounts:
        stranger = mount.kind == "bind" and not below(mount.destination, OPENSHELL_ROOTS)
        if mount.destination not in known and (stranger or below(mount.destination, (UNLISTED,))):
            yield f"an extra {mount.kind} at {mount.destination}"


def below(path: str, roots: Iterable[str]) -> bool:
    """Whether a path is one of the roots, or lies in it."""
    return any((os.path.normpath(path) + "/").startswith(root + "/") for root in roots)


def mount_table(one: Box) -> Part:
    """Layer one, from inside: the kernel's table, with what is mounted below a read-only lane."""
    name, want = (
        f"{one.member}'s mounts, as its kernel shows them",
        "every read-only lane read-only, nothing writable below one, and no other way to write to it",
    )
    answer = probes.answer(one.mounts)
    table = mountinfo.mounts(str(answer.get("text", ""))) if not isinstance(answer, Unreadable) else answer
    if isinstance(table, Unreadable):
        return unknown(name, want, table, one.mounts.record)
    wrong = []
    for bound in one.wanted:
        mounted = mountinfo.at(table, bound.target)
        if mounted is None:
            wrong.append(f"{bound.target} is no mount of its own")
        elif bound.read_only and mounted.writable:
            wrong.append(f"{bound.target} is writable")
        below = mountinfo.below(table, bound.target) if bound.read_only else ()
        wrong += [f"{sub.point} is writable below it" for sub in below if sub.writable]
    ways = [] if isinstance(answer, Unreadable) else answer.get("ways")
    if not wrong and not isinstance(ways, list):
        return unknown(name, want, "the probe named no other ways", one.mounts.record)
    wrong += list(detours(one, table, ways or []))
    return decided(name, not wrong, want, listed(wrong) if wrong else "as expected", one.mounts.record)


def detours(one: Box, table: tuple[mountinfo.Mounted, ...], ways: Iterable[tuple[str, int]]) -> Iterator[str]:
    """Writable mounts elsewhere through which a read-only lane is reached: a volume that is a bind in disguise, say."""
    closed = {bound.target for bound in one.wanted if bound.read_only}
    for target, number in ways:
        if target in closed and table[number].writable:
            yield f"{target} can be written through {table[number].point}"


def same_directories(one: Box) -> Part:
    """A source that was made anew on the host leaves the sandbox with the old, orphaned directory."""
    name, want = f"{one.member}'s lanes are the host's present directories", "the same device and inode on both sides"
    records = (one.mounts.record, *(stat.record for stat in one.sources))
    answer = probes.answer(one.mounts)
    inodes = answer.get("inodes") if not isinstance(answer, Unreadable) else None
    if not isinstance(inodes, dict):
        return unknown(name, want, answer if isinstance(answer, Unreadable) else "the probe named no inodes", *records)
    pairs = [(bound, stat, inodes.get(bound.target)) for bound, stat in zip(one.wanted, one.sources, strict=True)]
    unread = [bound.target for bound, stat, inner in pairs if not isinstance(inner, list) or stat.kind == "unreadable"]
    stale = [
        bound.target
        for bound, stat, inner in pairs
        if bound.target not in unread and inner != [stat.device, stat.inode]
    ]
    if stale:
        return decided(name, False, want, f"another directory stands at {listed(stale)}", *records)
    return (
        unknown(name, want, f"{listed(unread)} could not be looked at", *records)
        if unread
        else decided(name, True, want, "the same", *records)
    )


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
        if path not in named and below(path, (UNLISTED,))
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
