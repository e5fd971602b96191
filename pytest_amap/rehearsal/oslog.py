"""OpenShell's log of one sandbox: kept on the disk, delivered a moment late, printed in the CLI's line format."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DELIVERY_DELAY = 0.05
"""Seconds: the supervisor pushes its lines in batches, so a reader has to ask again."""

LEVELS = ("ERROR", "WARN", "INFO", "DEBUG", "TRACE")


@dataclass(frozen=True)
class Line:
    """One entry. `level` is one of LEVELS or OCSF; `source` is sandbox or gateway."""

    when: float
    source: str
    level: str
    target: str
    message: str

    def __str__(self) -> str:
        return f"[{self.when:.3f}] [{self.source:<7}] [{self.level:<5}] [{self.target}] {self.message}"


def path(directory: str | Path) -> Path:
    return Path(directory) / "log.jsonl"


def write(
    directory: str | Path, level: str, target: str, message: str, source: str = "sandbox", age: float = 0.0
) -> None:
    """Add a line, dated `age` seconds ago."""
    line = json.dumps([time.time() - age, source, level, target, message]) + "\n"
    descriptor = os.open(path(directory), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, line.encode())  # one write: lines of several threads never mix
    finally:
        os.close(descriptor)


def event(directory: str | Path, message: str, age: float = 0.0) -> None:
    """An OCSF shorthand line, such as `NET:OPEN [MED] DENIED ...`."""
    write(directory, "OCSF", "ocsf", message, age=age)


def read(directory: str | Path) -> Iterator[Line]:
    """Everything that has been delivered by now, oldest first."""
    try:
        content = path(directory).read_text()
    except FileNotFoundError:
        return
    delivered = time.time() - DELIVERY_DELAY
    for text in content.splitlines():
        line = Line(*json.loads(text))
        if line.when <= delivered:
            yield line
