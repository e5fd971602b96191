"""Containers that `docker run` made: their records on the disk, their boxes and their restarts."""

from __future__ import annotations


def bring_back_all() -> None:
    """Placeholder."""
