"""A clock for deadlines that come when a child has come so far, however slow the machine is."""

from __future__ import annotations

import time
from pathlib import Path

AHEAD = 60
"""Seconds; a deadline that is nearer has come when `path` is there."""


class LateClock:
    """The clock, which goes forward once `path` is there."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def monotonic(self) -> float:
        return time.monotonic() + (AHEAD if self.path.exists() else 0)
