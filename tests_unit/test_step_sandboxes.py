"""Steps 4 and 5: a sandbox is made where none is, recognised by its id, never made twice, recorded while it lives."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from container_samples import box
from posture_samples import listing
from receiver_samples import ROW, answer
from scripted_lab import Answer, ScriptedHost, assert_as_planned, said, scripted_lab, unplanned

from kit import record
from pytest_amap.failures import StepFailed
from pytest_amap.host import intents
from pytest_amap.host.lab import Lab
from pytest_amap.observations import Ran
from pytest_amap.steps import recording, sandboxes

NOT_FOUND = said(exit=1, stderr="Error:   × sandbox not found\n")
FULL = listing(box("alpha", "id-1"), box("beta", "id-2"))


def sandbox(name: str, identity: str, phase: str = "Ready", workspace: str = "default") -> Ran:
    return said(json.dumps(box(name, identity, workspace, phase)))


def sessions(*rows: str) -> Ran:
    return answer(main=2, rows=rows)


def step(tmp_path: Path, *, alpha: Answer | None = None, **options: Any) -> tuple[Lab, ScriptedHost]:
    """Both members are there, announced by an earlier run, unless `alpha` answers otherwise."""
    answers: dict[str, Answer] = {
        "sandbox get alpha": alpha or sandbox("alpha", "id-1"),
        "sandbox get beta": sandbox("beta", "id-2"),
        "sandboxes in every workspace": listing(box("beta", "id-2")),
        "create alpha": said(),
        "start alpha": said(),
        "sessions in": sessions(ROW),
        "screen of": said("Ready.\r\n>"),
    }
    lab, host = scripted_lab(tmp_path, answers, **options)
    lab.ids.clear()
    announce(lab, "beta", "id-2")
    if alpha is None:
        announce(lab, "alpha", "id-1")
    return lab, host


def announce(lab: Lab, name: str, identity: str = "") -> None:
    about = {"kind": intents.MEMBER, "workspace": "default", "id": identity}
    intents.write(lab.home.evidence, name, about)


def run(lab: Lab) -> Lab:
    return sandboxes.sandboxes.__wrapped__(None, lab)


def test_members_that_are_there_are_left_as_they_are(tmp_path: Path) -> None:
    lab, host = step(tmp_path)
    run(lab)
    assert lab.ids == {"alpha": "id-1", "beta": "id-2"}
    assert "sandboxes" in lab.run.already
    assert (host.ran("create"), host.ran("start")) == (0, 0)
    assert_as_planned(lab, sandboxes.plan, host.argvs)


def test_a_member_that_is_missing_is_announced_then_created_with_the_key(tmp_path: Path) -> None:
    lab, host = step(tmp_path, alpha=[NOT_FOUND, sandbox("alpha", "id-new")])
    known: list[Any] = []

    def create(_: object) -> Ran:
        known.append(intents.load(lab.home.evidence, "alpha"))
        return said()

    host.answers["create alpha"] = create
    run(lab)
    assert known[0]["id"] == ""
    assert lab.ids["alpha"] == "id-new"
    assert (intents.load(lab.home.evidence, "alpha") or {})["id"] == "id-new"
    assert host.keyed == ["create alpha"]
    assert unplanned(host.argvs, sandboxes.plan(lab)) == []


UNKNOWN_WHETHER = {
    "the listing names it": listing(box("alpha", "id-1")),
    "the listing fails": said(exit=1, stderr="Error:   × transport error"),
    "the listing is no JSON": said("NAME\n"),
    "its second page names it": [listing(token="t"), listing(box("alpha", "id-1"))],
    "its second page fails": [listing(token="t"), said(exit=1)],
    "its pages have no end": listing(token="t"),
}


@pytest.mark.parametrize("pages", UNKNOWN_WHETHER.values(), ids=UNKNOWN_WHETHER)
def test_a_get_that_fails_alone_never_means_that_nobody_is_there(tmp_path: Path, pages: Answer) -> None:
    lab, host = step(tmp_path, alpha=said(exit=1, stderr="Error:   × transport error"))
    host.answers["sandboxes in every workspace"] = pages
    with pytest.raises(StepFailed, match="could not be told"):
        run(lab)
    assert host.ran("create") == 0


def test_the_same_name_in_another_workspace_is_somebody_elses_and_no_obstacle(tmp_path: Path) -> None:
    lab, host = step(tmp_path, alpha=[NOT_FOUND, sandbox("alpha", "id-new")])
    host.answers["sandboxes in every workspace"] = listing(box("alpha", "id-9", "other"))
    run(lab)
    assert host.ran("create") == 1


FOREIGN = {
    "made by nobody we know": (None, sandbox("alpha", "id-9"), "was not made by this suite"),
    "another id than recorded": ("id-1", sandbox("alpha", "id-9"), "ID mismatch"),
    "another workspace": ("id-1", sandbox("alpha", "id-1", workspace="other"), "showed other/alpha"),
    "another name": ("id-1", sandbox("alpha2", "id-1"), "showed default/alpha2"),
}


@pytest.mark.parametrize(("announced", "answer", "named"), FOREIGN.values(), ids=FOREIGN)
def test_a_foreign_sandbox_is_never_taken(tmp_path: Path, announced: str | None, answer: Ran, named: str) -> None:
    lab, host = step(tmp_path, alpha=answer)
    if announced:
        announce(lab, "alpha", announced)
    with pytest.raises(StepFailed, match=named):
        run(lab)
    assert (host.ran("create"), host.ran("start")) == (0, 0)


def test_an_announcement_whose_create_was_cut_off_adopts_the_sandbox(tmp_path: Path) -> None:
    lab, host = step(tmp_path, alpha=sandbox("alpha", "id-late"))
    announce(lab, "alpha")
    run(lab)
    assert lab.ids["alpha"] == "id-late"
    assert host.ran("create") == 0


def test_a_create_that_did_not_end_in_time_counts_when_the_sandbox_is_ready(tmp_path: Path) -> None:
    lab, host = step(tmp_path, alpha=[NOT_FOUND, sandbox("alpha", "id-new")])
    host.answers["create alpha"] = said(exit=None, timed_out=True)
    run(lab)
    assert lab.ids["alpha"] == "id-new"
    assert host.ran("create") == 1


CREATES = {
    "A50 still provisioning": (
        said(exit=None, timed_out=True),
        sandbox("alpha", "id-new", "Provisioning"),
        "is Provisioning after its create.*run again",
    ),
    "entered the error phase": (
        said(exit=1, stderr="Error:   × sandbox entered error phase"),
        sandbox("alpha", "id-new", "Error"),
        "sandbox delete alpha",
    ),
    "A33 its main process is gone": (said(), sandbox("alpha", "id-new", "Completed"), "sandbox delete alpha"),
    "A33 its main process is gone, and why is told": (
        said(),
        said(
            json.dumps(
                box("alpha", "id-new", phase="Error")
                | {
                    "conditions": [
                        {"type": "Ready", "status": "False", "reason": "MainProcessFailed", "message": "exit 2"}
                    ]
                }
            )
        ),
        r"alpha is Error \(MainProcessFailed: exit 2\) and will not come back",
    ),
    "refused": (said(exit=1, stderr="Error:   × provider not found"), NOT_FOUND, "provider not found"),
    "A50 something else was there before": (
        said(exit=1, stderr="Error:   × provider 'claude-code' already exists"),
        NOT_FOUND,
        "could not be created.*provider 'claude-code' already exists",
    ),
    "created, and not to be seen": (
        said("Created sandbox: alpha\n"),
        said(exit=1, stderr="Error:   × transport error"),
        "cannot be seen after a create that ended well.*transport error",
    ),
    "another sandbox is shown": (said(), sandbox("beta", "id-2"), "showed default/beta"),
    "A29 user namespaces, and a sandbox in Error is left": (
        said(exit=1, stderr="Error:   × entered error phase: creating a user\n  │ namespace: Operation not permitted"),
        sandbox("alpha", "id-new", "Error"),
        "sandbox delete alpha.*apparmor_restrict_unprivileged_userns",
    ),
    "A29 user namespaces": (
        said(exit=1, stderr="Error:   × write uid_map: Permission denied"),
        NOT_FOUND,
        "apparmor_restrict_unprivileged_userns",
    ),
}


@pytest.mark.parametrize(("ended", "state", "named"), CREATES.values(), ids=CREATES)
def test_a_create_that_went_wrong_stops_before_any_other(tmp_path: Path, ended: Ran, state: Ran, named: str) -> None:
    lab, host = step(tmp_path, alpha=[NOT_FOUND, state])
    host.answers["create alpha"] = ended
    with pytest.raises(StepFailed, match=named):
        run(lab)
    assert host.ran("create") == 1
    assert host.ran("sandbox get beta") == 0


def test_a_name_that_somebody_else_took_meanwhile_is_not_adopted_now_or_later(tmp_path: Path) -> None:
    lab, host = step(tmp_path, alpha=[NOT_FOUND, sandbox("alpha", "id-9")])
    host.answers["create alpha"] = said(exit=1, stderr="Error:   × sandbox 'alpha' already\n  │ exists\n")
    with pytest.raises(StepFailed, match="somebody else's"):
        run(lab)
    with pytest.raises(StepFailed, match="was not made by this suite"):
        run(lab)


def test_a_sandbox_in_a_phase_of_no_return_names_the_delete_command(tmp_path: Path) -> None:
    lab, host = step(tmp_path)
    host.answers["sandbox get alpha"] = sandbox("alpha", "id-1", "Error")
    with pytest.raises(StepFailed, match="openshell --workspace default sandbox delete alpha"):
        run(lab)
    assert host.ran("delete") == 0


def test_a_stopped_sandbox_is_started(tmp_path: Path) -> None:
    lab, host = step(tmp_path)
    host.answers["sandbox get alpha"] = sandbox("alpha", "id-1", "Stopped")
    run(lab)
    assert host.ran("start alpha") == 1


def test_a_start_that_fails_is_not_waited_for(tmp_path: Path) -> None:
    lab, host = step(tmp_path)
    host.answers |= {
        "sandbox get alpha": sandbox("alpha", "id-1", "Stopped"),
        "start alpha": said(exit=1, stderr="Error:   × no such container"),
    }
    with pytest.raises(StepFailed, match="no such container"):
        run(lab)
    assert host.ran("sessions in alpha") == 0


@pytest.mark.parametrize(
    ("answer", "named"),
    [(NOT_FOUND, "is not there; run step 4 first"), (sandbox("alpha", "id-1", "Stopped"), "stopped; run step 4 first")],
)
def test_outside_the_selection_it_only_looks(tmp_path: Path, answer: Ran, named: str) -> None:
    lab, host = step(tmp_path, from_step=6)
    host.answers["sandbox get alpha"] = answer
    if answer is NOT_FOUND:
        intents.remove(lab.home.evidence, "alpha")
    with pytest.raises(StepFailed, match=named):
        run(lab)
    assert (host.ran("create"), host.ran("start")) == (0, 0)


def test_a_session_that_never_comes_stops_the_step_and_says_where_to_look(tmp_path: Path) -> None:
    lab, host = step(tmp_path)
    host.answers["sessions in beta"] = sessions()
    with pytest.raises(StepFailed, match="sandbox connect beta"):
        run(lab)


def test_two_sessions_are_for_the_checks_to_judge(tmp_path: Path) -> None:
    lab, host = step(tmp_path)
    host.answers["sessions in beta"] = sessions(ROW, ROW.replace("7", "8"))
    run(lab)
    assert any("beta has 2 sessions" in left for left in lab.run.left)


def test_a_sandbox_that_cannot_come_back_ends_the_wait(tmp_path: Path) -> None:
    lab, host = step(tmp_path)
    gone = sandbox("beta", "id-2", "Error")
    host.answers |= {"sessions in beta": NOT_FOUND, "sandbox get beta": [sandbox("beta", "id-2"), gone]}
    patient = replace(lab, options=replace(lab.options, deadlines=replace(lab.options.deadlines, ready=60.0)))
    with pytest.raises(StepFailed, match=r"beta is Error.*sandbox delete beta"):
        run(patient)
    assert host.ran("screen of beta") == 0


def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Lab, ScriptedHost, list[tuple[str, str]]]:
    """Step 5 with the kit's own writing left out: what it is asked to record is noted."""
    lab, host = step(tmp_path)
    lab.ids |= {"alpha": "id-1", "beta": "id-2"}
    asked: list[tuple[str, str]] = []
    monkeypatch.setattr(record, "plan", lambda home, name, identity: asked.append((name, identity)))
    monkeypatch.setattr(recording, "write", lambda *anything: None)
    for path in (lab.home.router, lab.home.selected):
        path.write_text("{}")
    return lab, host, asked


def test_each_id_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab, host, asked = kept(tmp_path, monkeypatch)
    recording.membership.__wrapped__(lab)
    assert asked == [("alpha", "id-1"), ("beta", "id-2")]
    assert unplanned(host.argvs, recording.plan(lab)) == []


RECORDINGS = {
    "cannot be read": (said(exit=1, stderr="Error:   × gone"), "could not be read"),
    "another name": (sandbox("alpha2", "id-1"), "showed default/alpha2"),
    "A36 another one took the name": (sandbox("alpha", "id-9"), "is id-9 now and was id-1.*nothing is recorded"),
    "A33 stopped meanwhile": (sandbox("alpha", "id-1", "Stopped"), "saw Stopped"),
    "A33 ended meanwhile": (sandbox("alpha", "id-1", "Completed"), "is Completed.*nothing is recorded"),
}


@pytest.mark.parametrize(("answer", "named"), RECORDINGS.values(), ids=RECORDINGS)
def test_what_is_not_the_members_living_sandbox_is_not_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: Ran, named: str
) -> None:
    lab, host, asked = kept(tmp_path, monkeypatch)
    host.answers["sandbox get alpha"] = answer
    with pytest.raises(StepFailed, match=named):
        recording.membership.__wrapped__(lab)
    assert asked == []


def test_after_the_last_member_the_routers_files_must_be_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab, _, _ = kept(tmp_path, monkeypatch)
    lab.home.selected.unlink()
    with pytest.raises(StepFailed, match=r"selected\.json must be there"):
        recording.membership.__wrapped__(lab)


QUESTION = "\x1b[2J\x1b[HDo you trust this folder?\r\n❯ 1. Yes\r\n  2. No\r\n"


def test_a_question_on_a_screen_is_quoted_as_a_finding_and_not_answered(tmp_path: Path) -> None:
    lab, host = step(tmp_path)
    host.answers["screen of beta"] = said(QUESTION)
    run(lab)
    assert lab.run.facts["first_run_alpha"] == "asks nothing"
    assert lab.run.facts["first_run_beta"] == "asks: Do you trust this folder? / ❯ 1. Yes / 2. No"
    (told,) = [line for line in lab.run.left if "D9" in line]
    assert "beta asks: Do you trust this folder?" in told
    assert [command for command in sandboxes.plan(lab) if getattr(command, "keys", "")] == [
        lab.commands.screen("alpha"), lab.commands.screen("beta"),
    ]  # fmt: skip


def test_a_step_that_fails_over_a_question_quotes_it(tmp_path: Path) -> None:
    lab, host = step(tmp_path)
    host.answers |= {"sessions in beta": sessions(), "screen of beta": said(QUESTION)}
    with pytest.raises(StepFailed, match=r"asks: Do you trust this folder\?.*attach with"):
        run(lab)


def test_a_screen_that_cannot_be_seen_is_told_and_stops_nothing(tmp_path: Path) -> None:
    lab, host = step(tmp_path)
    host.answers["screen of"] = said(exit=1, stderr="Error:   × ssh is not on PATH")
    run(lab)
    assert lab.run.facts["first_run_alpha"].startswith("has a screen that was not seen (")
    assert "ssh is not on PATH" in lab.run.facts["first_run_alpha"]
