"""Step 7: one delegation of this run, followed to its end; or one made by hand, when there is one that was answered."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from pytest_amap import instants
from pytest_amap.checks import request_answers
from pytest_amap.commands import Command, Planned
from pytest_amap.delegations import Delegation, answered
from pytest_amap.failures import StepFailed
from pytest_amap.host import delegating, files, planted
from pytest_amap.host.lab import Lab, Member
from pytest_amap.parsers import Unreadable, audit, containers, submit
from pytest_amap.steps.routing import Router

REJECTED = "rejected"


@pytest.fixture(scope="session")
def delegation(router: Router, lab: Lab) -> Delegation:
    """Step 7: done when the delegation has reached an end, whichever; the checks judge the end."""
    made = by_hand(lab)
    if made is not None:
        lab.run.already["delegation"] = f"notice {made.notice}, delegated by hand, was answered"
        return made
    if not lab.options.acts_on(7):
        previous = planted_before(lab)
        if previous is None:
            raise StepFailed(f"{planted.why_none(lab)}; run step 7 first (--from-step 7)")
        lab.run.already["delegation"] = f"request {previous.request} of an earlier run"
        return followed(lab, previous)
    task = delegating.plant(
        lab, lab.sender, lab.receiver, planted.SUBJECT.format(run=lab.run.evidence.run if lab.run.evidence else "")
    )
    if not task.request:
        raise StepFailed(f"{task.problem}; the sender's payload or sandbox cannot submit")
    planted.remember(lab, task)
    for pair in mail_pairs(lab):
        send_mail(lab, *pair)
    task = not_rejected(delegating.watch_placement(lab, task))
    lab.run.left.tell(
        f"request {task.request} of {task.sender} and its notice {task.notice or '(none)'} "
        "stay in lanes and router ledgers"
    )
    return followed(lab, task)


def not_rejected(task: Delegation) -> Delegation:
    """A request that was held, or that no notice followed in time, is for the checks; a rejected one is not."""
    answer = request_answers.private(task.result)
    if not isinstance(answer, Unreadable) and answer.outcome == REJECTED:
        raise StepFailed(f"the request was not placed: {task.problem}; look at the router's log")
    return task


def followed(lab: Lab, task: Delegation) -> Delegation:
    """The outcome and the reply: which of the two comes first is not fixed."""
    if task.notice:
        task = delegating.watch_reply(lab, delegating.watch_outcome(lab, task))
    return task


def plan(lab: Lab) -> list[Planned]:
    mails = [mail(one, other, "<run>") for one, other in mail_pairs(lab)]
    return [*delegating.planned(lab, lab.sender, lab.receiver, planted.SUBJECT.format(run="<run>")), *mails]


def mail_pairs(lab: Lab) -> list[tuple[Member, Member]]:
    """The pairs that list each other for the mail lane, each once."""
    both = lab.fleet.mail
    return [(Member(lab, a), Member(lab, b)) for a in both for b in both[a] if a < b and a in both[b]]


def mail(one: Member, other: Member, run: str) -> Command:
    return one.submit(other.address, f"L1 mail {run}", "A mail of the L1 run; nothing is asked of you.")


def send_mail(lab: Lab, one: Member, other: Member) -> None:
    """One mail a pair, so that the mail lane's documents are real ones; what becomes of it is for the checks to see."""
    assert lab.run.evidence is not None
    ran = lab.host.run(mail(one, other, lab.run.evidence.run))
    request = submit.submitted(ran.stdout)
    if isinstance(request, Unreadable):
        lab.run.left.tell(f"no mail from {one.name} to {other.name} could be planted ({request.why})")
        return
    lab.host.wait_file(
        f"the router's answer to the mail {request} of {one.name}",
        os.fspath(delegating.private_result(lab, one.name, request)),
        lambda read: read.text,
        seconds=lab.options.deadlines.delivery,
    )
    lab.run.left.tell(f"mail {request} of {one.name} to {other.name} stays in lanes and router ledgers")


def planted_before(lab: Lab) -> Delegation | None:
    """The newest delegation that a run of ours planted, between these very sandboxes and over this configuration."""
    task = planted.newest(lab)
    return not_rejected(delegating.watch_placement(lab, task)) if task else None


def by_hand(lab: Lab) -> Delegation | None:
    """A delegation that no run of ours planted, placed after both sandboxes started, and answered."""
    sender, receiver = lab.ground.sender, lab.ground.receiver
    logs = {name: files.read(os.fspath(delegating.audit_log(lab, name))) for name in (sender, receiver)}
    candidates = [
        placed
        for placed in audit.placements(audit.events(logs[receiver].text or ""))
        if placed.sender == sender
        and not placed.in_reply_to
        and not planted.is_ours(lab, placed)
        and answered(logs[sender].text or "", receiver, placed.notice_id)
    ]
    if not candidates:
        return None
    since = started(lab)
    younger = [placed for placed in candidates if since and instants.second(placed.ts) > since]
    if not younger:
        return None
    task = Delegation(sender, receiver, younger[-1].req_id, younger[-1].notice_id, by_hand=True)
    kept = lab.host.read(os.fspath(delegating.audit_log(lab, receiver)), "the receiver's audit log")
    return followed(lab, replace(task, receiver_audit=kept))


def started(lab: Lab) -> str:
    """When the younger of the two sandboxes started, as the container runtime tells; "" when it does not."""
    times = []
    for member in (lab.sender, lab.receiver):
        ids = lab.host.look(lab.commands.containers_of(member.id, lab.options.label_prefix)).stdout.split()
        found = containers.containers(lab.host.look(lab.commands.inspect(*ids)).stdout) if ids else ()
        boxes = (
            containers.workloads(found, member.id, f"{lab.options.label_prefix}/") if isinstance(found, tuple) else ()
        )
        if len(boxes) != 1:
            return ""
        times.append(instants.second(boxes[0].started_at))
    return max(times) if all(times) else ""
