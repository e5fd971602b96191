"""Planting a request and watching it: what ends a wait at once, and what never counts as its end."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest
from request_samples import N1, N2, outcome, placed, private, result
from scripted_lab import QUICK, said, scripted_lab, write

from pytest_amap.delegations import Delegation
from pytest_amap.host import delegating
from pytest_amap.host.lab import Lab

REQUEST = "00000001"
TASK = Delegation("alpha", "beta", REQUEST)
NOTICED = replace(TASK, notice=N1)


def patient(tmp_path: Path, router: str = "running") -> Lab:
    """Waits are long, so that a test ends only where the wait does."""
    deadlines = replace(QUICK, delivery=60.0, reply=60.0)
    return scripted_lab(tmp_path, {"the router's state": said(f"{router}\n")}, deadlines=deadlines)[0]


@pytest.mark.parametrize(
    ("word", "reason"), [("rejected", "malformed_request"), ("queued_for_human", "recipient_not_allowlisted")]
)
def test_a_request_that_will_not_be_placed_ends_the_wait_at_once(tmp_path: Path, word: str, reason: str) -> None:
    lab, begun = patient(tmp_path), time.monotonic()
    write(delegating.private_result(lab, "alpha", REQUEST), private(word, reason))
    task = delegating.watch_placement(lab, TASK)
    assert time.monotonic() - begun < 10
    assert task.notice == ""
    assert f"{word} ({reason})" in task.problem


def test_an_accepted_request_is_waited_for_until_it_is_placed(tmp_path: Path) -> None:
    lab, _ = scripted_lab(tmp_path, {})
    write(delegating.private_result(lab, "alpha", REQUEST), private("accepted", "peer_routed", N1))
    assert "nothing after" in delegating.watch_placement(lab, TASK).problem
    write(delegating.audit_log(lab, "beta"), placed(N1, "alpha", "beta", REQUEST))
    assert delegating.watch_placement(lab, TASK).notice == N1


NOT_IT = {
    "another sender's request of that id": placed(N1, "gamma", "beta", REQUEST),
    "another request": placed(N1, "alpha", "beta", "00000002"),
    "a reply of that id": placed(N1, "alpha", "beta", REQUEST, N2),
    "a line cut short": placed(N1, "alpha", "beta", REQUEST)[:-20],
    "an older placement of that id": placed(N2, "alpha", "beta", REQUEST),
}


@pytest.mark.parametrize("log", NOT_IT.values(), ids=NOT_IT)
def test_what_only_looks_like_the_placement_is_none(tmp_path: Path, log: str) -> None:
    lab, _ = scripted_lab(tmp_path, {})
    write(delegating.audit_log(lab, "beta"), log)
    earlier = len(delegating.placements_of(log, "alpha", REQUEST))
    assert delegating.watch_placement(lab, replace(TASK, earlier=earlier)).notice == ""


def test_transient_outcomes_are_waited_over(tmp_path: Path) -> None:
    lab, _ = scripted_lab(tmp_path, {})
    log = delegating.audit_log(lab, "beta")
    write(log, outcome(N1, "inject_failed") + outcome(N1, "held") + outcome(N2, "delivered"))
    assert "nothing after" in delegating.watch_outcome(lab, NOTICED).problem
    write(log, outcome(N1, "held") + outcome(N1, "delivered"))
    task = delegating.watch_outcome(lab, NOTICED)
    assert [one.outcome for one in task.outcomes()] == ["held", "delivered"]
    assert task.problem == ""


def test_a_reply_counts_with_its_audit_line_and_its_notice(tmp_path: Path) -> None:
    lab, _ = scripted_lab(tmp_path, {})
    write(delegating.audit_log(lab, "alpha"), placed(N2, "beta", "alpha", "00000009", N1))
    assert delegating.watch_reply(lab, NOTICED).reply == ""
    write(delegating.notice_file(lab, "alpha", N2), {})
    task = delegating.watch_reply(lab, NOTICED)
    assert task.reply == N2
    assert task.reply_notice is not None


@pytest.mark.parametrize("log", [placed(N2, "gamma", "alpha", "1", N1), placed(N2, "beta", "alpha", "1", "b" * 32)])
def test_another_reply_is_none(tmp_path: Path, log: str) -> None:
    lab, _ = scripted_lab(tmp_path, {})
    write(delegating.audit_log(lab, "alpha"), log)
    write(delegating.notice_file(lab, "alpha", N2), {})
    assert delegating.watch_reply(lab, NOTICED).reply == ""


def test_a_refusal_ends_the_wait_for_a_reply(tmp_path: Path) -> None:
    lab, begun = patient(tmp_path), time.monotonic()
    write(delegating.audit_log(lab, "beta"), outcome(N1, "refused"))
    assert "beta claims refused" in delegating.watch_reply(lab, NOTICED).problem
    assert time.monotonic() - begun < 10


@pytest.mark.parametrize("state", delegating.GONE)
def test_a_router_that_is_gone_ends_every_wait(tmp_path: Path, state: str) -> None:
    lab = patient(tmp_path, state)
    for watch in (delegating.watch_placement, delegating.watch_outcome, delegating.watch_reply):
        assert f"the router is {state}" in watch(lab, NOTICED).problem


def test_a_request_id_that_was_answered_before_is_not_taken_for_a_new_one(tmp_path: Path) -> None:
    submitted = said(f"Submitted request {REQUEST} to the relay drop-box (/x).\n")
    lab, _ = scripted_lab(tmp_path, {"submit from alpha": submitted})
    assert delegating.plant(lab, lab.sender, lab.receiver, "a subject").request == REQUEST
    write(delegating.private_result(lab, "alpha", REQUEST), private("accepted", "peer_routed", N2))
    again = delegating.plant(lab, lab.sender, lab.receiver, "a subject")
    assert again.request == ""
    assert "old one" in again.problem


@pytest.mark.parametrize("text", ["", "{", "[]", '{"result": 3}', '{"digest": null}'])
def test_a_private_result_that_cannot_be_read_ends_nothing(tmp_path: Path, text: str) -> None:
    lab, _ = scripted_lab(tmp_path, {})
    write(delegating.private_result(lab, "alpha", REQUEST), text)
    assert delegating.not_routed(lab, TASK)() == ""


def test_the_result_is_read_from_the_routers_own_envelope() -> None:
    inside = result("rejected", "x")
    assert json.loads(delegating.inner(json.dumps({"digest": None, "result": inside}))) == inside
