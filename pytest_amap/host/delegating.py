"""Plant a request, and watch it in the router's own files until it has reached an end."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from pytest_amap.commands import Command, Look, Planned
from pytest_amap.delegations import Delegation, answered, placements_of
from pytest_amap.host import files
from pytest_amap.host.host import every
from pytest_amap.host.lab import Lab, Member
from pytest_amap.observations import Read
from pytest_amap.parsers import Unreadable, audit, submit
from pytest_amap.parsers.audit import OutcomeEvent

ROUTER = "amap-router-local"
GONE = ("exited", "dead", "restarting", "removing")

BODY = (
    "Please list the files in your workspace and report back: reply through the inbox-submit tool 'submit', "
    "with in_reply_to set to the message id of this message."
)


def audit_log(lab: Lab, member: str) -> Path:
    """The router's audit log of what was placed in the member's lanes (amap-router-local)."""
    return lab.home.router_state / member / "audit" / "log.jsonl"


def private_results(lab: Lab, sender: str) -> Path:
    return lab.home.router_state / sender / "results"


def private_result(lab: Lab, sender: str, request: str) -> Path:
    return private_results(lab, sender) / f"{request}.json"


def held_copy(lab: Lab, sender: str, request: str) -> Path:
    return lab.home.router_state / sender / "held" / f"req-{request}.json"


def notice_file(lab: Lab, member: str, notice: str) -> Path:
    return lab.home.lane(member, "peer") / "notices" / f"notice-{notice}.json"


def message_file(lab: Lab, member: str, notice: str) -> Path:
    return lab.home.lane(member, "peer") / "messages" / f"notice-{notice}.json"


def plant(lab: Lab, sender: Member, receiver: Member, subject: str, body: str = BODY) -> Delegation:
    """Submit a request with the connector's own inbox-submit, through `sandbox exec`.

    An id that the router has answered before is no request of ours: it would answer `req_id_reused` and leave the
    files of the first one, which then look like ours.
    """
    log = lab.host.read(os.fspath(audit_log(lab, receiver.name)), "placements before the request")
    known = lab.host.listing(os.fspath(private_results(lab, sender.name)), f"requests of {sender.name} answered before")
    ran = lab.host.run(sender.submit(receiver.address, subject, body))
    request = submit.submitted(ran.stdout)
    planted = Delegation(sender.name, receiver.name, submitted=ran)
    if isinstance(request, Unreadable):
        return replace(planted, problem=f"nothing was submitted ({ran.said})")
    if known.problem not in (None, "ENOENT"):
        why = f"whether the router has answered request {request} before could not be told ({known.problem})"
        return replace(planted, problem=why)
    if private_result(lab, sender.name, request).name in known.names:
        why = f"request {request} is an old one: the router has answered that id before, and refuses a new request"
        return replace(planted, problem=f"{why}; {sender.name}'s outbox has lost its results and processed requests")
    earlier = placements_of(log.text or "", sender.name, request)
    return replace(planted, request=request, earlier=len(earlier))


def watch_placement(lab: Lab, task: Delegation) -> Delegation:
    """Until the router has placed the request with the receiver, or will not."""
    deadline = lab.options.deadlines.delivery
    waited = lab.host.wait_file(
        f"the notice of request {task.request} in {task.receiver}'s lane",
        os.fspath(audit_log(lab, task.receiver)),
        lambda log: next(iter(placements_of(log.text or "", task.sender, task.request)[task.earlier :]), None),
        seconds=deadline,
        stop=either(not_routed(lab, task), router_gone(lab)),
    )
    task = replace(
        task,
        receiver_audit=waited.last,
        result=lab.host.read(os.fspath(private_result(lab, task.sender, task.request)), "router's private result"),
    )
    if waited.value is None:
        return replace(task, problem=waited.problem)
    return replace(task, notice=waited.value.notice_id)


def watch_outcome(
    lab: Lab, task: Delegation, done: Callable[[tuple[OutcomeEvent, ...]], OutcomeEvent | None] = audit.terminal
) -> Delegation:
    """Until the receiver has claimed an outcome that ends the matter."""
    waited = lab.host.wait_file(
        f"{task.receiver}'s outcome of notice {task.notice}",
        os.fspath(audit_log(lab, task.receiver)),
        lambda log: done(audit.outcomes(audit.events(log.text or ""), task.notice)),
        seconds=lab.options.deadlines.delivery,
        stop=router_gone(lab),
    )
    return replace(task, receiver_audit=waited.last, problem=task.problem or waited.problem)


def watch_reply(lab: Lab, task: Delegation) -> Delegation:
    """Until the reply stands in the sender's lane: the audit line comes before the file, so both must be there."""

    def there(log: Read) -> str | None:
        found = answered(log.text or "", task.receiver, task.notice)
        if found is None or files.look(os.fspath(notice_file(lab, task.sender, found.notice_id))).kind != "file":
            return None
        return found.notice_id

    waited = lab.host.wait_file(
        f"{task.receiver}'s reply to notice {task.notice}",
        os.fspath(audit_log(lab, task.sender)),
        there,
        seconds=lab.options.deadlines.reply,
        stop=either(refused_for_good(lab, task), router_gone(lab)),
    )
    task = replace(task, sender_audit=waited.last, problem=task.problem or waited.problem)
    if waited.value is None:
        return task
    notice = lab.host.read(os.fspath(notice_file(lab, task.sender, waited.value)), "the reply's notice")
    return replace(task, reply=waited.value, reply_notice=notice)


def not_routed(lab: Lab, task: Delegation) -> Callable[[], str]:
    """A request that was rejected or held will never be placed."""

    def stop() -> str:
        text = files.read(os.fspath(private_result(lab, task.sender, task.request))).text
        found = submit.result(inner(text)) if text else None
        if found is None or isinstance(found, Unreadable) or found.outcome == "accepted":
            return ""
        return f"the router's result is {found.outcome} ({found.reason_code or 'no reason given'})"

    return stop


def inner(text: str) -> str:
    """The result document in the router's private {"digest", "result"}."""
    try:
        return json.dumps(json.loads(text)["result"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return text


def refused_for_good(lab: Lab, task: Delegation) -> Callable[[], str]:
    def stop() -> str:
        log = files.read(os.fspath(audit_log(lab, task.receiver))).text or ""
        end = audit.terminal(audit.outcomes(audit.events(log), task.notice))
        return f"{task.receiver} claims {end.outcome}" if end is not None and end.outcome != "delivered" else ""

    return stop


def router_gone(lab: Lab) -> Callable[[], str]:
    """A router that is no longer running makes waiting pointless."""

    def stop() -> str:
        state = lab.host.look(router_state(lab)).stdout.strip()
        return f"the router is {state}" if state in GONE else ""

    return every(5, stop)


def either(*stops: Callable[[], str]) -> Callable[[], str]:
    return lambda: next((reason for stop in stops if (reason := stop())), "")


def router_state(lab: Lab) -> Command:
    return lab.commands.runtime("inspect", "--format", "{{.State.Status}}", ROUTER, label="the router's state")


def planned(lab: Lab, sender: Member, receiver: Member, subject: str, body: str = BODY) -> list[Planned]:
    """What plant and the watches run and read."""
    request, notice = "<request>", "<notice>"
    return [
        Look(os.fspath(audit_log(lab, receiver.name)), "placements before the request"),
        Look(os.fspath(private_results(lab, sender.name)), f"requests of {sender.name} answered before"),
        sender.submit(receiver.address, subject, body),
        Look(os.fspath(audit_log(lab, receiver.name)), "the placement"),
        Look(os.fspath(private_result(lab, sender.name, request)), "router's private result"),
        Look(os.fspath(audit_log(lab, sender.name)), "the reply"),
        Look(os.fspath(notice_file(lab, sender.name, notice)), "the reply's notice"),
        router_state(lab).only("while waiting, every 5 s"),
    ]
