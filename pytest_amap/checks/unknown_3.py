"""Unknown 3: a lane that is mounted but missing from the policy is unreadable.

Asked of a throwaway sandbox that differs from the sender's in name, main process and one line of the policy. The inbox
lane is the twin: mounted alike, listed in the policy, so that only the policy can tell the two apart.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field

from pytest_amap import probes
from pytest_amap.commands import Look, Planned
from pytest_amap.host import throwaway
from pytest_amap.host.lab import INBOX, PEER, Lab
from pytest_amap.host.throwaway import NAME, Made, Removed
from pytest_amap.judging import decided, listed, unknown
from pytest_amap.observations import Ran, Stat
from pytest_amap.parsers import Unreadable, cli, containers, policy, text
from pytest_amap.verdicts import FAIL, PASS, UNKNOWN, Outcome, Part

INTERCEPTOR = "amap-openshell interceptor:"
READY = "Ready"
GRANTED_TO_READ = "read-only"
NOT_LISTED = "none"


@dataclass(frozen=True)
class Looks:
    """What was seen of the probe while it stood; `real` maps each path of a mount's source to its real path."""

    containers: Ran
    inspected: tuple[Ran, ...]
    policy: Ran
    inbox: Ran
    peer: Ran
    after: Ran
    lanes: tuple[Stat, ...]
    real: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Seen:
    """`lane` is the sender's peer lane on the host; `looks` is None where there was nothing to look at."""

    lane: str
    label_prefix: str
    made: Made
    looks: Looks | None
    removed: Removed


def plan(lab: Lab) -> Iterable[Planned]:
    *making, deleting = throwaway.planned(lab)
    probe = throwaway.Throwaway(lab).member
    yield from making
    yield lab.commands.containers_of("<probe id>", lab.options.label_prefix)
    yield lab.commands.inspect("<container>")
    yield lab.commands.policy_of(NAME)
    yield probe.probing(probes.names_in(INBOX), "list the inbox lane, which the policy lists")
    yield probe.probing(probes.names_in(PEER), "list the peer lane, which the policy does not list")
    for lane in ("inbox", "peer"):
        yield Look(os.fspath(lab.home.lane(lab.sender.name, lane)), "owner and mode of the lane")
    yield deleting


def collect(lab: Lab) -> Seen:
    """Make the probe, look at it from both sides, and remove it whatever happens."""
    probe = throwaway.Throwaway(lab)
    looks = None
    try:
        made = probe.make()
        if made.id and not made.problem:
            looks = look(lab, probe, made)
    finally:
        removed = probe.remove()
    lane = os.fspath(lab.home.lane(lab.sender.name, "peer"))
    return Seen(lane, f"{lab.options.label_prefix}/", made, looks, removed)


def look(lab: Lab, probe: throwaway.Throwaway, made: Made) -> Looks:
    host, commands = lab.host, lab.commands
    boxes = host.run(commands.containers_of(made.id, lab.options.label_prefix))
    inspected = tuple(host.run(commands.inspect(word)) for word in boxes.stdout.split()[:8]) if boxes.ok else ()
    lane = os.fspath(lab.home.lane(lab.sender.name, "peer"))
    sources = {mount.source for ran in inspected for box in read(ran) for mount in box.mounts if mount.source}
    return Looks(
        containers=boxes,
        inspected=inspected,
        policy=host.run(commands.policy_of(NAME)),
        inbox=probe.member.probe(probes.names_in(INBOX), "list the inbox lane, which the policy lists"),
        peer=probe.member.probe(probes.names_in(PEER), "list the peer lane, which the policy does not list"),
        after=host.run(commands.get(NAME)),
        lanes=tuple(
            host.stat(os.fspath(lab.home.lane(lab.sender.name, name)), "owner and mode of the lane")
            for name in ("inbox", "peer")
        ),
        real={path: os.path.realpath(path) for path in (*sources, lane)},
    )


def read(ran: Ran) -> tuple[containers.Container, ...]:
    found = containers.containers(ran.stdout) if ran.ok else ()
    return found if isinstance(found, tuple) else ()


def judge(seen: Seen) -> list[Part]:
    parts = [made(seen.made)]
    if seen.looks is not None:
        parts += [mounted(seen, seen.looks), missing(seen.looks), twins(seen.looks)]
        parts += [listable(seen.looks), unreadable(seen, seen.looks), outlived(seen.made, seen.looks)]
    return [*parts, gone(seen)]


def made(seen: Made) -> Part:
    name, want = f"the probe sandbox {NAME} was made", f"phase {READY}"
    records = tuple(ran.record for ran in (seen.create, seen.live) if ran)
    if seen.create and text.says(seen.create.stderr + seen.create.stdout, INTERCEPTOR):
        why = f"a create interceptor refused it, so this cannot be asked while it is on: {seen.problem}"
        return unknown(name, want, why, *records)
    found = cli.sandbox(seen.live.stdout) if seen.live else Unreadable("nothing was created")
    if seen.problem:
        return unknown(name, want, seen.problem, *records)
    if isinstance(found, Unreadable):
        return unknown(name, want, found, *records)
    if (found.name, found.id) != (NAME, seen.id):
        return unknown(name, want, f"sandbox {found.name}, id {found.id}, is another one", *records)
    if found.phase != READY:
        return unknown(name, want, f"phase {found.phase}", *records)
    return decided(name, True, want, f"{found.phase}, id {found.id}", *records)


def mounted(seen: Seen, looks: Looks) -> Part:
    """A premise: without the mount the question was not asked."""
    name, want = "the peer lane is mounted in the probe's own container", f"{seen.lane} at {PEER}"
    records = (looks.containers.record, *(ran.record for ran in looks.inspected))
    boxes = [box for ran in looks.inspected for box in read(ran)]
    if not looks.containers.ok or not len(boxes) == len(looks.inspected) == len(set(looks.containers.stdout.split())):
        said = next((ran.said for ran in (looks.containers, *looks.inspected) if not ran.ok), "no description")
        return unknown(name, want, f"the containers could not be read ({said})", *records)
    workloads = containers.workloads(boxes, seen.made.id, seen.label_prefix)
    bearing = [box for box in workloads if box.mount(PEER)]
    if len(bearing) != 1:
        return unknown(name, want, f"{len(bearing)} of its {len(workloads)} containers with that mount", *records)
    mount = bearing[0].mount(PEER)
    source = mount.source if mount else ""
    if looks.real.get(source, source) != looks.real.get(seen.lane, seen.lane):
        return unknown(name, want, f"{source} is mounted there, which is not the sender's peer lane", *records)
    return decided(name, True, want, f"{source} in container {bearing[0].name}", *records)


def missing(looks: Looks) -> Part:
    """The other premise, from the policy that the gateway holds."""
    name, want = "the effective policy has no access to the peer lane", f"peer {NOT_LISTED}, inbox {GRANTED_TO_READ}"
    found = looks.policy.parsed(policy.policy)
    if isinstance(found, Unreadable):
        return unknown(name, want, found, looks.policy.record)
    peer, inbox = policy.access(found, PEER), policy.access(found, INBOX)
    said = f"peer {peer}, inbox {inbox}"
    return Part(name, PASS if said == want else UNKNOWN, want, said, (looks.policy.record,))


def twins(looks: Looks) -> Part:
    """Owner and mode are no reason for a difference."""
    name, want = "on the host the two lanes differ in nothing else", "same kind, owner and mode"
    records = tuple(stat.record for stat in looks.lanes)
    inbox, peer = ((one.kind, one.uid, one.gid, one.mode) for one in looks.lanes)
    said = f"inbox {' '.join(map(str, inbox))}, peer {' '.join(map(str, peer))}"
    return Part(name, PASS if inbox == peer and inbox[0] == "directory" else UNKNOWN, want, said, records)


def listable(looks: Looks) -> Part:
    name, want = "control: the inbox lane can be listed in the probe", "a listing"
    found = probes.answer(looks.inbox)
    if isinstance(found, Unreadable):
        return unknown(name, want, found, looks.inbox.record)
    if found.get("errno") is not None:
        return unknown(name, want, str(found.get("errno")), looks.inbox.record)
    return decided(name, True, want, listed(found.get("names") or (), "an empty listing"), looks.inbox.record)


def unreadable(seen: Seen, looks: Looks) -> Part:
    """EACCES is Landlock's answer; that a listing works is the contradiction this check looks for."""
    name, want = "the peer lane cannot be listed in the probe", "EACCES"
    found = probes.answer(looks.peer)
    records = (looks.peer.record, looks.inbox.record, looks.policy.record)
    if isinstance(found, Unreadable):
        return unknown(name, want, found, *records)
    errno = found.get("errno")
    if errno is None:
        names = listed(found.get("names") or (), "no entry")
        return Part(name, readable(seen, looks), want, f"it was listed: {names}", records)
    if errno != "EACCES":
        return unknown(name, want, f"{errno}, which is not the policy's answer", *records)
    if found.get("permitted") is not True:
        return unknown(name, want, "EACCES, which its owner and mode alone explain", *records)
    return Part(name, listable(looks).outcome, want, "EACCES", records)


def readable(seen: Seen, looks: Looks) -> Outcome:
    """A listing contradicts the sentence where this sandbox has the lane mounted and its policy leaves it out."""
    found = looks.policy.parsed(policy.policy)
    left_out = not isinstance(found, Unreadable) and policy.access(found, PEER) == NOT_LISTED
    after = looks.after.parsed(cli.sandbox)
    same = not isinstance(after, Unreadable) and after.id == seen.made.id
    return FAIL if left_out and same and mounted(seen, looks).outcome is PASS else UNKNOWN


def outlived(made: Made, looks: Looks) -> Part:
    """A correct denial does not end the sandbox, and it is still the one that was made."""
    name, want = "the probe still stood after it", f"{READY}, id {made.id}"
    found = looks.after.parsed(cli.sandbox)
    if isinstance(found, Unreadable):
        return unknown(name, want, found, looks.after.record)
    said = f"{found.phase}, id {found.id}" + ("" if found.name == NAME else f", of {found.name}")
    return Part(name, PASS if said == want else UNKNOWN, want, said, (looks.after.record,))


def gone(seen: Seen) -> Part:
    name, want = "the probe was deleted and is gone", "nothing of that name in a listing of every sandbox"
    records = tuple(ran.record for ran in (seen.removed.delete, seen.removed.gone) if ran)
    if seen.removed.problem:
        return unknown(name, want, seen.removed.problem, *records)
    return decided(name, True, want, "deleted and gone" if seen.removed.delete else "nothing was there", *records)
