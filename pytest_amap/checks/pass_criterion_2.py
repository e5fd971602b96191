"""Pass criterion 2: the operational checks that the spec prescribes for the connector.

That the inbound lanes were read-only meanwhile is pass_criterion_3's to show. `delivered` is what the receiver says of
itself; it counts only beside the reply, which the router bound to the notice (field report A52).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from pytest_amap import probes
from pytest_amap.checks import request_answers
from pytest_amap.checks.receiver_answers import DELIVERED, as_of_now, story
from pytest_amap.commands import Command, Look, Planned
from pytest_amap.delegations import Delegation, placements_of, text_of
from pytest_amap.host import delegating, sessions
from pytest_amap.host.lab import SANDBOX_HOME, Lab, Member
from pytest_amap.judging import decided, unknown
from pytest_amap.observations import Ran, Read
from pytest_amap.parsers import Unreadable, audit, documents, lister, screen
from pytest_amap.verdicts import FAIL, Part

ACCEPTED, ROUTED = "accepted", "peer_routed"
API_ERROR = "API Error"
DENIED_KEY = re.compile(r"\b40[13]\b|authentication|api key", re.IGNORECASE)


@dataclass(frozen=True)
class Seen:
    """The delegation with the router's files as they stand now.

    `sessions` maps a member to its lister's answer, `told` is submit-result in the sender.
    """

    delegation: Delegation
    receiver_address: str
    router: Ran
    sessions: dict[str, Ran]
    body: Read | None = None
    told: Ran | None = None
    trouble: Ran | None = None
    """Where no reply came: what the receiver's transcript says of calls to its provider that failed."""
    screens: dict[str, Ran] = field(default_factory=dict)
    """Where the lister shows no session to speak to: the member's terminal."""


def plan(lab: Lab) -> Iterable[Planned]:
    sender, receiver = lab.sender, lab.receiver
    yield Look(os.fspath(delegating.private_result(lab, sender.name, "<request>")), "router's private result")
    yield Look(os.fspath(delegating.audit_log(lab, receiver.name)), "the receiver's outcomes")
    yield Look(os.fspath(delegating.audit_log(lab, sender.name)), "the reply")
    yield Look(os.fspath(delegating.message_file(lab, receiver.name, "<notice>")), "the notice's body")
    yield Look(os.fspath(delegating.notice_file(lab, sender.name, "<reply>")), "the reply's notice")
    yield delegating.router_state(lab)
    yield sender.submit_result("<request>")
    yield sender.sessions()
    yield receiver.sessions()
    yield trouble(receiver).only("where no reply came")
    for member in (sender, receiver):
        yield lab.commands.screen(member.name).only(f"where {member.name} has no session to speak to")


def trouble(receiver: Member) -> Command:
    return receiver.probing(probes.turns(SANDBOX_HOME, API_ERROR), f"{receiver.name}'s failed calls to its provider")


def collect(lab: Lab, delegation: Delegation) -> Seen:
    """Read the router's files again, ask the sender's connector and both listers."""
    host, task = lab.host, delegation
    if task.request:
        result = delegating.private_result(lab, task.sender, task.request)
        task = replace(task, result=host.read(os.fspath(result), "router's private result"))
    task = as_of_now(lab, task)
    if answer := task.answer():
        notice = delegating.notice_file(lab, task.sender, answer.notice_id)
        task = replace(task, reply=answer.notice_id, reply_notice=host.read(os.fspath(notice), "the reply's notice"))
    body = delegating.message_file(lab, task.receiver, task.notice)
    found = {member.name: host.run(member.sessions()) for member in (lab.sender, lab.receiver)}
    silent = [name for name, ran in found.items() if sessions.ready(ran) is None]
    return Seen(
        delegation=task,
        receiver_address=lab.fleet.address(task.receiver),
        router=host.run(delegating.router_state(lab)),
        sessions=found,
        body=host.read(os.fspath(body), "the notice's body") if task.notice else None,
        told=host.run(lab.sender.submit_result(task.request)) if task.request else None,
        trouble=None if task.reply or not task.notice else host.run(trouble(lab.receiver)),
        screens={name: host.run(lab.commands.screen(name)) for name in silent},
    )


def judge(seen: Seen) -> list[Part]:
    task = seen.delegation
    return [
        relayed(seen),
        resolved(seen),
        answered(seen),
        routed(task),
        request_answers.told(task.sender, seen.told, task.request, ACCEPTED, task.result),
        *(unless_asked(seen, member, one_session(member, ran)) for member, ran in seen.sessions.items()),
    ]


def unless_asked(seen: Seen, member: str, part: Part) -> Part:
    """A session that waits for a person's answer was not tried: its silence contradicts nothing (field report A39)."""
    shown = seen.screens.get(member)
    asked = screen.question(shown.stdout) if shown else ""
    if shown is None or not asked or part.outcome is not FAIL:
        return part
    said = f"{part.seen}; {member}'s screen asks: {asked}; a person must answer it (D9)"
    return unknown(part.name, part.expected, said, *part.records, shown.record)


def relayed(seen: Seen) -> Part:
    """The whole history of outcomes, in order.

    What was held or failed may yet be delivered, what was refused or denied may not.
    """
    task = seen.delegation
    name, want = f"{task.receiver}'s daemon relayed the notice", "delivered in the end, beside a reply bound to it"
    records = task.records
    if not task.notice:
        return unknown(name, want, f"no notice was placed ({task.problem or 'no reason known'})", *records)
    if unread := request_answers.unread_lines(task.receiver_audit):
        return unknown(name, want, f"{unread} lines of the router's audit log could not be read", *records)
    history = task.outcomes()
    if not history:
        return unknown(name, want, "no outcome in the router's audit log", *records)
    end = audit.terminal(history)
    said = f"claimed by {task.receiver}: {story(history)}"
    if audit.contradictory(history):
        return unknown(name, want, f"{said}, which decides nothing", *records)
    if end is not None and end.outcome == DELIVERED:
        reply = "the router bound a reply to it" if task.answer() else "no reply stands beside it"
        part = decided(name, True, want, f"{said}; {reply}", *records)
        return part if task.answer() else unknown(name, want, part.seen, *records)
    if end is not None:
        return decided(name, False, want, said, *records)
    return unless_asked(seen, task.receiver, pending(seen, name, want, said))


def pending(seen: Seen, name: str, want: str, said: str) -> Part:
    """Only outcomes after which the daemon tries again.

    Undelivered when step 7 gave up, provided that the router is there to be told of a delivery.
    """
    records = (*seen.delegation.records, seen.router.record)
    if seen.delegation.answer():
        return unknown(name, want, f"{said}; answered, but never delivered by its own account", *records)
    if seen.router.stdout.strip() != "running":
        return unknown(name, want, f"{said}; the router is not known to be running ({seen.router.said})", *records)
    return decided(name, False, want, f"{said}, and nothing after it; no reply", *records)


def resolved(seen: Seen) -> Part:
    """The body stands where the receiver's read tool takes it from."""
    task = seen.delegation
    name, want = f"the notice's body stands in {task.receiver}'s lane", "a message document of it, with its text"
    if seen.body is None:
        return unknown(name, want, "no notice was placed", *task.records)
    if seen.body.problem == "ENOENT":
        return decided(name, False, want, "the router placed the notice, but no message document", seen.body.record)
    read = documents.document(seen.body.text) if seen.body.text is not None else Unreadable(f"{seen.body.problem}")
    if isinstance(read, Unreadable):
        return unknown(name, want, read, seen.body.record)
    text = read.get("body_text")
    holds = read.get("notice_id") == task.notice and isinstance(text, str) and bool(text.strip())
    has = f"{len(text)} characters of text" if isinstance(text, str) else "no text"
    return decided(name, holds, want, f"a message of notice {read.get('notice_id')} with {has}", seen.body.record)


def answered(seen: Seen) -> Part:
    """The reply, bound and placed by the router: the notice's text was acted on."""
    task = seen.delegation
    name, want = f"{task.receiver}'s reply stands in {task.sender}'s lane", "a notice in reply to the task's"
    answer, notice = task.answer(), task.reply_notice
    if answer is None:
        why = task.sender_audit.problem if task.sender_audit and task.sender_audit.problem else "no such placement"
        said = f"no reply bound to the notice in the router's audit log ({why}){because(seen)}"
        return unknown(name, want, said, *task.records, *([seen.trouble.record] if seen.trouble else []))
    if notice is not None and notice.problem == "ENOENT":
        said = f"placed as {answer.notice_id} by the audit log, but no such notice file"
        return decided(name, False, want, said, *task.records)
    read = documents.document(notice.text) if notice and notice.text is not None else Unreadable("the notice is unread")
    if isinstance(read, Unreadable):
        return unknown(name, want, read, *task.records)
    message = read["message"] if isinstance(read.get("message"), dict) else {}
    sender = str(message.get("from"))
    holds = message.get("in_reply_to") == task.notice and sender.lower() == seen.receiver_address.lower()
    said = f"a notice from {sender} in reply to {message.get('in_reply_to')}"
    return decided(name, holds, f"{want}, from {seen.receiver_address}", said, *task.records)


def because(seen: Seen) -> str:
    """What the receiver's transcript says of it: a provider that is there proves no credential (field report A09)."""
    found = probes.answer(seen.trouble) if seen.trouble else {}
    entries = found.get("found") if not isinstance(found, Unreadable) else None
    said = [str(entry.get("text")) for entry in entries or () if isinstance(entry, dict) and entry.get("text")]
    if not said:
        return ""
    why = "; the provider has no working credential" if DENIED_KEY.search(said[-1]) else ""
    return f"; claimed by {seen.delegation.receiver}'s transcript: {said[-1]}{why}"


def routed(task: Delegation) -> Part:
    """The router's own answer to the request, from where no agent can write."""
    name, want = f"the router took {task.sender}'s request", f"{ACCEPTED}, {ROUTED}, as the notice that was placed"
    records = (task.result.record,) if task.result else ()
    found = request_answers.private(task.result)
    if isinstance(found, Unreadable):
        return unknown(name, want, task.problem if not task.request and task.problem else found, *records)
    if found.req_id != task.request:
        return unknown(name, want, f"the answer to request {found.req_id}, not to {task.request}", *records)
    routed_it = (found.outcome, found.reason_code) == (ACCEPTED, ROUTED)
    said = f"{found.outcome}, {found.reason_code or 'no reason'}, as {found.message_id or 'no notice'}"
    again = placements_of(text_of(task.receiver_audit), task.sender, task.request)[task.earlier + 1 :]
    if routed_it and found.message_id in {one.notice_id for one in again}:
        return unknown(name, want, f"{said}, for a router that crashed placed it again", *records)
    holds = routed_it and bool(task.notice) and found.message_id == task.notice
    return decided(name, holds, want, said, *records)


def one_session(member: str, ran: Ran) -> Part:
    """What the daemon's own lister finds; between two it refuses to guess."""
    name, want = f"the lister in {member} finds one session", "exactly one, with its socket and key"
    found = sessions.sessions(ran)
    if isinstance(found, Unreadable):
        return unknown(name, want, found, ran.record)
    if found.main is None:
        return unknown(name, want, "no main process was found, so the lister could not be asked", ran.record)
    said = f"{len(found.rows)}: {'; '.join(map(session, found.rows)) or 'no row'}"
    return decided(name, sessions.ready(ran) is not None, want, said, ran.record)


def session(row: lister.Row) -> str:
    return f"process {row.pid}, socket {row.socket or 'none'}, key {'there' if row.key else 'none'}"
