"""The receiver's settings: one file put where nothing is, a restart, one delegation, and everything put back.

Claude Code reads crossSessionInbound at launch only (facts: amap.md 5), so both ways need a stop and a start.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pytest_amap import probes
from pytest_amap.commands import Command, Look, Planned
from pytest_amap.delegations import Delegation
from pytest_amap.evidence.recorded import EvidenceError
from pytest_amap.host import delegating, intents, sessions
from pytest_amap.host.lab import Lab, Member
from pytest_amap.host.standing import standing
from pytest_amap.parsers import Unreadable, audit, roster
from pytest_amap.rounds import ABSENT, OTHER, OURS, Restart, Restore, Round, decisive, state_in

STOPPED = "Stopped"
BODY = "A test of the receiver's settings. Please reply through the inbox-submit tool 'submit', with in_reply_to set."
POLLS = 2
SLOW_ROUTER, SLOWEST_ROUTER = 5.0, 30.0


def round_of(lab: Lab, path: str, text: str, subject: str, *, reply: bool = False) -> Round:
    """Try the settings file `path` holding `text`; `reply`: of a delivered notice wait for the answer too.

    Never raises for what it sees: a round that could not go on says why in `problem`. What an earlier run left is
    put back first. The receiver is put back whatever happens, at the latest when the run ends.
    """
    seen = Round(lab.receiver.name, path, text)
    if problem := repair(lab):
        return replace(seen, problem=problem)
    seen = replace(seen, state=lab.host.run(state(lab, path, text, "before the round")))
    if state_in(seen.state) == OURS:
        announce(lab, path, text)
        if problem := repair(lab):
            return replace(seen, problem=problem)
        seen = replace(seen, state=lab.host.run(state(lab, path, text, "before the round")))
    if state_in(seen.state) != ABSENT:
        return replace(seen, problem=f"{path} is {state_in(seen.state)}: nothing but an absent file is ever written")
    undo = functools.cache(functools.partial(put_back, lab))
    lab.run.cleanup.callback(undo)
    try:
        seen = tried(lab, seen, subject, reply)
    finally:
        restore = undo()
    return accounted(lab, replace(seen, restore=restore))


def tried(lab: Lab, seen: Round, subject: str, reply: bool) -> Round:
    """The round itself: put, restart, look whether the file was kept, send, and watch."""
    receiver = lab.receiver
    try:
        announce(lab, seen.path, seen.text)
    except EvidenceError as error:
        return replace(seen, problem=f"the change was not made: {error}")
    seen = replace(seen, put=lab.host.run(put(lab, seen.path, seen.text)))
    written = probes.answer(seen.put) if seen.put else Unreadable("nothing was put")
    if isinstance(written, Unreadable):
        return replace(seen, problem=f"{seen.path} could not be written: {written.why}")
    if written.get("errno") is not None:
        intents.remove(lab.home.evidence, name_of(receiver.name))
        return replace(seen, problem=f"{seen.path} could not be written ({written.get('errno')})")
    seen = replace(seen, restart=restarted(lab, receiver))
    if seen.restart and seen.restart.problem:
        return replace(seen, problem=seen.restart.problem)
    seen = replace(seen, kept=lab.host.run(state(lab, seen.path, seen.text, "after the restart")))
    if state_in(seen.kept) != OURS:
        return replace(seen, problem=f"after stop and start {seen.path} is {state_in(seen.kept)}: it was not kept")
    return sent(lab, seen, subject, reply)


def sent(lab: Lab, seen: Round, subject: str, reply: bool) -> Round:
    """A fresh delegation, up to the receiver's answer to it and one more poll of the router."""
    sender = lab.sender
    log = os.fspath(delegating.audit_log(lab, sender.name))
    seen = replace(seen, replies=lab.host.read(log, f"what was placed with {sender.name} before"))
    task = delegating.plant(lab, sender, lab.receiver, subject, BODY)
    if not task.request:
        return replace(seen, task=task, problem=task.problem)
    task = delegating.watch_placement(lab, task)
    if task.notice:
        lab.run.left.tell(f"request {task.request} of {task.sender}, notice {task.notice}: in lanes and ledgers")
        task = delegating.watch_outcome(lab, task, decisive)
        if reply and any(one.outcome == "delivered" for one in task.outcomes()):
            task = delegating.watch_reply(lab, task)
        task = settled(lab, task)
    told = lab.host.run(sender.submit_result(task.request))
    return replace(seen, task=task, told=told, problem=task.problem)


def settled(lab: Lab, task: Delegation) -> Delegation:
    """Both audit logs after two more polls of the router: neither a later `delivered` nor a reply slips by."""
    waited = lab.host.wait_file(
        f"a later delivery of notice {task.notice}",
        os.fspath(delegating.audit_log(lab, task.receiver)),
        lambda log: audit.terminal(audit.outcomes(audit.events(log.text or ""), task.notice)),
        seconds=POLLS * interval(lab),
    )
    replies = lab.host.read(os.fspath(delegating.audit_log(lab, task.sender)), f"replies in {task.sender}'s audit log")
    return replace(task, receiver_audit=waited.last, sender_audit=replies)


def interval(lab: Lab) -> float:
    """Seconds between two polls of the router, from its own roster."""
    read = roster.roster(lab.host.read(os.fspath(roster_file(lab)), "the roster").text or "")
    told = None if isinstance(read, Unreadable) else read.interval_s
    return min(told or SLOW_ROUTER, SLOWEST_ROUTER)


def roster_file(lab: Lab) -> str:
    return os.fspath(lab.home.roster / "roster.json")


def accounted(lab: Lab, seen: Round) -> Round:
    """Wait until a held notice of the round was delivered after the restore: that proves it, and empties the queue."""
    task, restore = seen.task, seen.restore
    if task is None or not task.notice or restore is None or restore.problem or audit.terminal(seen.before()):
        return seen
    waited = lab.host.wait_file(
        f"notice {task.notice} after {task.receiver} was put back",
        os.fspath(delegating.audit_log(lab, task.receiver)),
        lambda log: audit.terminal(audit.outcomes(audit.events(log.text or ""), task.notice)),
        seconds=lab.options.deadlines.delivery,
        stop=delegating.router_gone(lab),
    )
    return replace(seen, end=waited.last)


def repair(lab: Lab) -> str:
    """Put back what an earlier run left on the receiver; the reason why it could not, or "".

    Runs nothing where nothing is announced.
    """
    if intents.load(lab.home.evidence, name_of(lab.receiver.name)) is None:
        return ""
    again = name_of(lab.receiver.name) in lab.run.left
    restore = put_back(lab)
    if restore.problem:
        return f"an earlier run's change of {lab.receiver.name} could not be put back: {restore.problem}"
    name = lab.receiver.name
    lab.run.left.tell(
        f"{name} was put back by a later try" if again else f"an earlier run's change of {name} was put back"
    )
    return ""


def put_back(lab: Lab) -> Restore:
    """Take the announced file away and start the receiver without it; does nothing where nothing is announced."""
    receiver = lab.receiver
    announced = intents.load(lab.home.evidence, name_of(receiver.name))
    if announced is None:
        return Restore()
    with lab.host.going_on():
        restore = undone(lab, receiver, announced)
    if not restore.problem:
        lab.run.left.pop(name_of(receiver.name), None)
        intents.remove(lab.home.evidence, name_of(receiver.name))
        return restore
    remedy = by_hand(lab, receiver, str(announced.get("path", "")), restore)
    told = f"{receiver.name} was not put back: {restore.problem}; run: {' && '.join(remedy)}"
    lab.run.left.tell(told, about=name_of(receiver.name))
    return replace(restore, remedy=remedy)


def undone(lab: Lab, receiver: Member, announced: dict[str, Any]) -> Restore:
    found = standing(lab, receiver.name)
    if found.sandbox and found.sandbox.phase not in sessions.AT_REST:
        # the gateway goes on with a stop or start whose command was cut off
        sessions.await_phase(lab, receiver, *sessions.AT_REST)
        found = standing(lab, receiver.name)
    if found.problem:
        return Restore(found.problem)
    if found.sandbox is None or announced.get("id") not in ("", found.sandbox.id):
        return Restore()  # the sandbox that held the file is no more, and the file went with it
    started = awake(lab, receiver, Restart()) if found.sandbox.phase == STOPPED else None
    path, text = str(announced.get("path", "")), str(announced.get("text", ""))
    taken = lab.host.run(take_back(lab, path, text))
    if state_in(taken) != ABSENT and started and started.problem:
        return Restore(started.problem, taken=taken, restart=started)
    if state_in(taken) != ABSENT:
        return Restore(f"{path} was not taken back ({state_in(taken)}); only our own file is removed", taken=taken)
    restart = restarted(lab, receiver)
    return Restore(restart.problem, taken=taken, restart=restart)


def by_hand(lab: Lab, receiver: Member, path: str, restore: Restore) -> tuple[str, ...]:
    """The commands with which a person puts the receiver back; a file that is not ours is shown, never removed."""
    if state_in(restore.taken) == OTHER:
        return (receiver.probing(("cat", path), "look at the setting").shown(),)
    stop, start = lab.commands.stop(receiver.name), lab.commands.start(receiver.name)
    remove = receiver.probing(("rm", "-f", path), "remove the setting")
    return tuple(command.shown() for command in (start, remove, stop, start))


def restarted(lab: Lab, receiver: Member) -> Restart:
    """Stop, see it Stopped, start, and wait for the session of a main process that is another one."""
    before = lab.host.run(receiver.sessions())
    stop = lab.host.run(lab.commands.stop(receiver.name))
    waited = sessions.await_phase(lab, receiver, STOPPED)
    seen = Restart(before=before, stop=stop, stopped=waited.last)
    if waited.value is None:
        return replace(seen, problem=f"{waited.problem} (stop said: {stop.said})")
    log = os.fspath(delegating.audit_log(lab, receiver.name))
    claims = lab.host.read(log, "the receiver's outcomes while it stood still")
    seen = awake(lab, receiver, replace(seen, claims=claims))
    if not seen.problem and seen.ready and sessions.went_on(before, seen.ready):
        return replace(seen, problem=f"{receiver.name} was not restarted: its main process is the one from before")
    return seen


def awake(lab: Lab, receiver: Member, seen: Restart) -> Restart:
    start = lab.host.run(lab.commands.start(receiver.name))
    seconds = lab.options.deadlines.ready if start.ok else lab.options.deadlines.log
    waited = sessions.await_ready(lab, receiver, seconds=seconds)
    problem = "" if waited.value is not None else f"{waited.problem} (start said: {start.said})"
    return replace(seen, start=start, ready=waited.last, problem=problem)


def announce(lab: Lab, path: str, text: str) -> None:
    """Say on disk what is about to be written where, so that any later run can take it back."""
    about = {"kind": intents.SETTING, "run": lab.host.evidence.run, "id": lab.receiver.id, "path": path, "text": text}
    intents.write(lab.home.evidence, name_of(lab.receiver.name), about)


def name_of(receiver: str) -> str:
    """An announcement's name that no sandbox can have."""
    return f"settings.{receiver}"


def state(lab: Lab, path: str, text: str, when: str) -> Command:
    return lab.receiver.probing(probes.state(path, text), f"{os.path.basename(path)} {when}")


def put(lab: Lab, path: str, text: str) -> Command:
    return lab.receiver.probing(probes.put(path, text), f"write {os.path.basename(path)}")


def take_back(lab: Lab, path: str, text: str) -> Command:
    return lab.receiver.probing(probes.take_back(path, text), f"take back {os.path.basename(path)}")


def planned(lab: Lab, path: str, text: str, subject: str) -> Iterator[Planned]:
    """What one round runs and reads, in its order."""
    receiver = lab.receiver
    restart: tuple[Planned, ...] = (
        receiver.sessions(),
        lab.commands.stop(receiver.name),
        lab.commands.get(receiver.name),
        Look(os.fspath(delegating.audit_log(lab, receiver.name)), "the receiver's outcomes while it stood still"),
        lab.commands.start(receiver.name),
        receiver.sessions(),
    )
    yield state(lab, path, text, "before the round")
    yield put(lab, path, text)
    yield from restart
    yield state(lab, path, text, "after the restart")
    yield Look(os.fspath(delegating.audit_log(lab, lab.sender.name)), f"what was placed with {lab.sender.name} before")
    yield from delegating.planned(lab, lab.sender, receiver, subject, BODY)
    yield Look(roster_file(lab), "the roster")
    yield lab.sender.submit_result("<request>")
    yield lab.commands.get(receiver.name)
    yield lab.commands.list_all().only(f"if {receiver.name} cannot be read")
    yield take_back(lab, path, text)
    yield from restart
