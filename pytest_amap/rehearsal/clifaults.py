"""Faults in what the command-line tools answer."""

from __future__ import annotations

from collections.abc import Callable

from .openshell.arguments import Arguments


def guard(words: tuple[str, ...], arguments: Arguments, run: Callable[[], int]) -> int:
    """Run an `openshell` command, unless a planted fault answers in its place."""
    return run()
