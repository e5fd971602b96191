"""Runs stopped and killed at random moments, each on what the one before it left; every tenth run goes to its end.

Two lanes run side by side, each with a home of its own. A home serves nine victims and the complete run after them,
then a fresh one is begun, so that first runs are stopped as well as reruns. The seed is printed, and --chaos-seed
takes it again.
"""

from __future__ import annotations

import os
import random
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from rehearsing import Rehearsal
from victims import (
    ELEVEN,
    FLEET,
    Victim,
    announcements,
    assert_as_it_was,
    assert_clean,
    assert_nothing_outlives,
    assert_unaltered,
    assert_whole,
    frozen,
    labels,
    newest,
    sandboxes,
    settings_left,
    victim,
)

LANES = 2
VICTIMS_A_HOME = 9
"""Every tenth run of a home is a complete one."""

STOPS = (signal.SIGINT, signal.SIGTERM)
LATE = "at its end already"
KEPT = {*FLEET, "router.started"}


@dataclass(frozen=True)
class Blow:
    """What happens to one run: which signal, after which share of a complete run's time, to whom.

    `depth` is 0 for the process that was started, and grows towards the pytest inside the world.
    """

    number: signal.Signals
    share: float
    depth: int

    @classmethod
    def at_random(cls, dice: random.Random) -> Blow:
        number = dice.choice((*STOPS, signal.SIGKILL))
        share = dice.uniform(0.0, dice.choice((0.4, 1.0)))
        return cls(number, share, dice.randrange(4) if number is signal.SIGKILL else 0)


def test_chaos(
    clean: Rehearsal, tmp_path: Path, pytestconfig: pytest.Config, capsys: pytest.CaptureFixture[str]
) -> None:
    victims = pytestconfig.getoption("--chaos")
    seed = pytestconfig.getoption("--chaos-seed") or random.SystemRandom().randrange(1 << 32)
    with capsys.disabled():
        print(f"\nchaos: {victims} victims, seed {seed}")
    with ThreadPoolExecutor(LANES) as pool:
        lanes = [
            pool.submit(lane, tmp_path / f"lane-{n}", random.Random(f"{seed}-{n}"), -(-victims // LANES), clean.seconds)
            for n in range(LANES)
        ]
    told = [line for one in lanes for line in one.result()]
    assert len(told) >= victims
    with capsys.disabled():
        print(f"chaos: {', '.join(f'{told.count(how)} {how}' for how in sorted(set(told)))}")


def lane(folder: Path, dice: random.Random, victims: int, whole: float) -> list[str]:
    """Strike so many runs; how each of them ended, in a word or two."""
    told: list[str] = []
    for first in range(0, victims, VICTIMS_A_HOME):
        home = folder / f"home-{first}" / "home"
        home.parent.mkdir(parents=True)
        for count in range(first, min(victims, first + VICTIMS_A_HOME)):
            blow = Blow.at_random(dice)
            try:
                how, seconds = struck(home, blow, whole)
            except AssertionError as error:
                raise AssertionError(f"{folder.name}, victim {count}, {blow}, {home}: {error}") from error
            told.append(how)
            whole = seconds if how == LATE else whole
        with victim(home) as running:
            done = running.end()
        whole = done.seconds
        assert_clean(done)
        assert_unharmed(home)
        assert_as_it_was(home)
    return told


def struck(home: Path, blow: Blow, whole: float) -> tuple[str, float]:
    """One victim, and everything that must hold after it; how it ended, and after how many seconds."""
    before = frozen(home)
    runs = newest(home)
    with victim(home) as running:
        due = running.begun + blow.share * whole
        while time.monotonic() < due and running.process.poll() is None:
            time.sleep(0.01)
        strike(running, blow)
        ended = running.end()
    assert_unharmed(home)
    assert_unaltered(before, home)
    return judged(home, blow, ended, opened=newest(home) != runs), ended.seconds


def judged(home: Path, blow: Blow, ended: Rehearsal, *, opened: bool) -> str:
    if not opened:
        return "before a run was opened"
    if ended.code == 3:
        return LATE
    if blow.number is signal.SIGKILL:
        assert ended.code in (-signal.SIGKILL, 1), ended.tail()
        return "killed"
    assert ended.code in (2, -blow.number), ended.tail()
    if not ended.results["extra"]["interrupted"]:
        assert {name for name, outcome in ended.outcomes.items() if outcome == "PASS"} == ELEVEN, ended.tail()
        return "when all was written"
    assert ended.code == 2, ended.tail()
    assert ended.results["extra"]["interrupted"] == blow.number.name
    if "gateway status" in labels(home):
        assert_put_right(home)
    return "stopped"


def strike(running: Victim, blow: Blow) -> None:
    pid = running.process.pid
    for _ in range(blow.depth):
        pid = child_of(pid) or pid
    try:
        if running.process.poll() is None:
            os.kill(pid, blow.number)
    except ProcessLookupError:
        pass


def child_of(pid: int) -> int:
    try:
        words = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return 0
    return int(words[0]) if words else 0


def assert_unharmed(home: Path) -> None:
    """The chain of every run is whole, and nothing of the world is left."""
    assert_nothing_outlives(home)
    assert_whole(home)


def assert_put_right(home: Path) -> None:
    """A run that was stopped after it had looked at the gateway leaves nothing but the fleet, whatever it found."""
    assert set(sandboxes(home)) <= set(FLEET)
    assert settings_left(home) == []
    assert announcements(home) <= KEPT
