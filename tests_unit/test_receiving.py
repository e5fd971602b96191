"""A round with the receiver's settings: what it does, what it refuses to do, and that everything is put back."""

from __future__ import annotations

import pytest
from fake_openshell import lab_with_openshell
from request_samples import N1
from scripted_lab import assert_as_planned

from pytest_amap.host import intents, receiving, repairing
from pytest_amap.rounds import LOCAL, OURS, REFUSE, state_in

SETTINGS = "settings.beta"


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(receiving, "SLOW_ROUTER", 0.05)


def round_of(lab):
    return receiving.round_of(lab, LOCAL, REFUSE, "L1 negative case r: refusing receiver")


def test_a_refusing_receiver_holds_and_is_put_back(tmp_path):
    lab, fake = lab_with_openshell(tmp_path)
    seen = round_of(lab)
    assert seen.problem == ""
    assert state_in(seen.kept) == OURS
    assert [one.outcome for one in seen.before()] == ["held"]
    assert [one.outcome for one in seen.after()] == ["delivered"]
    assert seen.restore.problem == ""
    assert seen.task.answer() is None
    assert (fake.ran.count("sandbox stop"), fake.ran.count("sandbox start")) == (2, 2)
    assert fake.boxes["beta"].files == {}
    assert intents.load(lab.home.evidence, SETTINGS) is None
    assert any(N1 in left for left in lab.run.left)


def test_a_stop_and_start_that_restarted_nothing_sends_nothing(tmp_path):
    lab, fake = lab_with_openshell(tmp_path)
    fake.never_restarts = True
    seen = round_of(lab)
    assert "was not restarted" in seen.problem
    assert (seen.task, fake.submitted) == (None, 0)
    assert "was not restarted" in seen.restore.problem
    assert fake.boxes["beta"].files == {}


def test_a_round_runs_what_was_planned(tmp_path):
    lab, fake = lab_with_openshell(tmp_path)
    round_of(lab)
    assert_as_planned(
        lab, lambda lab: receiving.planned(lab, LOCAL, REFUSE, "L1 negative case <run>: refusing receiver"), fake.argvs
    )


def test_an_agents_own_file_is_never_touched(tmp_path):
    lab, fake = lab_with_openshell(tmp_path)
    fake.boxes["beta"].files[LOCAL] = "{}"
    seen = round_of(lab)
    assert "other" in seen.problem
    assert seen.restore is None
    assert fake.boxes["beta"].files == {LOCAL: "{}"}
    assert "sandbox stop" not in fake.ran


def test_a_file_of_ours_that_nobody_announced_is_put_back_first(tmp_path):
    lab, fake = lab_with_openshell(tmp_path)
    fake.boxes["beta"].files[LOCAL] = REFUSE
    assert round_of(lab).problem == ""
    assert fake.ran.count("sandbox stop") == 3
    assert fake.boxes["beta"].files == {}


def test_a_file_that_the_restart_lost_ends_the_round_before_anything_is_sent(tmp_path):
    lab, fake = lab_with_openshell(tmp_path)
    fake.state_is_lost = True
    seen = round_of(lab)
    assert "not kept" in seen.problem
    assert seen.task is None
    assert seen.restore.problem == ""


def test_a_receiver_that_does_not_come_back_is_named_with_the_commands(tmp_path):
    lab, fake = lab_with_openshell(tmp_path)
    fake.never_ready = True
    seen = round_of(lab)
    assert "session" in seen.problem
    assert [words.split()[-2] for words in seen.restore.remedy] == ["start", "-f", "stop", "start"]
    assert any("beta was not put back" in left for left in lab.run.left.values())
    assert intents.load(lab.home.evidence, SETTINGS) is not None


def test_a_delivery_under_refuse_is_kept_as_it_was_seen(tmp_path):
    lab, fake = lab_with_openshell(tmp_path)
    fake.ignores_setting = True
    seen = round_of(lab)
    assert [one.outcome for one in seen.before()] == ["delivered"]
    assert seen.restore.problem == ""


def test_a_later_run_repairs_a_receiver_that_was_left_stopped(tmp_path):
    lab, fake = lab_with_openshell(tmp_path)
    receiving.announce(lab, LOCAL, REFUSE)
    fake.boxes["beta"].files[LOCAL], fake.boxes["beta"].phase = REFUSE, "Stopped"
    assert receiving.repair(lab) == ""
    assert (fake.boxes["beta"].phase, fake.boxes["beta"].files) == ("Ready", {})
    assert intents.load(lab.home.evidence, SETTINGS) is None


def test_a_repair_that_cannot_work_keeps_the_announcement_and_ends_the_round(tmp_path):
    lab, fake = lab_with_openshell(tmp_path)
    receiving.announce(lab, LOCAL, REFUSE)
    fake.boxes["beta"].files[LOCAL] = "written over by the agent"
    assert "other" in round_of(lab).problem
    assert fake.boxes["beta"].files == {LOCAL: "written over by the agent"}
    assert intents.load(lab.home.evidence, SETTINGS) is not None


def test_a_file_that_somebody_changed_meanwhile_is_shown_to_the_operator_and_not_removed(tmp_path):
    lab, fake = lab_with_openshell(tmp_path)
    receiving.announce(lab, LOCAL, REFUSE)
    fake.boxes["beta"].files[LOCAL] = "written over by the agent"
    receiving.repair(lab)
    (left,) = lab.run.left.values()
    assert f"cat {LOCAL}" in left
    assert "rm " not in left


@pytest.mark.parametrize("heals", [True, False])
def test_a_restore_that_failed_is_tried_again_when_the_run_ends_and_told_once(tmp_path, heals):
    lab, fake = lab_with_openshell(tmp_path)
    repairing.before_the_gate(lab)
    fake.never_ready = True
    assert round_of(lab).restore.problem
    fake.never_ready = not heals
    lab.run.cleanup.close()
    assert (intents.load(lab.home.evidence, SETTINGS) is None) is heals
    told = "beta was put back by a later try" if heals else "beta was not put back: "
    assert [left.startswith(told) for left in lab.run.left.values()] == [True]


@pytest.mark.parametrize("change", ["gone", "another"])
def test_a_sandbox_that_is_no_more_needs_no_repair(tmp_path, change):
    lab, fake = lab_with_openshell(tmp_path)
    receiving.announce(lab, LOCAL, REFUSE)
    if change == "gone":
        del fake.boxes["beta"]
    else:
        fake.boxes["beta"].id = "id-beta-anew"
    assert receiving.repair(lab) == ""
    assert intents.load(lab.home.evidence, SETTINGS) is None
    assert "sandbox stop" not in fake.ran


def test_nothing_is_run_where_nothing_is_announced(tmp_path):
    lab, fake = lab_with_openshell(tmp_path)
    assert receiving.repair(lab) == ""
    assert fake.ran == []


def test_an_interrupt_in_the_round_puts_the_receiver_back(tmp_path, monkeypatch):
    lab, fake = lab_with_openshell(tmp_path)

    def interrupted(*anything):
        raise KeyboardInterrupt

    monkeypatch.setattr(receiving, "sent", interrupted)
    with pytest.raises(KeyboardInterrupt):
        round_of(lab)
    assert fake.boxes["beta"].files == {}
    assert intents.load(lab.home.evidence, SETTINGS) is None
