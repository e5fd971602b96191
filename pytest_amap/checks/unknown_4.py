"""Unknown 4: injection works over AF_UNIX, and a refusing receiver is never counted as delivered.

A receiver that does not recognise the socket directory gives no receipt, and the daemon counts silence as delivered;
so the negative case, not the positive one, shows that `delivered` means something.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pytest_amap import probes
from pytest_amap.checks import receiver_answers
from pytest_amap.commands import Look, Planned
from pytest_amap.delegations import Delegation
from pytest_amap.host import delegating, receiving, sessions
from pytest_amap.host.lab import SANDBOX_HOME, Lab
from pytest_amap.judging import decided, unknown
from pytest_amap.observations import Ran
from pytest_amap.parsers import Unreadable, submit
from pytest_amap.rounds import LOCAL, LOCAL_SUBJECT, OURS, REFUSE, Round, state_in
from pytest_amap.verdicts import PASS, UNKNOWN, Part

WRITABLE = ("/tmp", "/sandbox")


@dataclass(frozen=True)
class Seen:
    """The delegation under accept as it stands now, the round under refuse, and the receiver after both."""

    delegation: Delegation
    refused: Round
    router: Ran
    sessions: Ran
    turns: Ran | None


def plan(lab: Lab) -> Iterable[Planned]:
    yield from receiving.planned(lab, LOCAL, REFUSE, LOCAL_SUBJECT.format(run="<run>"))
    for name in (lab.receiver.name, lab.sender.name):
        yield Look(str(delegating.audit_log(lab, name)), "the router's audit log")
    yield delegating.router_state(lab)
    yield lab.receiver.sessions()
    yield lab.receiver.probing(probes.turns(SANDBOX_HOME, "<notice>"), "the delegation in the receiver's transcript")


def collect(lab: Lab, delegation: Delegation, refused: Round) -> Seen:
    """Read the logs again, and look into the receiver; the round has been made, nothing more is changed."""
    task, receiver = receiver_answers.as_of_now(lab, delegation), lab.receiver
    label = "the delegation in the receiver's transcript"
    return Seen(
        delegation=task,
        refused=refused,
        router=lab.host.run(delegating.router_state(lab)),
        sessions=lab.host.run(receiver.sessions()),
        turns=receiver.probe(probes.turns(SANDBOX_HOME, task.notice), label) if task.notice else None,
    )


def judge(seen: Seen) -> list[Part]:
    parts = [receiver_answers.delivered(seen.delegation, seen.router), directory(seen.sessions), turn(seen)]
    return [*parts, *negative(seen.refused), *receiver_answers.put_back(seen.refused)]


def directory(ran: Ran) -> Part:
    """The daemon binds its reply socket beside the session's, so the policy must let it write there."""
    name, want = "the session's socket lies where the daemon can answer", f"a directory under {' or '.join(WRITABLE)}"
    found = sessions.sessions(ran)
    if isinstance(found, Unreadable):
        return unknown(name, want, found, ran.record)
    if len(found.rows) != 1:
        return unknown(name, want, f"{len(found.rows)} sessions, so none can be taken", ran.record)
    row = found.rows[0]
    if row.socket is None:
        return unknown(name, want, "a session without a socket", ran.record)
    if not within(posixpath.dirname(row.socket), WRITABLE):
        return decided(name, False, want, row.socket, ran.record)
    if row.key is None:
        return unknown(name, want, f"{row.socket}, but the session's key file is not to be told", ran.record)
    return decided(name, True, want, f"{row.socket}, key {row.key}", ran.record)


def within(path: str, places: Iterable[str]) -> bool:
    """At or below one of the places, component by component."""
    parts = posixpath.normpath(path).split("/")
    return any(parts[: len(place.split("/"))] == place.split("/") for place in places)


def turn(seen: Seen) -> Part:
    """The receiver's transcript is the agent's to write, so this is its claim."""
    name, want = "the delegation became a turn", "the notice's id in a user turn, not only in a tool's result"
    if seen.turns is None:
        return unknown(name, want, "no notice was placed", *seen.delegation.records)
    found = probes.answer(seen.turns)
    if isinstance(found, Unreadable):
        return unknown(name, want, found, seen.turns.record)
    entries = [entry for entry in found.get("found") or () if isinstance(entry, dict)]
    turns = [entry for entry in entries if entry.get("role") == "user" and entry.get("tool") is False]
    whose = f"claimed by {seen.delegation.receiver}'s transcript"
    said = f"{whose}: {len(entries)} entries hold it, {len(turns)} of them user turns"
    return Part(name, PASS if turns else UNKNOWN, want, said, (seen.turns.record,))


def negative(seen: Round) -> Iterator[Part]:
    yield kept(seen)
    yield returned(seen)
    yield receiver_answers.refusal(seen, "a refusing receiver is not counted as delivered")
    if seen.task is not None and seen.task.notice:
        yield receiver_answers.unanswered(seen)
        yield told(seen)


def kept(seen: Round) -> Part:
    """A setting that did not outlive the restart says nothing of the receiver (field report A35)."""
    name, want = "/sandbox is kept across stop and start", f"{posixpath.basename(seen.path)} as it was written"
    records = tuple(ran.record for ran in (seen.put, seen.kept) if ran)
    if seen.kept is None:
        return unknown(name, want, seen.problem or "not tried", *records)
    said = state_in(seen.kept)
    return Part(name, PASS if said == OURS else UNKNOWN, want, "as written" if said == OURS else said, records)


def returned(seen: Round) -> Part:
    name = "the main process comes back after stop and start"
    want = "Stopped, then one session that can be spoken to, of another main process"
    if seen.restart is None:
        return unknown(name, want, seen.problem or "not tried")
    away = seen.restart
    steps = (away.before, away.stop, away.stopped, away.start, away.ready)
    records = tuple(ran.record for ran in steps if ran)
    if why := receiver_answers.not_restarted(seen.restart):
        return unknown(name, want, why, *records)
    return decided(name, True, want, "Stopped, then a ready session", *records)


def told(seen: Round) -> Part:
    """Nothing in the connector tells a sender that its message was held; what it is told is for the report."""
    sender = seen.task.sender if seen.task else ""
    name, want = f"what {sender} was told is known", "an answer of submit-result"
    answer = submit.submit_result(seen.told.stdout) if seen.told else Unreadable("not asked")
    record = seen.told.record if seen.told else ""
    if isinstance(answer, Unreadable) or answer.outcome == submit.PENDING:
        return unknown(name, want, answer if isinstance(answer, Unreadable) else "pending", record)
    if seen.task and answer.req_id != seen.task.request:
        return unknown(name, want, f"the answer to request {answer.req_id}, not to {seen.task.request}", record)
    said = f"claimed by {sender}'s outbox: {answer.outcome} ({answer.reason_code or 'no reason given'})"
    return decided(name, True, want, said, record)
