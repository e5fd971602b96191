"""Unknown 4: what makes it PASS, FAIL and UNKNOWN."""

from __future__ import annotations

from dataclasses import replace

import judge_tables
import pytest
from container_samples import sandbox
from receiver_samples import (
    ANSWERED,
    BY_APPROVAL,
    BY_SETTING,
    REFUSING,
    RESTARTED,
    SILENCE,
    STATE_ABSENT,
    STATE_OURS,
    answer,
    delegation,
    lists,
    not_begun,
    round_of,
)
from request_samples import ran, read, unread

from pytest_amap.checks.unknown_4 import Seen, judge, within
from pytest_amap.rounds import Restore

SOCKET, KEY = "/tmp/cc-socks/7.sock", "/sandbox/.claude/sessions/7.ab.key"


def listed(*rows: tuple[str, str]):
    return answer(main=2, rows=[f"claude\t-\t-\t7\t{socket}\t{key}" for socket, key in rows])


def entry(role: str = "user", tool: bool = False) -> dict[str, object]:
    return {"type": role, "role": role, "tool": tool}


GOOD = Seen(
    delegation=ANSWERED,
    refused=REFUSING,
    router=ran("running\n"),
    sessions=listed((SOCKET, KEY)),
    turns=answer(files=1, found=[entry(), entry("assistant")]),
)


def but(**fields: object) -> Seen:
    return replace(GOOD, **fields)


def under_refuse(*outcomes: tuple[str, str], **more: object) -> Seen:
    return but(refused=round_of(*outcomes, **more))


GONE_ON = replace(RESTARTED, ready=lists("700"))


def away(**changes: object) -> Seen:
    return but(refused=replace(REFUSING, restart=replace(RESTARTED, **changes)))


HOLDS = {
    "as it shall be": GOOD,
    "A37 refused": under_refuse(("refused", "not admitted"), after=()),
    "a failed attempt first": under_refuse(("inject_failed", "connect"), ("held", BY_SETTING)),
    "held, then delivered under accept": but(delegation=delegation(("held", BY_APPROVAL), ("delivered", SILENCE))),
    "the socket lies below /sandbox": but(sessions=listed(("/sandbox/run/7.sock", KEY))),
    "fetched by a tool as well": but(turns=answer(files=1, found=[entry(tool=True), entry()])),
}
BROKEN = {
    "A37 silence counted as delivered": (under_refuse(("delivered", SILENCE), after=()), "silence was counted"),
    "held, then delivered under refuse": (under_refuse(("held", BY_SETTING), ("delivered", SILENCE)), "delivered"),
    "delivered and answered under refuse": (under_refuse(("delivered", SILENCE), reply=True, after=()), "delivered"),
    "a reply under refuse": (under_refuse(("held", BY_SETTING), reply=True), "no reply came"),
    "the socket lies elsewhere": (but(sessions=listed(("/run/user/7.sock", KEY))), "/run/user/7.sock"),
    "the socket's place looks alike": (but(sessions=listed(("/tmpx/7.sock", KEY))), "/tmpx"),
    "the delegation was refused": (but(delegation=delegation(("refused", "no address"), reply=False)), "no address"),
    "the delegation was held": (but(delegation=delegation(("held", BY_SETTING), reply=False)), "held"),
}
OPEN = {
    "A52 delivered, no reply": (but(delegation=delegation(("delivered", SILENCE), reply=False)), "no reply"),
    "no outcome of the delegation": (but(delegation=delegation(reply=False)), "no outcome"),
    "only failed attempts": (but(delegation=delegation(("inject_failed", "bind"), reply=False)), "inject_failed"),
    "held, and the router is gone": (
        but(delegation=delegation(("held", BY_APPROVAL), reply=False), router=ran("exited\n")),
        "held",
    ),
    "refused and yet answered": (but(delegation=delegation(("refused", ""))), "and yet"),
    "the audit log cannot be read": (
        but(delegation=replace(ANSWERED, receiver_audit=read('{"ts": "cut'))),
        "could not be read",
    ),
    "A38 no session": (but(sessions=listed()), "0 sessions"),
    "two sessions": (but(sessions=listed((SOCKET, KEY), (SOCKET, KEY))), "2 sessions"),
    "A38 a session without a socket": (but(sessions=listed(("-", KEY))), "without a socket"),
    "no key": (but(sessions=listed((SOCKET, "-"))), "key"),
    "the lister cannot be asked": (but(sessions=ran("", exit=126)), "no answer"),
    "never a turn": (but(turns=answer(files=1, found=[])), "0 of them user turns"),
    "a tool's result alone": (but(turns=answer(files=1, found=[entry(tool=True)])), "1 entries hold it, 0"),
    "the transcript cannot be read": (but(turns=ran("")), "no answer"),
    "A37 held for approval": (under_refuse(("held", BY_APPROVAL)), "not a refusal by the setting"),
    "denied by a person": (under_refuse(("denied", "by the user"), after=()), "not a refusal by the setting"),
    "no outcome in time under refuse": (under_refuse(problem="nothing after 900 s"), "nothing after 900 s"),
    "A35 the setting was lost": (
        under_refuse(("delivered", SILENCE), kept=answer(state="absent"), problem="it was not kept", after=()),
        "not kept",
    ),
    "the agent has a file of its own": (but(refused=not_begun("settings.local.json is other")), "is other"),
    "the receiver does not come back": (
        but(refused=replace(not_begun("no session"), restart=replace(RESTARTED, problem="no session"))),
        "no session",
    ),
    "the sender's log is not there to read": (
        but(refused=replace(REFUSING, task=replace(REFUSING.task, sender_audit=unread("EACCES")))),
        "could not be read whole",
    ),
    "what the sender was told is not known": (but(refused=replace(REFUSING, told=ran("pending\n"))), "pending"),
    "the receiver was not put back": (
        under_refuse(("held", BY_SETTING), restore=Restore("start failed", ("openshell sandbox start beta",))),
        "openshell sandbox start beta",
    ),
    "its stop is not to be seen": (away(stopped=sandbox(name="beta")), "not seen to be Stopped"),
    "its session is not to be seen": (away(ready=answer(main=2, rows=[])), "no session"),
    "A38 its session has no socket": (away(ready=listed(("-", KEY))), "no session"),
    "its sessions before are not to be told": (away(before=ran(exit=1)), "could not be told"),
    "no start of its main process is told": (away(ready=listed((SOCKET, KEY))), "could not be told"),
    "its main process went on": (away(ready=lists("700")), "from before the stop went on"),
    "a delivery by a main process that went on": (
        but(refused=replace(round_of(("delivered", SILENCE), after=()), restart=GONE_ON)),
        "from before the stop went on",
    ),
    "put back in words alone": (
        under_refuse(("held", BY_SETTING), restore=Restore(taken=STATE_ABSENT, restart=GONE_ON)),
        "from before the stop went on",
    ),
    "put back, and the file is there": (
        under_refuse(("held", BY_SETTING), restore=Restore(taken=STATE_OURS, restart=RESTARTED)),
        "the setting's file is ours",
    ),
    "the held notice never came": (under_refuse(("held", BY_SETTING), after=()), "is not delivered"),
}


test_pass, test_fail, test_unknown = judge_tables.tests_of(judge, HOLDS, BROKEN, OPEN)


def test_what_the_receiver_says_is_called_its_claim():
    claims = [part.seen for part in judge(GOOD) if "delivered" in part.seen or "held" in part.seen]
    assert claims
    assert all("claimed by beta" in seen for seen in claims)


@pytest.mark.parametrize(
    ("path", "holds"),
    [("/tmp", True), ("/tmp/socks", True), ("/tmp/../run", False), ("/sandbox2", False), ("/", False), ("tmp", False)],
)
def test_within(path, holds):
    assert within(path, ("/tmp", "/sandbox")) is holds
