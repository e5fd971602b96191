"""Whole runs of all twelve checks: with one fault, and with a fleet that has mail."""

from __future__ import annotations

from pathlib import Path

import pytest
from rehearsing import CANNOT_ENTER, Rehearsal, rehearse

from pytest_amap.catalogue import L1
from pytest_amap.rehearsal.faults import FAIL, PASS, UNKNOWN

DECLARED = ("directory-", "identity-")


def whole(home: Path, *arguments: str) -> Rehearsal:
    run = rehearse(home, *arguments)
    if CANNOT_ENTER in run.text:
        pytest.skip(run.tail(3))
    return run


def test_a_writable_inbox_is_found_and_nothing_else_is_wrongly_pass(tmp_path: Path) -> None:
    run = whole(tmp_path / "home", "--fault", "inbox-writable")
    found = {"pass_criterion_1": UNKNOWN, "pass_criterion_3": FAIL, "unknown_2": FAIL}
    assert run.outcomes == {check: found.get(check, PASS) for check in L1.ids}, run.tail()
    assert run.code == 3
    reason = next(test["message"] for test in run.results["tests"] if test["name"] == "pass_criterion_3")
    assert "/opt/amap/lanes/inbox" in reason
    assert "mount layer" in reason or "the mount lets writes through" in reason


def test_a_fleet_with_mail_passes_all_twelve_and_says_what_was_declared(tmp_path: Path) -> None:
    declared = [f"--declare={prefix}: nothing of that kind here" for prefix in DECLARED]
    run = whole(tmp_path / "home", "--fleet", "examples/fleet-mail.json", *declared)
    assert run.outcomes == dict.fromkeys(L1.ids, PASS), run.tail()
    assert run.code == 0, run.tail()
    last = next(line for line in reversed(run.text.splitlines()) if line.startswith("REHEARSAL:"))
    assert all(prefix in last for prefix in DECLARED)
    assert {one["what"] for one in run.results["extra"]["declared"]} == set(DECLARED)
    facts = run.results["extra"]["facts"]
    assert facts["first_run_alpha"] == facts["first_run_beta"] == "asks nothing"
    assert not facts["distribution"].startswith("not measured")
