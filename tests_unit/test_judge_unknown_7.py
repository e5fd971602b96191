"""Unknown 7: what makes it PASS, FAIL and UNKNOWN."""

from __future__ import annotations

from dataclasses import replace

import judge_tables
from container_samples import sandbox
from receiver_samples import answer, delegation
from request_samples import N1, ran, read, unread

from kit import policy
from kit.names import RunAs
from pytest_amap.checks.unknown_7 import Seen, judge
from pytest_amap.observations import Ran, Read, Stat

POLICY = policy.render(RunAs(1000, 1000))


def stat(name: str, uid: int = 1000, gid: int = 1000, kind: str = "directory") -> Stat:
    return Stat(f"/home/instances/{name}", kind, "755", uid, gid)


OF_IT = '{"notice_id": "' + N1 + '"}'


def notice(
    uid: int = 1000, gid: int = 1000, mode: str | None = "600", errno: str | None = None, text: str = OF_IT
) -> Ran:
    return answer(errno=errno, text=None if errno else text, uid=uid, gid=gid, mode=mode)


def message(text: object = '{"notice_id": "' + N1 + '"}', errno: str | None = None) -> Ran:
    return answer(errno=errno, text=text, uid=1000, gid=1000, mode="644")


def files(text: str = POLICY, problem: Read | None = None) -> dict[str, Read]:
    return {"alpha": read(POLICY), "beta": problem or read(text)}


def effective(ran_for_beta: Ran) -> dict[str, Ran]:
    return {"alpha": ran(POLICY), "beta": ran_for_beta}


def ids(ran_for_beta: Ran) -> dict[str, Ran]:
    return {"alpha": answer(uid=1000, gid=1000, groups=[]), "beta": ran_for_beta}


def run_as(user: str, group: str) -> str:
    return POLICY.replace('run_as_user: "1000"', f"run_as_user: {user}").replace(
        'run_as_group: "1000"', f"run_as_group: {group}"
    )


GOOD = Seen(
    uid=1000,
    gid=1000,
    stats=(stat("alpha/outbox"), stat("beta/peer/notices"), stat(f"peer/notices/notice-{N1}.json", kind="file")),
    files=files(),
    effective=effective(ran(POLICY)),
    ids=ids(answer(uid=1000, gid=1000)),
    router=ran("1000:1000\n"),
    notice=notice(),
    message=message(),
    delegation=delegation(),
    standing={"alpha": sandbox(), "beta": sandbox(name="beta", identity="id-2")},
    known={"alpha": "id-1", "beta": "id-2"},
)


def but(**changes: object) -> Seen:
    return replace(GOOD, **changes)  # type: ignore[arg-type]


def first_stat(one: Stat) -> Seen:
    return but(stats=(one, *GOOD.stats[1:]))


HOLDS = {
    "as it should be": GOOD,
    "the effective policy quotes otherwise": but(effective=effective(ran(run_as("'1000'", "1000")))),
    "A49 exec reports late trouble after the answer": but(notice=replace(notice(), exit=1, stderr="Error:   × x")),
}
BROKEN = {
    "a lane of another uid": (first_stat(stat("alpha/outbox", uid=1001)), "1001:1000"),
    "a lane of another gid": (first_stat(stat("alpha/outbox", gid=100)), "1000:100"),
    "the notice of root": (but(stats=(*GOOD.stats[:2], stat("x", 0, 0, "file"))), "0:0"),
    "the router as root": (but(router=ran("\n")), "root"),
    "the router as another": (but(router=ran("1001:1001\n")), "1001:1001"),
    "the rendered policy": (but(files=files(run_as("1001", "1000"))), "1001:1000"),
    "the effective policy": (but(effective=effective(ran(run_as("1000", "1001")))), "1000:1001"),
    "a user namespace hides the uid": (but(ids=ids(answer(uid=65534, gid=65534))), "65534:65534"),
    "another gid inside": (but(ids=ids(answer(uid=1000, gid=100))), "1000:100"),
    "the notice is nobody's inside": (but(notice=notice(65534, 65534)), "65534:65534 600"),
    "the notice is open to others": (but(notice=notice(mode="644")), "1000:1000 644"),
    "the notice looks right and cannot be read": (but(notice=notice(errno="EACCES")), "refused with EACCES"),
    "the notice's directory is closed": (but(notice=notice(mode=None, errno="EACCES")), "refused with EACCES"),
    "the message cannot be read": (but(message=message(None, "EACCES")), "refused with EACCES"),
    "another message": (but(message=message('{"notice_id": "other"}')), "another text"),
    "no JSON": (but(message=message("{")), "another text"),
}
OPEN = {
    "a lane that is not there": (first_stat(Stat("/h/i/o", "absent")), "absent"),
    "a lane that cannot be looked at": (first_stat(Stat("/h/i/o", "unreadable", problem="EACCES")), "EACCES"),
    "a link in a lane's place": (first_stat(stat("alpha/outbox", kind="symlink")), "symlink"),
    "no router": (but(router=ran(exit=1, stderr="No such object")), "No such object"),
    "the router by name": (but(router=ran("amap\n")), "amap"),
    "the router by uid alone": (but(router=ran("1000\n")), "both"),
    "no rendered policy": (but(files=files(problem=unread())), "ENOENT"),
    "an effective policy that cannot be read": (but(effective=effective(ran("version: 0\n"))), "version"),
    "an effective policy that cannot be asked for": (but(effective=effective(ran(exit=1, stderr="gone"))), "gone"),
    "a policy that states no account": (but(effective=effective(ran(POLICY.split("process:")[0]))), "state both"),
    "A01 the ids probe says nothing": (but(ids=ids(ran())), "no answer"),
    "the ids probe names none": (but(ids=ids(answer(uid="1000"))), "no ids"),
    "the notice probe says nothing": (but(notice=ran()), "no answer"),
    "the notice is not there": (but(notice=notice(mode=None, errno="ENOENT")), "ENOENT"),
    "the notice is empty": (but(notice=notice(text="")), "another text"),
    "another notice": (but(notice=notice(text='{"notice_id": "other"}')), "another text"),
    "the message is not there": (but(message=message(None, "ENOENT")), "ENOENT"),
    "the message probe says nothing": (but(message=ran()), "no answer"),
    "the message has no text": (but(message=message(None)), "no text"),
    "another sandbox has the receiver's name": (
        but(standing={"alpha": sandbox(), "beta": sandbox(name="beta", identity="id-9")}),
        "not the recorded one",
    ),
}


test_pass, test_fail, test_unknown = judge_tables.tests_of(judge, HOLDS, BROKEN, OPEN)


def test_both_members_are_asked() -> None:
    names = [part.name for part in judge(GOOD)]
    for member in ("alpha", "beta"):
        assert sum(member in name for name in names) >= 3
