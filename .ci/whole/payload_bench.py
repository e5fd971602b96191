"""amap-main under a real shell, with stand-ins for everything it starts."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

PAYLOAD = Path(__file__).resolve().parents[2] / "kit" / "payload"
SHELLS = [words for words in (("dash",), ("bash",), ("busybox", "sh")) if shutil.which(words[0])]

DAEMON = 'env | grep ^AMAP_DELIVERY_ | sort > "$LOG/daemon-env.part"; mv "$LOG/daemon-env.part" "$LOG/daemon-env"\n'
RELEASING = """\
trap 'echo released > "$LOG/released"; exit 0' TERM
echo $$ > "$LOG/daemon-pid.part"; mv "$LOG/daemon-pid.part" "$LOG/daemon-pid"
while :; do /bin/sleep 0.02; done
"""
STUBBORN = RELEASING.replace("'echo released > \"$LOG/released\"; exit 0'", "''")
UNTIL = 'while [ ! -e "$LOG/{}" ]; do /bin/sleep 0.01; done\n'
INSTANT_SLEEP = 'echo "$1" >> "$LOG/sleeps"; [ "$1" = 0.1 ] && exec /bin/sleep 0.005; exit 0\n'


@dataclass
class Bench:
    """A payload directory with amap-main and stand-ins, and the environment of a sandbox."""

    shell: tuple[str, ...]
    root: Path
    environment: dict[str, str] = field(default_factory=dict)
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name in ("payload", "path", "log", "home"):
            (self.root / name).mkdir()
        shutil.copy(PAYLOAD / "amap-main", self.root / "payload")
        self.environment |= {
            "PATH": f"{self.root / 'path'}:/usr/bin:/bin",
            "LOG": str(self.log),
            "HOME": str(self.root / "home"),
            "AMAP_INBOX_DIR": "/lanes/inbox",
            "AMAP_PEER_DIR": "/lanes/peer",
            "AMAP_OUTBOX_DIR": "/lanes/outbox",
            "AMAP_SELF_ADDRESS": "alpha@agents.example.org",
        }
        self.program("payload/claude-seed", 'echo seeded > "$LOG/seeded"\n')
        self.program("payload/inbox-delivery", RELEASING)
        self.program("path/claude", "exit 0\n")

    @property
    def log(self) -> Path:
        return self.root / "log"

    def program(self, name: str, body: str) -> None:
        if self.shell[0] == "busybox" and name in ("path/sleep", "path/date"):
            pytest.skip("busybox runs its own")
        path = self.root / name
        path.write_text(f"#!/bin/sh\n{body}")
        path.chmod(0o755)

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [shutil.which(self.shell[0]) or "", *self.shell[1:], str(self.root / "payload" / "amap-main"), *arguments],
            env=self.environment,
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self.processes.append(process)
        return process

    def run(self, *arguments: str, stdin: bytes = b"") -> tuple[int, str]:
        """Exit status and stderr of a whole run."""
        process = self.start(*arguments)
        _, stderr = process.communicate(stdin, timeout=20)
        return process.returncode, stderr.decode()

    def wait_for(self, name: str) -> str:
        """The text of a log file, once it is there."""
        return until(lambda: (self.log / name).read_text() if (self.log / name).exists() else "", name)

    def logged(self, name: str) -> bool:
        return (self.log / name).exists()

    def end(self) -> None:
        """Nothing of it outlives its test."""
        for process in self.processes:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
            process.wait()


def until(answer: Callable[[], str], what: str) -> str:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if found := answer():
            return found
        time.sleep(0.01)
    pytest.fail(f"{what} did not come within 10 s")


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def members(group: int) -> list[int]:
    """The living processes of a group."""
    found = []
    for directory in Path("/proc").glob("[0-9]*"):
        try:
            fields = (directory / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z" and int(fields[2]) == group:
            found.append(int(directory.name))
    return found


@pytest.fixture(params=SHELLS, ids=" ".join)
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    made = Bench(request.param, tmp_path)
    yield made
    made.end()
