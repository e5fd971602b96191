"""Step 7: one delegation a run, to whichever end; made by hand when there is one; found again by a later run."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from container_samples import container, inspected
from request_samples import N1, N2, outcome, placed, private
from scripted_lab import QUICK, Answer, ScriptedHost, assert_as_planned, said, scripted_lab, write

from pytest_amap.commands import Command
from pytest_amap.delegations import Delegation
from pytest_amap.failures import StepFailed
from pytest_amap.host import delegating, planted
from pytest_amap.host.lab import Lab
from pytest_amap.observations import Ran
from pytest_amap.steps import delegating as step

REQUEST = "00000001"
SUBMITTED = said(f"Submitted request {REQUEST} to the relay drop-box (/opt/amap/lanes/outbox).\n")
BOXES: dict[str, Answer] = {
    "containers of": said("c1\n"),
    "inspect": [inspected(container("id-1")), inspected(container("id-2"))],
}


def add(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(text)


def routed(lab: Lab, request: str = REQUEST, notice: str = N1, end: str = "delivered", reply: bool = True) -> None:
    """What the router leaves of a request that it placed."""
    write(delegating.private_result(lab, "alpha", request), private("accepted", "peer_routed", notice, request))
    write(delegating.message_file(lab, "beta", notice), {"subject": "List your workspace"})
    add(delegating.audit_log(lab, "beta"), placed(notice, "alpha", "beta", request) + outcome(notice, end))
    if reply:
        write(delegating.notice_file(lab, "alpha", N2), {})
        add(delegating.audit_log(lab, "alpha"), placed(N2, "beta", "alpha", "00000009", notice))


def judged(lab: Lab, word: str, reason: str) -> None:
    write(delegating.private_result(lab, "alpha", REQUEST), private(word, reason))


def lab_of(tmp_path: Path, then: Any = routed, **options: Any) -> tuple[Lab, ScriptedHost]:
    """A router that judges the request while it is being submitted: `then` says how."""

    def submit(command: Command) -> Ran:
        then(lab)
        return SUBMITTED

    lab, host = scripted_lab(tmp_path, {"submit from alpha": submit, **BOXES}, **options)
    return lab, host


def run(lab: Lab) -> Delegation:
    return step.delegation.__wrapped__(None, lab)


def test_a_delegation_is_planted_and_followed_to_its_reply(tmp_path: Path) -> None:
    lab, host = lab_of(tmp_path)
    task = run(lab)
    assert (task.request, task.notice, task.reply, task.by_hand, task.problem) == (REQUEST, N1, N2, False, "")
    assert [one.outcome for one in task.outcomes()] == ["delivered"]
    assert any(REQUEST in left for left in lab.run.left)
    assert "delegation" not in lab.run.already
    assert_as_planned(lab, step.plan, host.argvs)


@pytest.mark.parametrize("end", ["refused", "denied"])
def test_an_end_that_is_no_delivery_is_an_end_too_and_no_reply_is_waited_for(tmp_path: Path, end: str) -> None:
    lab, _ = lab_of(tmp_path, lambda lab: routed(lab, end=end, reply=False))
    task = run(lab)
    assert (task.notice, task.reply) == (N1, "")
    assert end in task.problem


def test_a_missing_reply_is_for_the_checks_to_judge(tmp_path: Path) -> None:
    lab, _ = lab_of(tmp_path, lambda lab: routed(lab, reply=False))
    task = run(lab)
    assert (task.notice, task.reply) == (N1, "")
    assert "nothing after" in task.problem


def test_a_request_that_was_held_has_reached_an_end(tmp_path: Path) -> None:
    lab, _ = lab_of(tmp_path, lambda lab: judged(lab, "queued_for_human", "recipient_not_allowlisted"))
    task = run(lab)
    assert (task.request, task.notice) == (REQUEST, "")
    assert "queued_for_human" in task.problem


def test_a_request_that_was_rejected_ends_the_wait_at_once(tmp_path: Path) -> None:
    lab, _ = lab_of(tmp_path, lambda lab: judged(lab, "rejected", "malformed_request"))
    with pytest.raises(StepFailed, match=r"rejected \(malformed_request\)"):
        run(lab)


def test_a_request_that_nobody_judges_is_left_to_the_checks(tmp_path: Path) -> None:
    lab, _ = lab_of(tmp_path, lambda lab: None)
    made = run(lab)
    assert (made.notice, made.reply) == ("", "")
    assert "nothing after" in made.problem


def test_a_router_that_is_gone_ends_the_wait(tmp_path: Path) -> None:
    lab, host = lab_of(tmp_path, lambda lab: None, deadlines=replace(QUICK, delivery=60.0))
    host.answers["the router's state"] = said("exited\n")
    assert "the router is exited" in run(lab).problem


NOTHING = {
    "not ready": said(exit=1, stderr="Error:   × sandbox 'alpha' is not ready (phase: Stopped)"),
    "silence": said(),
    "two requests": said(SUBMITTED.stdout * 2),
    "no end": said(exit=None, timed_out=True),
}


@pytest.mark.parametrize("answer", NOTHING.values(), ids=NOTHING)
def test_where_nothing_was_submitted_the_step_fails(tmp_path: Path, answer: Ran) -> None:
    lab, host = lab_of(tmp_path)
    host.answers["submit from alpha"] = answer
    with pytest.raises(StepFailed, match="nothing was submitted"):
        run(lab)
    assert lab.run.left == {}
    assert planted.newest(lab) is None


def test_a_delegation_made_by_hand_is_used_instead(tmp_path: Path) -> None:
    lab, host = lab_of(tmp_path)
    routed(lab, request="00000042")
    task = run(lab)
    assert (task.by_hand, task.request, task.notice, task.reply) == (True, "00000042", N1, N2)
    assert "by hand" in lab.run.already["delegation"]
    assert host.ran("submit") == 0


def by_hand_but(lab: Lab, host: ScriptedHost, why: str) -> None:
    routed(lab, request="00000042", reply=why != "not answered")
    if why == "older than a sandbox":
        host.answers["inspect"] = inspected(container("id-1", started="2026-11-29T12:00:01Z"))
    if why == "in the second of a start":
        host.answers["inspect"] = inspected(container("id-1", started="2026-11-29T12:00:00Z"))
    if why == "two containers":
        host.answers["inspect"] = said(json.dumps([container("id-1"), container("id-1")]))
    if why == "no start":
        host.answers["inspect"] = inspected(container("id-1", started="0001-01-01T00:00:00Z"))
    if why == "planted by a run of ours that was killed":
        subject = planted.SUBJECT.format(run="20261128T120000Z")
        write(delegating.message_file(lab, "beta", N1), {"subject": subject})


@pytest.mark.parametrize(
    "why",
    [
        "not answered",
        "older than a sandbox",
        "in the second of a start",
        "two containers",
        "no start",
        "planted by a run of ours that was killed",
    ],
)
def test_what_is_not_shown_to_be_made_by_hand_is_not_used(tmp_path: Path, why: str) -> None:
    lab, host = lab_of(tmp_path, lambda lab: judged(lab, "rejected", "x"))
    by_hand_but(lab, host, why)
    with pytest.raises(StepFailed, match="rejected"):
        run(lab)
    assert host.ran("submit") == 1


def test_a_later_run_finds_the_delegation_of_an_earlier_one(tmp_path: Path) -> None:
    lab, host = lab_of(tmp_path)
    first = run(lab)
    later, host = rerun(lab)
    task = run(later)
    assert (task.request, task.notice, task.reply) == (first.request, N1, N2)
    assert "earlier run" in later.run.already["delegation"]
    assert host.ran("submit") == 1


def rerun(lab: Lab) -> tuple[Lab, ScriptedHost]:
    """The same home, looked at from step 8 on."""
    host: Any = lab.host
    object.__setattr__(lab.options, "from_step", 8)
    return lab, host


def test_a_later_run_does_not_take_what_rests_on_other_sandboxes(tmp_path: Path) -> None:
    lab, _ = lab_of(tmp_path)
    run(lab)
    later, _ = rerun(lab)
    later.ids["beta"] = "id-new"
    with pytest.raises(StepFailed, match="run step 7 first"):
        run(later)


def test_without_any_earlier_delegation_a_later_run_says_so(tmp_path: Path) -> None:
    lab, host = lab_of(tmp_path, from_step=8)
    with pytest.raises(StepFailed, match="run step 7 first"):
        run(lab)
    assert host.ran("submit") == 0


def test_the_subject_names_the_run_and_the_address_is_the_receivers(tmp_path: Path) -> None:
    lab, host = lab_of(tmp_path)
    run(lab)
    argv = next(argv for argv in host.argvs if "--subject" in argv)
    assert lab.host.evidence.run in argv[argv.index("--subject") + 1]
    assert argv[argv.index("--to") + 1] == lab.receiver.address
    assert f"OUTBOX_DIR={os.fspath('/opt/amap/lanes/outbox')}" in argv
