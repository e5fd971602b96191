"""Pass criterion 3's first layer: how a sandbox's lanes are mounted, by the runtime and by its own kernel. Pure."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from kit import lanes
from pytest_amap import probes
from pytest_amap.judging import decided, listed, unknown
from pytest_amap.parsers import Unreadable, containers, mountinfo
from pytest_amap.verdicts import Part

if TYPE_CHECKING:
    from pytest_amap.checks.pass_criterion_3 import Box

OPENSHELL_ROOTS = (
    *("/.openshell", "/opt/openshell", "/etc/openshell", "/etc/openshell-tls"),
    *("/run/openshell", "/run/openshell-sidecar", "/run/netns"),
)
"""Its own runtime's places, which its driver refuses as targets of anybody else's bind (container_paths.rs)."""


def judge(one: Box, prefix: str) -> list[Part]:
    return [mount_flags(one, prefix), mount_table(one), same_directories(one)]


def mount_flags(one: Box, prefix: str) -> Part:
    """From outside: sources, targets and RW of the one container that bears the lanes."""
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
    """Every row counts: their order does not say which of two at one target hides the other."""
    wanted = {bound.target: bound for bound in one.wanted}
    there = {mount.destination for mount in mounts}
    yield from (f"{target} is not mounted" for target in wanted if target not in there)
    for mount in mounts:
        bound = wanted.get(mount.destination)
        if bound is None:
            stranger = mount.kind == "bind" and not lies_in(mount.destination, OPENSHELL_ROOTS)
            if stranger or lies_in(mount.destination, (lanes.SANDBOX_ROOT,)):
                yield f"an extra {mount.kind} at {mount.destination}"
        elif mount.rw is bound.read_only:
            yield f"{bound.target} is {'writable' if mount.rw else 'read-only'} (mount layer)"
        elif os.path.normpath(mount.source) not in (bound.source, bound.given):
            yield f"{bound.target} comes from another source ({mount.source})"


def lies_in(path: str, roots: Iterable[str]) -> bool:
    """Whether a path is one of the roots, or lies in it."""
    return any((os.path.normpath(path) + "/").startswith(root + "/") for root in roots)


def mount_table(one: Box) -> Part:
    """From inside: the kernel's table, with what is mounted below a read-only lane."""
    name, want = (
        f"{one.member}'s mounts, as its kernel shows them",
        "every read-only lane read-only, nothing writable below one, and no other way to write to it",
    )
    answer = probes.answer(one.mounts)
    if isinstance(answer, Unreadable):
        return unknown(name, want, answer, one.mounts.record)
    table, ways = mountinfo.mounts(str(answer.get("text", ""))), answer.get("ways")
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
