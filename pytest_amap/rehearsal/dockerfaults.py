"""Faults in what `docker` answers."""

from __future__ import annotations

from collections.abc import Callable


def guard(words: list[str], run: Callable[[], int]) -> int:
    """Run a `docker` command, unless a planted fault answers in its place."""
    return run()
