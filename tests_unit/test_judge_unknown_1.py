"""Unknown 1: what makes it PASS, FAIL and UNKNOWN."""

from __future__ import annotations

from dataclasses import replace

import judge_tables
from container_samples import boxes, container
from receiver_samples import answer, delegation
from request_samples import N1, N2, placed, ran, read, unread

from pytest_amap.checks.boxes import Boxes
from pytest_amap.checks.unknown_1 import MOST_NAMES, Seen, judge

NOTICE = f"notice-{N1}.json"
TEXT = '{"kind": "peer"}'
GOOD = Seen(
    delegation=delegation(),
    on_host=read(TEXT),
    names=answer(errno=None, names=[NOTICE]),
    content=answer(errno=None, text=TEXT, uid=1000, gid=1000, mode="600"),
    boxes=boxes(container("id-2"), container("id-2", role="supervisor")),
    receiver_id="id-2",
    label_prefix="openshell.ai",
)
OTHER = read(placed(N2, "alpha", "beta", "00000001"))
NOT_READY = ran(exit=1, stderr="Error:   × sandbox 'beta' is not ready (phase: Stopped)")


def but(**changes: object) -> Seen:
    return replace(GOOD, **changes)


def started(when: str, status: str = "running") -> Seen:
    return but(boxes=boxes(container("id-2", started=when, status=status)))


HOLDS = {
    "as it should be": GOOD,
    "other notices beside it": but(names=answer(errno=None, names=["notice-0.json", NOTICE])),
    "A49 exec reports late trouble after the answers": but(names=replace(GOOD.names, exit=1, stderr="Error:   × x")),
    "an older OpenShell, without a role": but(boxes=boxes(container("id-2", role=""))),
    "started in another zone's words": started("2026-11-29T12:00:00+02:00"),
}
BROKEN = {
    "the sandbox does not list it": but(names=answer(errno=None, names=[])),
    "another content": but(content=answer(errno=None, text="{}")),
    "an empty content": but(content=answer(errno=None, text="")),
    "not listed, and the probe says nothing of the content": but(names=answer(errno=None, names=[]), content=ran()),
}
OPEN = {
    "the host does not show it": (but(on_host=unread()), "ENOENT"),
    "a link on the host": (but(on_host=unread("symlink")), "symlink"),
    "A01 the probes say nothing": (but(names=ran(), content=ran()), "no answer"),
    "A03 the sandbox is not ready": (but(names=NOT_READY, content=NOT_READY), "not ready"),
    "the lane cannot be listed": (but(names=answer(errno="EACCES", names=[])), "EACCES"),
    "more notices than the probe names": (but(names=answer(errno=None, names=["x"] * MOST_NAMES)), "not this one"),
    "the content cannot be read": (but(content=answer(errno="EACCES", text=None)), "EACCES"),
    "no placement": (but(delegation=replace(GOOD.delegation, receiver_audit=unread())), "no placement"),
    "the placement of another notice": (but(delegation=replace(GOOD.delegation, receiver_audit=OTHER)), "no placement"),
    "written in the second of the start": (started("2026-11-29T12:00:00Z"), "no notice is younger"),
    "the container was restarted since": (
        replace(started("2026-11-29T13:00:00Z"), names=replace(GOOD.names, ended="2026-11-29T14:00:00.000Z")),
        "no notice is younger",
    ),
    "a clock that was set back since it was written": (
        but(names=replace(GOOD.names, ended="2026-11-29T11:30:00.000Z")),
        "the clock was set back",
    ),
    "more containers than were described": (
        but(boxes=replace(GOOD.boxes, ids=ran("".join(f"c{number}\n" for number in range(9))))),
        "9 containers",
    ),
    "never started": (started("0001-01-01T00:00:00Z", "created"), "created"),
    "no time of start": (started(""), "no known time"),
    "not running now": (started("2026-11-29T11:00:00Z", "exited"), "exited"),
    "A23 no container": (but(boxes=boxes()), "another container context"),
    "docker fails": (but(boxes=Boxes(ran(exit=1, stderr="Cannot connect"), ())), "Cannot connect"),
    "A21 two containers": (but(boxes=boxes(container("id-2"), container("id-2"))), "not one container"),
    "A21 another sandbox's container": (but(boxes=boxes(container("id-9"))), "not one container"),
    "no JSON": (but(boxes=Boxes(ran("c1"), (ran("[{]"),))), "JSON"),
}


test_pass, test_fail, test_unknown = judge_tables.tests_of(judge, HOLDS, BROKEN, OPEN)
