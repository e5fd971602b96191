"""When a session can be spoken to, and what makes waiting for it pointless."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from container_samples import sandbox
from receiver_samples import ROW, answer
from request_samples import ran
from scripted_lab import QUICK, Answer, ScriptedHost, said, scripted_lab

from pytest_amap.host import sessions
from pytest_amap.host.lab import Lab
from pytest_amap.observations import Ran
from pytest_amap.parsers import Unreadable

OTHER = ROW.replace("7", "8")
NO_SOCKET, NO_KEY = "claude\t-\t-\t7\t-\t/k", "claude\t-\t-\t7\t/s\t-"


def rows(*found: str, main: int | None = 2) -> Ran:
    return answer(main=main, rows=list(found))


def test_one_session_with_a_socket_and_a_key_is_ready() -> None:
    found = sessions.ready(rows(ROW))
    assert found is not None
    assert (found.main, found.rows[0].pid, found.rows[0].ready) == (2, 7, True)


@pytest.mark.parametrize(
    "ran_",
    [
        rows(),
        rows(ROW, OTHER),
        rows(NO_SOCKET),
        rows(NO_KEY),
        rows(main=None),
        ran(),
        ran(exit=1, stderr="Error:   × sandbox is not ready"),
        rows("claude\tbroken"),
        answer(main=2),
    ],
    ids=["none", "two", "A38 no socket", "no key", "no main process", "silence", "not ready", "garbled", "no rows"],
)
def test_anything_else_is_not(ran_: Ran) -> None:
    assert sessions.ready(ran_) is None


def test_what_cannot_be_read_is_not_no_session() -> None:
    assert isinstance(sessions.sessions(ran()), Unreadable)
    assert isinstance(sessions.sessions(rows("claude\tbroken")), Unreadable)
    none = sessions.sessions(rows())
    assert not isinstance(none, Unreadable)
    assert none.rows == ()


def waiting(
    tmp_path: Path, session: Answer, get: Answer | None = None, seconds: float = 0.3
) -> tuple[Lab, ScriptedHost]:
    answers: dict[str, Answer] = {"sessions in": session, "sandbox get": get or sandbox()}
    return scripted_lab(tmp_path, answers, deadlines=replace(QUICK, phase=seconds))


def test_a_wait_ends_with_the_session(tmp_path: Path) -> None:
    lab, _ = waiting(tmp_path, [rows(), rows(NO_SOCKET), rows(ROW)])
    waited = sessions.await_ready(lab, lab.sender, seconds=20)
    assert waited.value is not None
    assert waited.problem == ""


def process(main: int | None, since: object) -> Ran:
    return answer(main=main, since=since, rows=[ROW])


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (process(2, "700"), process(2, "700"), True),
        (process(2, "700"), process(2, "900"), False),
        (process(2, "700"), process(3, "700"), False),
        (process(None, None), process(2, "900"), False),
        (ran(exit=1), process(2, "900"), None),
        (process(2, "700"), ran(exit=1), None),
        (process(2, None), process(2, None), None),
    ],
    ids=["the same", "its pid again", "a twin", "none before", "not asked before", "not asked after", "no time told"],
)
def test_a_main_process_is_known_by_pid_and_start(before: Ran, after: Ran, expected: bool | None) -> None:
    assert sessions.went_on(before, after) is expected


def test_a_wait_without_an_end_says_how_long(tmp_path: Path) -> None:
    lab, _ = waiting(tmp_path, rows())
    waited = sessions.await_ready(lab, lab.sender, seconds=0.3)
    assert waited.value is None
    assert "alpha's session: nothing after" in waited.problem


@pytest.mark.parametrize("phase", sessions.PHASE_OF_NO_RETURN)
def test_a_sandbox_that_cannot_come_back_ends_the_wait(tmp_path: Path, phase: str) -> None:
    lab, _ = waiting(tmp_path, said(exit=1, stderr="Error:   × not ready"), sandbox(phase))
    waited = sessions.await_ready(lab, lab.sender, seconds=60)
    assert f"alpha is {phase}" in waited.problem


def test_a_get_that_fails_ends_no_wait(tmp_path: Path) -> None:
    lab, _ = waiting(tmp_path, [rows()] * 9 + [rows(ROW)], said(exit=1, stderr="Error:   × transport error"))
    assert sessions.await_ready(lab, lab.sender, seconds=60).value is not None


def test_a_phase_is_waited_for(tmp_path: Path) -> None:
    lab, _ = waiting(tmp_path, rows(), [sandbox("Stopping"), said(exit=1), sandbox("Stopped")], seconds=20)
    waited = sessions.await_phase(lab, lab.sender, "Stopped")
    assert waited.value is not None
    assert waited.value.phase == "Stopped"


def test_a_phase_that_never_comes(tmp_path: Path) -> None:
    lab, _ = waiting(tmp_path, rows(), sandbox("Stopping"))
    waited = sessions.await_phase(lab, lab.sender, "Stopped")
    assert (waited.value, "alpha to be Stopped: nothing after" in waited.problem) == (None, True)
    assert json.loads(waited.last.stdout)["phase"] == "Stopping"
