"""Pass criterion 5: a new task on the edge that was never granted is held at the router.

A reply would reach the sender, so the request must be no reply. Whether it was held is the router's own word, from its
private files; what the requester's connector shows is a claim. The router writes no line of its own for a held
request: that poll's summary is kept for the report and decides nothing (facts: amap.md 2.5).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from pytest_amap.checks import arrivals, request_answers
from pytest_amap.checks.arrivals import LANES, fresh, listings, notices
from pytest_amap.commands import Command, Look, Planned
from pytest_amap.delegations import Delegation
from pytest_amap.host import delegating
from pytest_amap.host.lab import Lab
from pytest_amap.judging import decided, listed, only_beside, unknown
from pytest_amap.observations import Listing, Ran, Read
from pytest_amap.parsers import Unreadable, documents, router_log
from pytest_amap.verdicts import Part

HELD, UNGRANTED = "queued_for_human", "recipient_not_allowlisted"
BODY = "Nothing is asked of you: this task was never granted and is to be held at the router. If you read it, leave it."
MOST_READ = 20
LOG_LINES = "400"
"""About a quarter of an hour of polls, 5 s apart."""


@dataclass(frozen=True)
class Seen:
    """The reverse task, from its planting to the end of the poll that judged it.

    In `task` step 7's receiver is the sender. `log_*` is the router's audit log of the recipient, `notices_*` the
    names in its peer lane, `mail_*` in its mail lane, `arrived` the notices that are new in either, `status` the
    router's own, `log` what it printed.
    """

    task: Delegation
    subject: str
    requester: str
    recipient: str
    """Addresses, by the fleet."""
    log_before: Read
    notices_before: Listing
    mail_before: Listing
    waited: str = ""
    answer: Read | None = None
    status: Read | None = None
    held: Read | None = None
    log_after: Read | None = None
    notices_after: Listing | None = None
    mail_after: Listing | None = None
    arrived: tuple[Read, ...] = ()
    told: Ran | None = None
    log: Ran | None = None


def subject(lab: Lab) -> str:
    return f"L1 reverse task {lab.run.evidence.run if lab.run.evidence else '<run>'}: never granted"


def status(lab: Lab) -> str:
    return os.fspath(lab.home.router_state / "status.json")


def router_logs(lab: Lab) -> Command:
    return lab.commands.runtime("logs", "--tail", LOG_LINES, delegating.ROUTER, label="the router's log")


def plan(lab: Lab) -> Iterable[Planned]:
    requester, recipient = lab.receiver, lab.sender
    log = Look(os.fspath(delegating.audit_log(lab, recipient.name)), "what was placed with the recipient")
    lanes = [Look(notices(lab, recipient.name, lane), f"notices in the recipient's {lane}") for lane in LANES]
    yield from (log, *lanes)
    yield requester.submit(recipient.address, subject(lab), BODY)
    yield Look(os.fspath(delegating.private_result(lab, requester.name, "<request>")), "router's private result")
    yield delegating.router_state(lab).only("while waiting, every 5 s")
    yield Look(status(lab), "the end of that poll")
    yield Look(os.fspath(delegating.held_copy(lab, requester.name, "<request>")), "the held copy")
    yield from (*lanes, log)
    yield from (Look(f"{lane.path}/<new notice>", "a new notice", "for each new notice") for lane in lanes)
    yield requester.submit_result("<request>")
    yield router_logs(lab)


def collect(lab: Lab) -> Seen:
    """Plant the reverse task, wait for the router, and look where it could have come to.

    The held request stays with the router, which has no command to release it.
    """
    host, requester, recipient = lab.host, lab.receiver, lab.sender
    log = os.fspath(delegating.audit_log(lab, recipient.name))
    log_before = host.read(log, "what was placed with the recipient, before")
    before = listings(lab, recipient.name, "before")
    task = delegating.plant(lab, requester, recipient, subject(lab), BODY)
    seen = Seen(task, subject(lab), requester.address, recipient.address, log_before, *before)
    if not task.request:
        return seen
    lab.run.left.tell(f"pass_criterion_5: request {task.request} of {requester.name}, held by the router")
    seen = await_judgement(lab, seen)
    after = listings(lab, recipient.name, "after")
    new = [f"{two.path}/{name}" for one, two in zip(before, after, strict=True) for name in fresh(one, two)]
    return replace(
        seen,
        held=host.read(os.fspath(delegating.held_copy(lab, requester.name, task.request)), "the held copy"),
        log_after=host.read(log, "what was placed with the recipient, after"),
        notices_after=after[0],
        mail_after=after[1],
        arrived=tuple(host.read(path, "a new notice") for path in new[:MOST_READ]),
        told=host.run(requester.submit_result(task.request)),
        log=host.run(router_logs(lab)),
    )


def await_judgement(lab: Lab, seen: Seen) -> Seen:
    """Until the private result is there, then until that poll has ended: status is written last."""
    task = seen.task
    answer = lab.host.wait_file(
        f"the router's answer to request {task.request}",
        os.fspath(delegating.private_result(lab, task.sender, task.request)),
        lambda read: read if read.problem != "ENOENT" else None,
        seconds=lab.options.deadlines.delivery,
        stop=delegating.router_gone(lab),
    )
    ended = lab.host.wait_file(
        "the end of that poll",
        status(lab),
        lambda read: read if read.mtime >= since(task, answer.last) else None,
        seconds=lab.options.deadlines.roster,
        stop=delegating.router_gone(lab),
    )
    return replace(seen, answer=answer.last, status=ended.last, waited=answer.problem or ended.problem)


def since(task: Delegation, answer: Read | None) -> str:
    """When the poll that matters can have ended at the earliest: after the planting and after the answer."""
    return max(task.submitted.ended if task.submitted else "", answer.mtime if answer else "")


def judge(seen: Seen) -> list[Part]:
    if not seen.task.request:
        want = f"a request of {seen.task.sender} to {seen.task.receiver}"
        record = seen.task.submitted.record if seen.task.submitted else ""
        return [unknown("the reverse task was submitted", want, seen.task.problem or "nothing was submitted", record)]
    control = routing(seen)
    return [
        control,
        held(seen),
        kept(seen),
        only_beside(control.outcome, arrivals.unplaced(seen)),
        only_beside(control.outcome, arrivals.unnoticed(seen)),
        request_answers.told(seen.task.sender, seen.told, seen.task.request, HELD, seen.answer),
    ]


def routing(seen: Seen) -> Part:
    """The control: the router polled to the end after the planting, and knows both members."""
    name, want = "the router was routing meanwhile", "a whole poll after the planting, with both members admitted"
    status, records = seen.status, (seen.status.record,) if seen.status else ()
    if status is None or status.text is None:
        why = status.problem if status else "not looked for"
        return unknown(name, want, f"its status could not be read ({why})", *records)
    if status.mtime < (wanted := since(seen.task, seen.answer)):
        return unknown(name, want, f"its last poll ended {status.mtime}, before {wanted}; {seen.waited}", *records)
    read = documents.document(status.text)
    admitted = read.get("admitted") if not isinstance(read, Unreadable) else None
    if not isinstance(admitted, list):
        return unknown(name, want, read if isinstance(read, Unreadable) else "a status without members", *records)
    missing = [member for member in (seen.task.sender, seen.task.receiver) if member not in admitted]
    if missing:
        return unknown(name, want, f"not admitted: {listed(missing)}", *records)
    return decided(name, True, want, f"a poll ended {status.mtime}, with {listed(admitted)} admitted", *records)


def held(seen: Seen) -> Part:
    """The router's own answer; the line of its log stands beside it and does not decide."""
    name, want = "the router held the request", f"{HELD}, {UNGRANTED}, no notice"
    records = tuple(one.record for one in (seen.answer, seen.log) if one)
    answer = request_answers.private(seen.answer)
    if isinstance(answer, Unreadable):
        return unknown(name, want, seen.waited or answer, *records)
    if answer.req_id != seen.task.request:
        return unknown(name, want, f"an answer to request {answer.req_id}, not to {seen.task.request}", *records)
    if why := arrivals.exchanged(seen):
        return unknown(name, want, why, *records)
    holds = (answer.outcome, answer.reason_code, answer.message_id) == (HELD, UNGRANTED, "")
    said = f"{answer.outcome}, {answer.reason_code or 'no reason'}, {answer.message_id or 'no notice'}"
    return decided(name, holds, want, f"{said}; {poll_line(seen)}", *records)


def poll_line(seen: Seen) -> str:
    """That poll's `drained` line, from either stream (field report A22)."""
    found = router_log.drained(f"{seen.log.stdout}\n{seen.log.stderr}") if seen.log else ()
    mine = [one.line for one in found if one.instance == seen.task.sender and one.counters.get(HELD, 0) > 0]
    return f"the router's log: {mine[-1]}" if mine else "no line of that poll in the router's log"


def kept(seen: Seen) -> Part:
    """What the router keeps is the new task that was planted: a reply would be let through."""
    name, want = "the held copy is that request, and no reply", f"{seen.subject!r} to {seen.recipient}, no reply key"
    copy = seen.held
    if copy is None or copy.text is None:
        answer = request_answers.private(seen.answer)
        gone = copy is not None and copy.problem == "ENOENT"
        records = (copy.record,) if copy else ()
        if gone and not isinstance(answer, Unreadable) and answer.outcome == HELD:
            return decided(name, False, want, "the router says that it holds it, but keeps no copy", *records)
        return unknown(name, want, f"no copy to read ({copy.problem if copy else 'not looked for'})", *records)
    read = documents.document(copy.text)
    if isinstance(read, Unreadable):
        return unknown(name, want, read, copy.record)
    draft: dict[str, Any] = read["draft"] if isinstance(read.get("draft"), dict) else {}
    key = read.get("in_reply_to") or draft.get("reply_to_message_id")
    if key:
        return unknown(name, want, f"it is a reply to {key}, so that nothing is shown of a new task", copy.record)
    found = (read.get("req_id"), draft.get("to"), draft.get("subject"))
    if found != (seen.task.request, [seen.recipient], seen.subject) or draft.get("cc"):
        beside = f" and {draft['cc']}" if draft.get("cc") else ""
        return unknown(name, want, f"another request: {found[0]}, {found[2]!r} to {found[1]}{beside}", copy.record)
    return decided(name, True, want, f"request {found[0]} to {seen.recipient}, no reply key", copy.record)
