"""Unknown 7: one uid and gid holds end to end, and the agent can read a delivered 0600 notice."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass

from pytest_amap import probes
from pytest_amap.checks.standing import recorded
from pytest_amap.commands import Command, Look, Planned
from pytest_amap.delegations import Delegation
from pytest_amap.host import delegating
from pytest_amap.host.lab import PEER, Lab, Member
from pytest_amap.judging import decided, unknown
from pytest_amap.observations import Ran, Read, Stat
from pytest_amap.parsers import Unreadable, documents, policy
from pytest_amap.verdicts import Part

DENIALS = ("EACCES", "EPERM")


@dataclass(frozen=True)
class Seen:
    """Each place at which the account appears; `uid` and `gid` are this process's own."""

    uid: int
    gid: int
    stats: tuple[Stat, ...]
    files: dict[str, Read]
    """Member to its rendered policy."""
    effective: dict[str, Ran]
    ids: dict[str, Ran]
    router: Ran
    notice: Ran
    message: Ran
    delegation: Delegation
    standing: dict[str, Ran]
    known: dict[str, str]
    """Member to `sandbox get` after the probes, and to the id that was recorded."""


def plan(lab: Lab) -> Iterable[Planned]:
    yield from (Look(path, "owner of a lane") for path in lanes_to_look_at(lab, "<notice>"))
    yield router_user(lab)
    for member in (lab.sender, lab.receiver):
        yield Look(os.fspath(lab.home.policy(member.name)), f"{member.name}'s rendered policy")
        yield lab.commands.policy_of(member.name)
        yield member.probing(probes.ids(), f"{member.name}'s ids")
    yield from reads(lab.receiver, "<notice>")
    yield from (lab.commands.get(member.name) for member in (lab.sender, lab.receiver))


def lanes_to_look_at(lab: Lab, notice: str) -> tuple[str, ...]:
    outbox = lab.home.lane(lab.sender.name, "outbox")
    file = delegating.notice_file(lab, lab.receiver.name, notice)
    return os.fspath(outbox), os.fspath(file.parent), os.fspath(file)


def router_user(lab: Lab) -> Command:
    return lab.commands.runtime("inspect", "--format", "{{.Config.User}}", delegating.ROUTER, label="the router's user")


def reads(member: Member, notice: str) -> tuple[Command, Command]:
    return (
        member.probing(probes.read(f"{PEER}/notices/notice-{notice}.json"), f"{member.name} reads the notice"),
        member.probing(probes.read(f"{PEER}/messages/notice-{notice}.json"), f"{member.name} reads the message"),
    )


def collect(lab: Lab, delegation: Delegation) -> Seen:
    host, members = lab.host, (lab.sender, lab.receiver)
    stats = tuple(host.stat(path, "owner of a lane") for path in lanes_to_look_at(lab, delegation.notice))
    router = host.run(router_user(lab))
    files = {m.name: host.read(os.fspath(lab.home.policy(m.name)), f"{m.name}'s rendered policy") for m in members}
    effective = {m.name: host.run(lab.commands.policy_of(m.name)) for m in members}
    ids = {m.name: host.run(m.probing(probes.ids(), f"{m.name}'s ids")) for m in members}
    notice, message = (host.run(command) for command in reads(lab.receiver, delegation.notice))
    return Seen(
        uid=os.getuid(),
        gid=os.getgid(),
        stats=stats,
        files=files,
        effective=effective,
        ids=ids,
        router=router,
        notice=notice,
        message=message,
        delegation=delegation,
        standing={m.name: host.run(lab.commands.get(m.name)) for m in members},
        known={m.name: m.id for m in members},
    )


def judge(seen: Seen) -> list[Part]:
    parts = [owner(seen, stat) for stat in seen.stats]
    parts.append(router_part(seen))
    for member, read in seen.files.items():
        parts.append(policy_part(seen, f"{member}'s rendered policy", read.text, read.problem or "", read.record))
    for member, ran in seen.effective.items():
        parts.append(
            policy_part(seen, f"{member}'s effective policy", ran.stdout if ran.ok else None, ran.said, ran.record)
        )
    parts += [ids_part(seen, member, ran) for member, ran in seen.ids.items()]
    parts += [notice_part(seen), message_part(seen)]
    return [*parts, *(recorded(member, seen.known[member], ran) for member, ran in seen.standing.items())]


def want(seen: Seen) -> str:
    return f"{seen.uid}:{seen.gid}"


def owner(seen: Seen, stat: Stat) -> Part:
    place = "/".join(stat.path.split("/")[-3:])
    name = f"owner of {place}"
    if stat.kind not in ("file", "directory"):
        return unknown(name, want(seen), f"{stat.kind} {stat.problem or ''}".strip(), stat.record)
    return decided(
        name, (stat.uid, stat.gid) == (seen.uid, seen.gid), want(seen), f"{stat.uid}:{stat.gid}", stat.record
    )


def router_part(seen: Seen) -> Part:
    name = "the router's container user"
    if not seen.router.ok:
        return unknown(name, want(seen), seen.router.said, seen.router.record)
    said = seen.router.stdout.strip()
    if said and not re.fullmatch(r"[0-9]+:[0-9]+", said):
        return unknown(name, want(seen), f"{said}, which does not state both numbers", seen.router.record)
    return decided(name, said == want(seen), want(seen), said or "none, so root", seen.router.record)


def policy_part(seen: Seen, name: str, text: str | None, problem: str, record: str) -> Part:
    found = policy.policy(text) if text is not None else Unreadable(problem)
    if isinstance(found, Unreadable):
        return unknown(name, want(seen), found, record)
    if not found.run_as_user or not found.run_as_group:
        return unknown(name, want(seen), "it does not state both", record)
    said = f"{found.run_as_user}:{found.run_as_group}"
    return decided(name, said == want(seen), want(seen), said, record)


def ids_part(seen: Seen, member: str, ran: Ran) -> Part:
    name, answer = f"ids inside {member}", probes.answer(ran)
    if isinstance(answer, Unreadable):
        return unknown(name, want(seen), answer, ran.record)
    if not all(isinstance(answer.get(key), int) for key in ("uid", "gid")):
        return unknown(name, want(seen), "the probe named no ids", ran.record)
    said = f"{answer.get('uid')}:{answer.get('gid')}"
    return decided(name, said == want(seen), want(seen), said, ran.record)


def notice_part(seen: Seen) -> Part:
    """The router writes notices 0600: only their owner can read one."""
    name, expected = f"{seen.delegation.receiver} reads the notice as its own, 0600", f"{want(seen)} 600, read"
    answer = probes.answer(seen.notice)
    if isinstance(answer, Unreadable):
        return unknown(name, expected, answer, seen.notice.record)
    errno = answer.get("errno")
    if errno in DENIALS:
        return decided(name, False, expected, f"refused with {errno}", seen.notice.record)
    if errno is not None or answer.get("mode") is None:
        return unknown(name, expected, f"it could not be looked at ({errno or 'no mode'})", seen.notice.record)
    said = f"{answer.get('uid')}:{answer.get('gid')} {answer.get('mode')}"
    if said == f"{want(seen)} 600" and not is_of_this_notice(seen, answer.get("text")):
        return unknown(name, expected, f"{said}, but another text than the notice's", seen.notice.record)
    return decided(name, said == f"{want(seen)} 600", expected, said, seen.notice.record)


def is_of_this_notice(seen: Seen, text: object) -> bool:
    """Whether it is a JSON document that bears the notice's id."""
    read = documents.document(text) if isinstance(text, str) else Unreadable("no text")
    return not isinstance(read, Unreadable) and read.get("notice_id") == seen.delegation.notice


def message_part(seen: Seen) -> Part:
    name, expected = f"{seen.delegation.receiver} reads the delivered message", "the JSON document of this notice"
    answer = probes.answer(seen.message)
    if isinstance(answer, Unreadable):
        return unknown(name, expected, answer, seen.message.record)
    errno = answer.get("errno")
    if errno in DENIALS:
        return decided(name, False, expected, f"refused with {errno}", seen.message.record)
    if errno is not None or not isinstance(answer.get("text"), str):
        return unknown(name, expected, f"it could not be looked at ({errno or 'no text'})", seen.message.record)
    holds = is_of_this_notice(seen, answer.get("text"))
    return decided(name, holds, expected, "it" if holds else "another text", seen.message.record)
