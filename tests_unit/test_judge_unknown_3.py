"""Unknown 3: what makes it PASS, FAIL and UNKNOWN."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import container_samples
import judge_tables
from container_samples import bind, container, inspected
from fake_openshell import lab_with_openshell
from receiver_samples import answer
from request_samples import ran
from scripted_lab import assert_as_planned

from pytest_amap import probes
from pytest_amap.checks.unknown_3 import Looks, Made, Removed, Seen, collect, judge, plan
from pytest_amap.observations import Ran, Stat

LANE = "/home/instances/alpha/peer"
POLICY = "version: 1\nfilesystem_policy:\n  read_only: [/usr, /opt/amap/lanes/inbox{more}]\n  read_write: [/sandbox]\n"
ALL = POLICY.format(more="")
sandbox = partial(container_samples.sandbox, name="amap-l1-probe")


def box(source: str = LANE, sandbox_id: str = "id-1", destination: str = "/opt/amap/lanes/peer", **other: str) -> Ran:
    return inspected(container(sandbox_id, [bind(source, destination)], **other))


def lane(path: str, mode: str = "755") -> Stat:
    return Stat(path, "directory", mode, 1000, 1000)


LISTED = answer(errno=None, names=["messages", "notices"])
DENIED = answer(errno="EACCES", names=[], permitted=True)
NO_PROBE = ran(stderr="Error:   × sandbox is not ready", exit=1)
LOOKS = Looks(
    containers=ran("c1\n"),
    inspected=(box(),),
    policy=ran(ALL),
    inbox=LISTED,
    peer=DENIED,
    after=sandbox(),
    lanes=(lane("inbox"), lane("peer")),
)
GOOD = Seen(LANE, "openshell.ai/", Made("id-1", "", ran(), sandbox()), LOOKS, Removed("", ran(), ran()))


def but(**looks: object) -> Seen:
    return replace(GOOD, looks=replace(LOOKS, **looks))


def not_made(why: str, stderr: str = "") -> Seen:
    return replace(GOOD, made=Made("", why, ran(stderr=stderr, exit=1)), looks=None, removed=Removed())


HOLDS = {
    "as it shall be": GOOD,
    "an empty inbox can be listed too": but(inbox=answer(errno=None, names=[])),
    "the source is the lane by its real path": replace(
        but(inspected=(box("/data/peer"),), real={LANE: "/data/peer", "/data/peer": "/data/peer"})
    ),
    "a supervisor beside the workload": but(
        containers=ran("c1\nc2\n"), inspected=(box(), box(role="supervisor", destination="/x"))
    ),
    "exec reports late trouble after the answer": but(peer=replace(DENIED, exit=1, stderr="Error:   × streams")),
}
BROKEN = {
    "A25 listed though the policy leaves it out": but(peer=LISTED),
    "listed, and empty": but(peer=answer(errno=None, names=[])),
    "listed, with the probe not removed": replace(but(peer=LISTED), removed=Removed("left behind")),
}
OPEN = {
    "another sandbox was shown after its create": (
        replace(GOOD, made=replace(GOOD.made, live=sandbox(identity="id-9"))),
        "is another one",
    ),
    "its mode alone closes the lane": (but(peer=answer(errno="EACCES", names=[], permitted=False)), "owner and mode"),
    "what its mode allows is not told": (but(peer=answer(errno="EACCES", names=[])), "owner and mode"),
    "an interceptor refused the probe": (
        not_made("create said: refused", "Error:   × amap-openshell\n  │ interceptor: not a member"),
        "interceptor",
    ),
    "a foreign sandbox has the name": (not_made("a sandbox amap-l1-probe with id id-9 is there"), "id-9"),
    "A50 still provisioning": (
        replace(GOOD, made=replace(GOOD.made, live=sandbox("Provisioning")), looks=None),
        "Provisioning",
    ),
    "the lane is not mounted": (but(inspected=(box(destination="/opt/amap/lanes/inbox"),)), "0 of its 1"),
    "another member's lane is mounted": (but(inspected=(box("/home/instances/beta/peer"),)), "beta/peer"),
    "A21 another sandbox's container": (but(inspected=(box(sandbox_id="id-2"),)), "0 of its 0"),
    "A21 two containers with the lane": (but(containers=ran("c1\nc2\n"), inspected=(box(), box())), "2 of its 2"),
    "A23 no container at all": (but(containers=ran(""), inspected=()), "0 of its 0"),
    "the container cannot be described": (but(inspected=(ran("[]x"),)), "could not be read"),
    "the policy still lists the lane": (but(policy=ran(POLICY.format(more=", /opt/amap/lanes/peer"))), "peer read"),
    "the policy lists the lane, and it can be listed": (
        but(policy=ran(POLICY.format(more=", /opt/amap/lanes")), peer=LISTED),
        "read-only",
    ),
    "no policy can be read": (but(policy=ran("version: 0\n")), "version"),
    "the inbox cannot be listed either": (but(inbox=DENIED), "EACCES"),
    "A01 the probe says nothing": (but(peer=ran("")), "no answer"),
    "A03 the probe did not run": (but(peer=NO_PROBE), "not ready"),
    "the lane is not there": (but(peer=answer(errno="ENOENT", names=[])), "ENOENT"),
    "EPERM is another layer's answer": (but(peer=answer(errno="EPERM", names=[])), "EPERM"),
    "the lanes' modes differ": (but(lanes=(lane("inbox"), lane("peer", "700"))), "700"),
    "the denial ended the sandbox": (but(after=sandbox("Error")), "Error"),
    "the probe was left behind": (replace(GOOD, removed=Removed("it was left behind")), "left behind"),
}


LISTED_ALL_THE_SAME = {name: (seen, "it was listed") for name, seen in BROKEN.items()}
test_pass, test_fail, test_unknown = judge_tables.tests_of(judge, HOLDS, LISTED_ALL_THE_SAME, OPEN)


def test_collect_makes_looks_and_removes(tmp_path):
    lab, fake = lab_with_openshell(tmp_path)
    seen = collect(lab)
    assert seen.made.problem == ""
    assert probes.answer(seen.looks.peer)["errno"] == "EACCES"
    assert seen.removed.problem == ""
    assert "amap-l1-probe" not in fake.boxes
    assert_as_planned(lab, plan, fake.argvs)
