"""The collectors of unknown_4 and unknown_5 on a small OpenShell: their verdicts, and their commands as planned."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_openshell import PAYLOAD, FakeOpenShell, lab_with_openshell
from request_samples import N2, N3, placed
from scripted_lab import assert_as_planned, write

from pytest_amap.checks import unknown_4, unknown_5
from pytest_amap.delegations import Delegation
from pytest_amap.host import delegating, host, receiving
from pytest_amap.host.lab import Lab
from pytest_amap.rounds import LOCAL, LOCAL_SUBJECT, PROJECT, REFUSE
from pytest_amap.verdicts import FAIL, PASS, UNKNOWN, verdict


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(receiving, "SLOW_ROUTER", 0.01)
    monkeypatch.setattr(host, "FIRST", 0.01)


def delegated(tmp_path: Path) -> tuple[Lab, FakeOpenShell, Delegation]:
    """A delegation of this run, delivered and answered."""
    lab, fake = lab_with_openshell(tmp_path)
    write(lab.home.payload / "claude-settings.json", PAYLOAD)
    fake.append(N3, "delivered", "00000001")
    write(delegating.audit_log(lab, "alpha"), placed(N2, "beta", "alpha", "00000002", N3))
    return lab, fake, Delegation("alpha", "beta", "00000001", N3)


def refused(lab: Lab) -> receiving.Round:
    return receiving.round_of(lab, LOCAL, REFUSE, LOCAL_SUBJECT.format(run=lab.host.evidence.run))


def test_unknown_4_holds_and_runs_what_was_planned(tmp_path):
    lab, fake, task = delegated(tmp_path)
    seen = unknown_4.collect(lab, task, refused(lab))
    assert verdict(unknown_4.judge(seen))[0] is PASS
    assert_as_planned(lab, unknown_4.plan, fake.argvs)


def test_unknown_5_holds_and_runs_what_was_planned_with_the_round_it_shares(tmp_path):
    lab, fake, task = delegated(tmp_path)
    seen = unknown_5.collect(lab, task, refused(lab))
    assert verdict(unknown_5.judge(seen))[0] is PASS
    assert seen.project.path == PROJECT
    assert_as_planned(lab, unknown_5.plan, fake.argvs)


def test_unknown_5_after_unknown_4_runs_nothing_that_is_not_planned(tmp_path):
    lab, fake, task = delegated(tmp_path)
    made = refused(lab)
    fake.argvs.clear()
    unknown_5.collect(lab, task, made)
    assert_as_planned(lab, unknown_5.plan, fake.argvs)


@pytest.mark.parametrize("check", [unknown_4, unknown_5])
def test_a_receiver_that_ignores_the_setting_is_fail_and_put_back(tmp_path, check):
    lab, fake, task = delegated(tmp_path)
    fake.ignores_setting = True
    assert verdict(check.judge(check.collect(lab, task, refused(lab))))[0] is FAIL
    assert fake.boxes["beta"].files == {}


@pytest.mark.parametrize("check", [unknown_4, unknown_5])
def test_a_receiver_that_was_never_restarted_shows_nothing_of_its_settings(tmp_path, check):
    lab, fake, task = delegated(tmp_path)
    fake.never_restarts = fake.ignores_setting = True
    outcome, reason = verdict(check.judge(check.collect(lab, task, refused(lab))))
    assert outcome is UNKNOWN
    assert "was not restarted" in reason


@pytest.mark.parametrize("check", [unknown_4, unknown_5])
def test_an_agents_own_settings_are_unknown_and_untouched(tmp_path, check):
    lab, fake, task = delegated(tmp_path)
    own = {LOCAL: "{}", PROJECT: "{}"}
    fake.boxes["beta"].files |= own
    assert verdict(check.judge(check.collect(lab, task, refused(lab))))[0] is UNKNOWN
    assert fake.boxes["beta"].files == own
