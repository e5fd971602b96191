"""Pass criterion 3: what makes it PASS, FAIL and UNKNOWN, layer by layer."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import judge_tables
import writing_samples
from container_samples import bind, boxes, container, sandbox
from receiver_samples import answer
from request_samples import ran
from writing_samples import THERE

from kit import lanes, policy
from kit.home import Home
from kit.names import RunAs
from pytest_amap.checks.boxes import Boxes
from pytest_amap.checks.pass_criterion_3 import Bound, Box, Seen, judge
from pytest_amap.observations import Ran, Stat
from pytest_amap.verdicts import FAIL, UNKNOWN

HOME = Home(Path("/srv/amap"))
POLICY = policy.render(RunAs(1000, 1000))
ROOT, INBOX, PEER = lanes.SANDBOX_ROOT, "/opt/amap/lanes/inbox", "/opt/amap/lanes/peer"
CHANNEL = bind("/var/lib/docker/volumes/channel", "/.openshell/channel", rw=True, kind="volume")
DENIED = answer(errno="EACCES", names=[], permitted=True)
LISTED = answer(errno=None, names=["bin"], permitted=True)


def bounds(member: str = "alpha") -> tuple[Bound, ...]:
    rows = lanes.mounts(HOME, member)
    return tuple(Bound(os.fspath(row.source), os.fspath(row.source), row.target, row.read_only) for row in rows)


def binds(member: str = "alpha", **changes: dict[str, Any] | None) -> list[dict[str, Any]]:
    """The runtime's rows; `inbox=None` leaves one out, `inbox={...}` changes it."""
    rows = {
        row.role: bind(os.fspath(row.source), row.target, rw=not row.read_only) for row in lanes.mounts(HOME, member)
    }
    for role, change in changes.items():
        rows[role] = rows[role] | (change or {"Destination": "/nowhere"})
    return [CHANNEL, *(row for row in rows.values() if row["Destination"] != "/nowhere")]


def mount_line(target: str, options: str, super_options: str = "rw") -> str:
    return f"60 50 8:1 / {target} {options},relatime - ext4 /dev/x {super_options}"


def table(
    *more: str, inodes: Mapping[str, object] | None = None, ways: Iterable[tuple[str, int]] = (), **options: str
) -> Ran:
    """The probe's answer: `inbox="rw"` changes one lane's options, "" leaves it out. `more` is from place 6 on."""
    lines = [mount_line("/", "rw")]
    for role, target in lanes.targets().items():
        if word := options.get(role, "ro" if lanes.is_read_only(role) else "rw"):
            lines.append(mount_line(target, *word.split(" ")))
    found = {target: [8, number] for number, target in enumerate(lanes.targets().values())} | dict(inodes or {})
    return answer(text="\n".join([*lines, *more]), inodes=found, ways=list(ways))


def side(member: str = "alpha") -> Box:
    sources = tuple(
        Stat(bound.source, "directory", "755", 1000, 1000, device=8, inode=number)
        for number, bound in enumerate(bounds(member))
    )
    pair = boxes(container("id-1", binds(member)), container("id-1", [CHANNEL], role="supervisor"))
    return Box(member, "id-1", bounds(member), sources, pair, ran(POLICY), table(), DENIED, LISTED)


GOOD = Seen("alpha", writing_samples.ATTEMPT, sandbox(), (side("alpha"), side("beta")), "openshell.ai")


def write(**changes: object) -> Seen:
    return replace(GOOD, attempt=writing_samples.but(**changes))


def of_beta(**changes: object) -> Seen:
    """The same with something else in the receiver's sandbox."""
    return replace(GOOD, boxes=(GOOD.boxes[0], replace(side("beta"), **changes)))  # type: ignore[arg-type]


def runtime(*more: dict[str, Any], **changes: dict[str, Any] | None) -> Seen:
    return of_beta(containers=boxes(container("id-1", [*binds("beta", **changes), *more])))


def policy_with(*pairs: tuple[str, str]) -> Seen:
    text = POLICY
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return of_beta(policy=ran(text))


ENTRY = '    - "/opt/amap/lanes/inbox"\n'
WRITES = "  read_write:\n"
FLOW = f"""{{version: 1, filesystem_policy: {{include_workdir: false,
 read_only: [{", ".join(policy.read_only())}], read_write: [{", ".join(policy.read_write())}]}},
 landlock: {{compatibility: hard_requirement}}, process: {{run_as_user: "1000", run_as_group: "1000"}}}}"""

HOLDS = {
    "as it should be": GOOD,
    "the policy's EACCES is a refusal as well": write(inbox=writing_samples.refused("EACCES")),
    "an older OpenShell, one container without a role": of_beta(
        containers=boxes(container("id-1", binds("beta"), role=""))
    ),
    "a volume-only companion without a role": of_beta(
        containers=boxes(container("id-1", binds("beta"), role=""), container("id-1", [CHANNEL], role=""))
    ),
    "OpenShell's own volume is no lane": runtime(),
    "OpenShell's own bind is no lane": runtime(bind("/usr/lib/openshell", "/opt/openshell/bin/openshell-sandbox")),
    "the policy in flow style": of_beta(policy=ran(FLOW)),
    "the policy with network rules and quotes of its own": policy_with(('"', "'")),
    "a read-only file system below a lane": of_beta(mounts=table(inbox="rw ro")),
    "a read-only mount below a lane": of_beta(mounts=table(mount_line(f"{INBOX}/sub", "ro"))),
    "the inbox can be read in another place too": of_beta(mounts=table(mount_line("/seen", "ro"), ways=[(INBOX, 6)])),
    "the outbox can be written in another place too": of_beta(
        mounts=table(mount_line("/out", "rw"), ways=[("/opt/amap/lanes/outbox", 6)])
    ),
    "a writable mount below the outbox": of_beta(mounts=table(mount_line("/opt/amap/lanes/outbox/sub", "rw"))),
}
LINKED = tuple(replace(bound, source=bound.source.replace("/srv", "/mnt/real")) for bound in bounds("beta"))
HOLDS |= {
    "a home behind a link, shown as given": of_beta(wanted=LINKED),
    "a home behind a link, shown resolved": of_beta(
        wanted=LINKED,
        containers=boxes(
            container(
                "id-1",
                [row | {"Source": str(row["Source"]).replace("/srv", "/mnt/real")} for row in binds("beta")],
            )
        ),
    ),
}

BROKEN = {
    "the write works": (write(inbox=answer(errno=None), on_host=THERE), "on the host"),
    "A01 silence, and the file is on the host": (write(inbox=ran(), on_host=THERE), "on the host"),
    "the write works and lands elsewhere": (write(inbox=answer(errno=None)), "worked"),
    "the denial ended the sandbox": (replace(GOOD, phase=sandbox("Error")), "Error"),
    "A33 its main process is gone": (replace(GOOD, phase=sandbox("Completed")), "Completed"),
    "the inbox is mounted writable": (runtime(inbox={"RW": True}), f"{INBOX} is writable (mount layer)"),
    "mounted twice, once writable": (
        of_beta(containers=boxes(container("id-1", [bind("/v", INBOX, rw=True, kind="volume"), *binds("beta")]))),
        f"{INBOX} is writable (mount layer)",
    ),
    "the roster is mounted writable": (runtime(roster={"RW": True}), "/opt/amap/roster is writable"),
    "the outbox is mounted read-only": (runtime(outbox={"RW": False}), "outbox is read-only (mount layer)"),
    "the peer lane is not mounted": (runtime(peer=None), f"{PEER} is not mounted"),
    "no lane at all": (of_beta(containers=boxes(container("id-1", [CHANNEL]))), "is not mounted"),
    "another member's lane": (runtime(inbox={"Source": "/srv/amap/instances/alpha/inbox"}), "another source"),
    "A19 snap Docker's source": (
        runtime(inbox={"Source": "/home/u/snap/docker/179/instances/beta/inbox"}),
        "another source",
    ),
    "a volume in a lane's place": (runtime(inbox={"Type": "volume", "Source": "/var/lib/docker/v"}), "another source"),
    "an extra bind": (runtime(bind("/etc", "/host-etc")), "an extra bind at /host-etc"),
    "an extra volume beside the lanes": (
        runtime(bind("/v", "/opt/amap/lanes/more", kind="volume")),
        "an extra volume at /opt/amap/lanes/more",
    ),
    "the inbox can be written through a volume": (
        of_beta(mounts=table(mount_line("/data", "rw"), ways=[(INBOX, 6)])),
        f"{INBOX} can be written through /data",
    ),
    "the kernel has it writable": (of_beta(mounts=table(inbox="rw")), f"{INBOX} is writable"),
    "the kernel says neither": (of_beta(mounts=table(inbox="nosuid")), f"{INBOX} is writable"),
    "no mount of its own": (of_beta(mounts=table(peer="")), f"{PEER} is no mount of its own"),
    "A20 a writable mount below it": (
        of_beta(mounts=table(mount_line(f"{INBOX}/sub", "rw"))),
        f"{INBOX}/sub is writable below it",
    ),
    "a writable mount laid over it": (of_beta(mounts=table(mount_line(INBOX, "rw"))), f"{INBOX} is writable"),
    "the source was made anew": (
        of_beta(mounts=table(inodes={INBOX: [8, 999]})),
        f"another directory stands at {INBOX}",
    ),
    "the source is gone from the host": (
        of_beta(sources=(*side("beta").sources[:4], Stat("/x", "absent"))),
        "another directory",
    ),
    "the inbox is not listed": (policy_with((ENTRY, "")), f"{INBOX} is none (policy layer)"),
    "the inbox is listed read-write": (
        policy_with((ENTRY, ""), (WRITES, WRITES + ENTRY)),
        f"{INBOX} is read-write (policy layer)",
    ),
    "A26 listed in both": (policy_with((WRITES, WRITES + ENTRY)), f"{INBOX} is both"),
    "a writable parent": (policy_with((WRITES, f"{WRITES}    - /opt/amap/lanes\n")), f"{INBOX} is both"),
    "everything is writable": (policy_with((WRITES, f"{WRITES}    - /\n")), f"{INBOX} is both"),
    "a look-alike path": (policy_with((ENTRY, ENTRY.replace("inbox", "inbox2"))), "inbox2 is listed and no lane"),
    "a read-only parent in its place": (policy_with((ENTRY, "    - /opt\n")), f"{INBOX} has no entry of its own"),
    "best effort": (policy_with(("hard_requirement", "best_effort")), "best_effort"),
    "a misspelt requirement": (policy_with(("hard_requirement", "hard-requirement")), "hard-requirement"),
    "no compatibility": (policy_with(('  compatibility: "hard_requirement"\n', "  {}\n")), "not set"),
    "A25 listed, and not in force": (of_beta(unlisted=LISTED), "Landlock is not applied"),
}

WITHOUT_WAYS = ran(table().stdout.replace(', "ways": []', ""))
OPEN = {
    "A01 the write says nothing": (write(inbox=ran()), "no answer"),
    "A03 exit 1 of the command itself": (write(inbox=ran(exit=1, stderr="Error:   × sandbox not found")), "not found"),
    "A29 Permission denied by the gateway": (write(inbox=ran(exit=1, stderr="Error:   × Permission denied")), "denied"),
    "no interpreter": (write(inbox=ran(exit=127, stderr="python3: not found")), "not found"),
    "an interpreter that cannot be run": (write(inbox=ran(exit=126)), "exit 126"),
    "refused for another reason": (write(inbox=answer(errno="ENOENT")), "ENOENT"),
    "refused, and the host cannot be looked at": (write(on_host=replace(THERE, kind="unreadable")), "unreadable"),
    "the control does not work": (write(outbox=answer(errno="EACCES")), "EACCES"),
    "the phase cannot be read": (replace(GOOD, phase=ran(exit=1, stderr="Error:   × transport error")), "transport"),
    "another sandbox has its name": (replace(GOOD, phase=sandbox(identity="id-9")), "not the recorded one"),
    "the gateway is starting again": (replace(GOOD, phase=sandbox("Provisioning")), "Provisioning"),
    "nobody looked for other ways": (of_beta(mounts=WITHOUT_WAYS), "named no other ways"),
    "a landlock setting that is not known": (
        policy_with(("landlock:\n", "landlock:\n  enabled: false\n")),
        "landlock.enabled",
    ),
    "refused in another directory": (write(inbox=writing_samples.refused("EROFS", [9, 2])), "another directory"),
    "a container that does not run": (
        of_beta(containers=boxes(container("id-1", binds("beta"), status="exited"))),
        "is exited",
    ),
    "a container of which inspect says nothing": (
        of_beta(containers=Boxes(ran("c1 c2"), (*boxes(container("id-1", binds("beta"))).described, ran("[]")))),
        "0 were described",
    ),
    "A23 no container": (of_beta(containers=boxes()), "another container context"),
    "docker fails": (of_beta(containers=Boxes(ran(exit=1, stderr="Cannot connect"), ())), "Cannot connect"),
    "inspect fails": (of_beta(containers=Boxes(ran("c1"), (ran(exit=1, stderr="No such object"),))), "No such object"),
    "inspect prints no JSON": (of_beta(containers=Boxes(ran("c1"), (ran("[{"),))), "JSON"),
    "A21 another sandbox's container": (of_beta(containers=boxes(container("id-9", binds("beta")))), "0 of 0"),
    "A21 two containers bear lanes": (
        of_beta(containers=boxes(container("id-1", binds("beta")), container("id-1", binds("beta")))),
        "2 of 2",
    ),
    "the mount table says nothing": (of_beta(mounts=ran()), "no answer"),
    "the mount table is in another form": (
        of_beta(mounts=answer(text="overlay on / type overlay", inodes={})),
        "mountinfo",
    ),
    "no inodes": (of_beta(mounts=replace(table(), stdout=table().stdout.replace("inodes", "other"))), "no inodes"),
    "one lane cannot be looked at": (of_beta(mounts=table(inodes={PEER: "EACCES"})), f"{PEER} could not"),
    "one source cannot be looked at": (
        of_beta(sources=(*side("beta").sources[:4], Stat("/x", "unreadable", problem="EACCES"))),
        "could not be looked at",
    ),
    "no policy is stored": (of_beta(policy=ran("version: 0\n")), "version"),
    "the policy cannot be asked for": (of_beta(policy=ran(exit=1, stderr="Error:   × gone")), "gone"),
    "a key of the file system policy that is not known": (
        policy_with(("  read_only:", "  read_append: []\n  read_only:")),
        "read_append",
    ),
    "the unlisted directory cannot be asked": (of_beta(unlisted=ran()), "no answer"),
    "a mode that nobody else may list": (of_beta(unlisted=answer(errno="EACCES", permitted=False)), "owner and mode"),
    "the unlisted directory is not there": (of_beta(unlisted=answer(errno="ENOENT")), "ENOENT"),
    "an answer without an errno": (of_beta(unlisted=answer(names=[])), "no errno"),
    "nothing can be listed": (of_beta(listed=DENIED), "EACCES"),
    "the listed directory says nothing": (of_beta(listed=ran()), "no answer"),
}


test_pass, test_fail, test_unknown = judge_tables.tests_of(judge, HOLDS, BROKEN, OPEN)


def test_every_part_has_been_seen_to_fail_or_not_to_know() -> None:
    of_one_member = {part.name for part in judge(GOOD) if not part.name.startswith("alpha's ")}
    assert of_one_member <= judge_tables.turned(judge, OPEN, UNKNOWN)
    assert of_one_member - judge_tables.turned(judge, BROKEN, FAIL) == {"control: the outbox takes a write"}


def test_what_the_policy_itself_lets_be_read_shows_nothing_of_its_force() -> None:
    seen = policy_with((ENTRY, ENTRY + "    - /opt\n"))
    beta = replace(seen.boxes[1], unlisted=LISTED)
    parts = judge(replace(seen, boxes=(seen.boxes[0], beta)))
    assert next(one.outcome for one in parts if one.name == "beta's policy is in force") is UNKNOWN
