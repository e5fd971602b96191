"""Rehearsals that are stopped on their way, and what is left of one: its evidence, its host's disk, its processes."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import signal
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import rehearsing
from rehearsing import CHECKOUT, Rehearsal, latest

from pytest_amap.evidence import recorded, verify

FLEET = ("alpha", "beta")
PROBE = "amap-l1-probe"
SETTINGS = ("settings.local.json", "settings.json")
LONGEST = 240.0
"""Seconds after which a rehearsal that does not end is a failure of the test."""

POLL = 0.01

ELEVEN = {f"pass_criterion_{n}" for n in range(2, 6)} | {f"unknown_{n}" for n in range(1, 8)}
UNASKED = "pass_criterion_1"
"""UNKNOWN on the example fleet: three classes of documents are never written there."""


@dataclass
class Victim:
    """A rehearsal under way."""

    home: Path
    process: subprocess.Popen[bytes]
    log: Path
    before: Path | None
    """The newest sealed run before this one."""
    known: str
    """The newest run before this one, sealed or not."""
    begun: float

    def until(self, seen: Callable[[], object], seconds: float = 90.0) -> None:
        """Wait for a moment of the run; it must come before the run has ended."""
        deadline = time.monotonic() + seconds
        while not seen():
            assert self.process.poll() is None, f"it ended before the moment came:\n{self.text()}"
            assert time.monotonic() < deadline, f"the moment never came:\n{self.text()}"
            time.sleep(POLL)

    def reaches(self, seen: Callable[[], object]) -> None:
        """Wait for a moment after it has opened its run."""
        self.until(lambda: newest(self.home) != self.known and seen())

    def send(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(number)

    def end(self) -> Rehearsal:
        code = self.process.wait(LONGEST)
        after = latest(self.home)
        made = after if after != self.before else None
        return Rehearsal(self.home, made, code, self.text(), time.monotonic() - self.begun)

    def kill(self) -> Rehearsal:
        """With SIGKILL; its world, which holds the host's disk, is gone a moment later."""
        self.send(signal.SIGKILL)
        ended = self.end()
        assert ended.code == -signal.SIGKILL, ended.tail()
        assert_nothing_outlives(self.home)
        return ended

    def text(self) -> str:
        return self.log.read_text(errors="replace")


@contextlib.contextmanager
def victim(
    home: Path, *arguments: str, environ: dict[str, str] | None = None, terminal: int | None = None
) -> Iterator[Victim]:
    """Start `pytest tests_live --apply --rehearsal ARGUMENTS`; whatever happens, it is over afterwards.

    `terminal` is the slave end of a pseudo terminal that becomes the run's own.
    """
    log, before, known = home.parent / f"{home.name}.log", latest(home), newest(home)
    controlling = None if terminal is None else lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0) and None
    with log.open("wb") as stream:
        process = subprocess.Popen(
            rehearsing.command(home, *arguments),
            cwd=CHECKOUT,
            env=rehearsing.environ() | (environ or {}),
            stdin=subprocess.DEVNULL if terminal is None else terminal,
            stdout=stream if terminal is None else terminal,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=controlling,
        )
    try:
        yield Victim(home, process, log, before, known, time.monotonic())
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def screen(log: Path) -> Iterator[tuple[int, int]]:
    """A pseudo terminal, both ends; what is shown on it goes to `log`."""
    master, slave = os.openpty()

    def show() -> None:
        with log.open("wb") as stream, contextlib.suppress(OSError):
            while shown := os.read(master, 4096):
                stream.write(shown)
                stream.flush()

    showing = threading.Thread(target=show)
    showing.start()
    try:
        yield master, slave
    finally:
        os.close(slave)
        showing.join()
        os.close(master)


def evidence(home: Path) -> Path:
    return home / "evidence"


def announced(home: Path, name: str) -> bool:
    """Whether the run has said on disk that it is about to make or change this."""
    return (evidence(home) / "intents" / f"{name}.json").exists()


def announcements(home: Path) -> set[str]:
    return {path.stem for path in (evidence(home) / "intents").glob("*.json")}


def records(home: Path, run: str = "") -> list[dict[str, Any]]:
    """The records of a run, of the newest one by default."""
    root = evidence(home)
    run = run or newest(home)
    return [recorded.read_object(root / path) for path in recorded.record_paths(root, run)]


def labels(home: Path) -> list[str]:
    return [str(record["label"]) for record in records(home)]


def newest(home: Path) -> str:
    known = recorded.runs(evidence(home))
    return known[-1] if known else ""


def frozen(home: Path) -> dict[str, str]:
    """Every file of the evidence that must never change again, by its digest."""
    root = evidence(home)
    files = [*root.glob("step-*/*.json"), *root.glob("runs/*/SHA256SUMS"), *root.glob("runs/*/seal.json")]
    return {str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def assert_unaltered(before: dict[str, str], home: Path) -> None:
    after = frozen(home)
    assert {path: after.get(path) for path in before} == before


def assert_whole(home: Path) -> None:
    """Every run is sealed and whole; the newest may have been cut off, and then its chain is whole."""
    runs = recorded.runs(evidence(home)) if evidence(home).is_dir() else []
    for run in runs:
        found = verify.problems(evidence(home) / "runs" / run)
        cut_off = run == runs[-1] and len(found) == 1 and found[0].startswith("not sealed") and "whole" in found[0]
        assert found == [] or cut_off or half_sealed(home, run, found), f"{run}: {found}"


def half_sealed(home: Path, run: str, found: list[str]) -> bool:
    """Whether only the sums are missing, which a kill between the two files leaves; the next run writes them."""
    folder = evidence(home) / "runs" / run
    return run == newest(home) and (folder / "seal.json").exists() and not (folder / "SHA256SUMS").exists()


def sandboxes(home: Path) -> dict[str, str]:
    """Name to phase of every sandbox on the rehearsal host's disk."""
    disk = Path(f"{home}.host") / "state" / "openshell" / "gateway" / "sandboxes"
    found = [json.loads(path.read_text()) for path in disk.glob("*/sandbox.json")]
    return {str(one["name"]): str(one["phase"]) for one in found}


def settings_left(home: Path) -> list[str]:
    """Settings files that lie in any sandbox's workspace."""
    disk = Path(f"{home}.host") / "state" / "openshell" / "gateway" / "sandboxes"
    return [str(path) for name in SETTINGS for path in disk.glob(f"*/sandbox/.claude/{name}")]


def assert_as_it_was(home: Path) -> None:
    """No sandbox but the fleet's, each running; no setting of ours; nothing announced that is not there to stay."""
    assert sandboxes(home) == dict.fromkeys(FLEET, "Ready")
    assert settings_left(home) == []
    assert announcements(home) <= {*FLEET, "router.started"}


def assert_clean(done: Rehearsal) -> None:
    """The verdicts of a run without any fault: eleven PASS, and the one that the fleet cannot answer."""
    assert done.code == 3, done.tail(60)
    assert {name for name, outcome in done.outcomes.items() if outcome == "PASS"} == ELEVEN, done.tail(60)
    assert done.outcomes[UNASKED] == "UNKNOWN"
    assert done.failed_steps == []


def leftovers(home: Path) -> list[str]:
    """Processes of a world of this home, and mounts of it here: each process that sees the home's folders mounted."""
    places = (f" {home} ", f" {home}/", f" {home}.host ", f" {home}.host/")
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                mounts = Path(f"/proc/{entry}/mountinfo").read_text()
                if any(place in mounts for place in places):
                    found.append(f"{entry}: {Path(f'/proc/{entry}/cmdline').read_bytes()[:120]!r}")
    return found


def assert_nothing_outlives(home: Path, seconds: float = 15.0) -> None:
    deadline = time.monotonic() + seconds
    while found := leftovers(home):
        assert time.monotonic() < deadline, found
        time.sleep(0.05)
