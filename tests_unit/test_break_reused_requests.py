"""Ids of requests start anew when an outbox loses its results: an old request's files are no answer to a new one."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from request_samples import N1, N2, N3, outcome, placed, private, ran, result
from scripted_lab import scripted_lab, write

from pytest_amap.checks import pass_criterion_5
from pytest_amap.delegations import Delegation
from pytest_amap.host import delegating
from pytest_amap.host import planted as remembered
from pytest_amap.host.lab import Lab
from pytest_amap.steps import delegating as steps
from pytest_amap.verdicts import UNKNOWN

REQUEST = "00000000"
SUBMITTED = ran(f"Submitted request {REQUEST} to the relay drop-box x\n")


def lab_with_history(tmp_path: Path, *, answered: bool = False, arrives: str = "") -> Lab:
    """An older request of the same id was placed, delivered and replied to; the new one comes as `arrives`, or not."""
    lab: Lab

    def submit(command: object) -> object:
        if arrives:
            with delegating.audit_log(lab, "beta").open("a") as log:
                log.write(placed(arrives, "alpha", "beta", REQUEST))
        return SUBMITTED

    lab, _ = scripted_lab(tmp_path, {"submit from": submit})
    write(delegating.audit_log(lab, "beta"), placed(N1, "alpha", "beta", REQUEST) + outcome(N1, "delivered"))
    write(delegating.audit_log(lab, "alpha"), placed(N2, "beta", "alpha", "00000003", N1))
    if answered:
        write(delegating.private_result(lab, "alpha", REQUEST), private("accepted", "peer_routed", N1, REQUEST))
    return lab


def planted(lab: Lab) -> Delegation:
    return delegating.plant(lab, lab.sender, lab.receiver, "subject")


def test_an_old_placement_is_not_the_new_requests(tmp_path):
    lab = lab_with_history(tmp_path)
    task = delegating.watch_placement(lab, planted(lab))
    assert (task.notice, task.placement(), task.outcomes(), task.answer()) == ("", None, (), None)
    assert "nothing" in task.problem


def test_the_new_placement_is_found_behind_the_old_one(tmp_path):
    lab = lab_with_history(tmp_path, arrives=N3)
    task = delegating.watch_placement(lab, planted(lab))
    assert task.notice == N3
    assert task.placement().notice_id == N3
    assert task.outcomes() == ()


def test_an_id_that_the_router_has_answered_before_is_no_request(tmp_path):
    lab = lab_with_history(tmp_path, answered=True)
    task = planted(lab)
    assert task.request == ""
    assert "answered that id before" in task.problem


def test_an_id_of_which_the_past_cannot_be_told_is_no_request(tmp_path):
    lab = lab_with_history(tmp_path)
    write(delegating.private_results(lab, "alpha"), "no directory")
    task = planted(lab)
    assert task.request == ""
    assert "could not be told" in task.problem


def test_a_later_look_by_what_was_noted_finds_the_new_one(tmp_path, monkeypatch):
    lab = lab_with_history(tmp_path, arrives=N3)
    monkeypatch.setattr(remembered, "of", lambda lab: {"fleet": "f"})
    remembered.remember(lab, planted(lab))
    assert steps.planted_before(lab).notice == N3


@pytest.mark.parametrize("old", [("queued_for_human", "recipient_not_allowlisted"), ("accepted", "peer_routed", N2)])
def test_an_old_answer_to_the_id_decides_nothing_of_a_reverse_task(tmp_path, old):
    lab, _ = scripted_lab(
        tmp_path,
        {
            "submit from": lambda command: SUBMITTED,
            "submit-result": lambda command: ran(json.dumps(result("rejected", "req_id_reused"))),
            "the router's log": lambda command: ran(),
        },
    )
    write(delegating.private_result(lab, "beta", REQUEST), private(*old, request=REQUEST))
    write(lab.home.router_state / "status.json", {"admitted": ["alpha", "beta"]})
    status = os.fspath(lab.home.router_state / "status.json")
    os.utime(status, (4e9, 4e9))
    parts = pass_criterion_5.judge(pass_criterion_5.collect(lab))
    assert {part.outcome for part in parts} == {UNKNOWN}
