"""Forget one instance's deliveries, so that its next encounter is a first sight; its audit log stays."""

from __future__ import annotations

import os
import shutil

from .state import State

KEPT = ("audit",)


def reset(state_dir: str, name: str) -> list[str]:
    """Remove the private state of one instance but for KEPT; returns what was removed, sorted."""
    state = State(state_dir, name)
    removed = []
    for entry in sorted(os.listdir(state.path())):
        if entry in KEPT:
            continue
        path = state.path(entry)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)
        removed.append(entry)
    state.audit("reset", removed=removed)
    return removed
