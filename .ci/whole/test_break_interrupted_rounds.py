"""An interrupt at any line of a round or of the probe's life, and a full disk: all is put back in the end."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from fake_openshell import FakeOpenShell, lab_with_openshell

from pytest_amap.checks import unknown_3
from pytest_amap.evidence.recorded import EvidenceError
from pytest_amap.host import host, intents, receiving, throwaway
from pytest_amap.host.lab import Lab
from pytest_amap.observations import Ran
from pytest_amap.rounds import LOCAL, REFUSE

TRACED = ("receiving.py", "throwaway.py", "intents.py", "standing.py", "unknown_3.py", "fake_openshell.py")


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(receiving, "SLOW_ROUTER", 0.001)
    monkeypatch.setattr(host, "FIRST", 0.001)


SETTINGS = "settings.beta"
Act = Callable[[Lab], object]


def a_round(lab: Lab) -> None:
    receiving.round_of(lab, LOCAL, REFUSE, "L1 negative case r: refusing receiver")


class Lines:
    """Counts the lines of the traced modules, and raises at the `at`th line that is seen for the first time."""

    def __init__(self, at: int) -> None:
        self.at, self.seen = at, set[tuple[str, int]]()
        self.raised = ""

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        name = frame.f_code.co_filename.rsplit("/", 1)[-1]
        if name not in TRACED:
            return None
        place = (name, frame.f_lineno)
        if event == "line" and not self.raised and place not in self.seen:
            self.seen.add(place)
            if len(self.seen) == self.at:
                self.raised = f"{name}:{frame.f_lineno}"
                raise KeyboardInterrupt
        return self


def interrupted(act: Callable[[Lab], object], lab: Lab, at: int) -> Lines:
    lines = Lines(at)
    before = sys.gettrace()
    sys.settrace(lines)
    try:
        act(lab)
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(before)
    return lines


def altered(fake: FakeOpenShell) -> list[str]:
    """What is not as it was."""
    beta = fake.boxes["beta"]
    wrong = [f"beta is {beta.phase}"] if beta.phase != "Ready" else []
    return [*wrong, *beta.files, *(name for name in fake.boxes if name == throwaway.NAME)]


def announced(lab: Lab) -> list[str]:
    return [name for name in (SETTINGS, throwaway.NAME) if intents.load(lab.home.evidence, name)]


ACTS = [a_round, unknown_3.collect]
EVERY = 13
"""Lines from one try to the next; with 1 it takes a minute or two."""


@pytest.mark.parametrize("act", ACTS)
def test_an_interrupt_at_any_line_leaves_nothing_after_the_end_of_the_run(tmp_path: Path, act: Act) -> None:
    at, raised = 1, "somewhere"
    while raised:
        lab, fake = lab_with_openshell(tmp_path / str(at))
        raised = interrupted(act, lab, at).raised
        lab.run.cleanup.close()
        assert altered(fake) == [], raised
        later(lab)
        throwaway.tidy(lab)
        assert announced(lab) == [], raised
        at += EVERY
    assert at > 100


@pytest.mark.parametrize("act", ACTS)
def test_a_disk_that_is_full_from_any_record_on_keeps_nothing_from_being_put_back(tmp_path, monkeypatch, act):
    for full_after in range(0, 60, 3):
        lab, fake = lab_with_openshell(tmp_path / str(full_after))
        disk = Disk(lab, monkeypatch, full_after)
        with contextlib.suppress(EvidenceError):
            act(lab)
        lab.run.cleanup.close()
        assert altered(fake) == [], f"after {full_after} records"
        if not disk.full:
            return
    raise AssertionError("more records than were tried")


class Disk:
    """Takes so many records, and no more."""

    def __init__(self, lab: Lab, monkeypatch: pytest.MonkeyPatch, records: int) -> None:
        self.left, self.full = records, False
        for name in ("command", "observation"):
            monkeypatch.setattr(lab.host.evidence, name, self.taking(getattr(lab.host.evidence, name)))

    def taking(self, write: Callable[..., Any]) -> Callable[..., Any]:
        def take(**record: Any) -> Any:
            self.full = self.full or not self.left
            if self.full:
                raise EvidenceError("cannot write x: No space left on device")
            self.left -= 1
            return write(**record)

        return take


def test_a_create_that_was_cut_off_stays_announced_until_the_next_run(tmp_path):
    lab, fake = lab_with_openshell(tmp_path)
    fake.create_is_cut_off = True
    seen = unknown_3.collect(lab)
    assert "cut off" in seen.removed.problem
    assert any("cut off" in left for left in lab.run.left)
    fake.boxes |= fake.late
    later(lab)
    assert throwaway.tidy(lab).problem == ""
    assert (altered(fake), announced(lab)) == ([], [])


def test_a_create_that_was_cut_off_and_never_came_up_is_forgotten_by_the_next_run(tmp_path):
    lab, fake = lab_with_openshell(tmp_path)
    fake.create_is_cut_off = True
    unknown_3.collect(lab)
    later(lab)
    assert throwaway.tidy(lab).problem == ""
    assert (altered(fake), announced(lab)) == ([], [])


def later(lab: Lab) -> None:
    """What is announced was announced by an earlier run."""
    if about := intents.load(lab.home.evidence, throwaway.NAME):
        intents.write(lab.home.evidence, throwaway.NAME, {**about, "run": "an earlier one"})


def test_a_stopped_receiver_loses_the_setting_though_its_session_does_not_come_back(tmp_path):
    lab, fake = lab_with_openshell(tmp_path)
    receiving.announce(lab, LOCAL, REFUSE)
    fake.boxes["beta"].files[LOCAL], fake.boxes["beta"].phase, fake.never_ready = REFUSE, "Stopped", True
    assert "session" in receiving.repair(lab)
    assert fake.boxes["beta"].files == {}
    assert intents.load(lab.home.evidence, SETTINGS)


@pytest.mark.parametrize("verb", ["stop", "start"])
def test_a_stop_or_start_that_goes_on_after_an_interrupt_is_waited_for(tmp_path, verb):
    lab, fake = lab_with_openshell(tmp_path)
    act = getattr(fake, verb)

    def interrupted_once(words: list[str]) -> Ran:
        setattr(fake, verb, act)
        box = fake.boxes[words[2]]
        before = box.phase
        act(words)
        moving = {"stop": "Stopping", "start": "Starting"}[verb]
        box.phase, box.coming = before, [moving, moving, box.phase]
        raise KeyboardInterrupt

    setattr(fake, verb, interrupted_once)
    with pytest.raises(KeyboardInterrupt):
        a_round(lab)
    lab.run.cleanup.close()
    assert (altered(fake), announced(lab)) == ([], [])
    assert not any("not put back" in left for left in lab.run.left.values())
