"""Whole rehearsals as a person starts them: one command line, one process, one home each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from replay_bench import SPARED

CHECKOUT = Path(__file__).resolve().parents[2]
CANNOT_ENTER = "cannot enter the rehearsal's world"
WAITS = {"ready": 60, "delivery": 60, "reply": 60, "log": 20, "phase": 60}
"""Deadlines in seconds: none is ever reached unless something is wrong."""

SHORT_WAITS = {"command": 60, "exec": 20, "ready": 10, "delivery": 8, "reply": 8, "log": 4, "roster": 8}
"""Seconds that are plenty here, and little where a fault makes a wait vain."""


@dataclass(frozen=True)
class Rehearsal:
    """How one ended: the run it made, its exit code, what it printed, how long it took in seconds.

    `run` is None where nothing was sealed.
    """

    home: Path
    run: Path | None
    code: int
    text: str
    seconds: float

    @property
    def results(self) -> dict[str, Any]:
        """`results` of the run's results.json."""
        assert self.run is not None, self.tail()
        return dict(json.loads((self.run / "results.json").read_text())["results"])

    @property
    def outcomes(self) -> dict[str, str]:
        """Outcome by check id, of the selected ones."""
        return {test["name"]: test["rawStatus"] for test in self.results["tests"] if test["extra"]["selected"]}

    @property
    def failed_steps(self) -> list[str]:
        return [step["name"] for step in self.results["extra"]["steps"] if step["outcome"] in ("failed", "refused")]

    def tail(self, lines: int = 30) -> str:
        return "\n".join(self.text.splitlines()[-lines:])


def command(home: Path, *arguments: str) -> list[str]:
    """`pytest tests_live --apply --rehearsal ARGUMENTS` at that home, with short waits where a fault is planted."""
    deadlines = SHORT_WAITS if "--fault" in arguments else WAITS
    waits = [f"--override-ini=amap_deadline_{name}={seconds}" for name, seconds in deadlines.items()]
    own = ("tests_live", "--apply", "--rehearsal", "--amap-home", str(home))
    return [sys.executable, "-m", "pytest", *own, *waits, *SPARED, *arguments]


def environ() -> dict[str, str]:
    """This process's variables without those that speak to the pytest around it."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))}


def rehearse(home: Path, *arguments: str) -> Rehearsal:
    """That command, to its end."""
    before, begun = latest(home), time.monotonic()
    done = subprocess.run(
        command(home, *arguments),
        cwd=CHECKOUT,
        env=environ(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    after = latest(home)
    return Rehearsal(home, after if after != before else None, done.returncode, done.stdout, time.monotonic() - begun)


def latest(home: Path) -> Path | None:
    """The newest sealed run of a home."""
    link = home / "evidence" / "latest"
    return link.resolve() if link.exists() else None


def copy_home(home: Path, place: Path) -> Path:
    """A home and its host's disk, sockets and all, as they stand, at another place."""
    for end in ("", ".host"):
        subprocess.run(["cp", "-a", f"{home}{end}", f"{place}{end}"], check=True)
    return place
