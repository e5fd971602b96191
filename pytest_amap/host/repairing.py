"""What an interrupted run left behind is put right before anything else looks at the host."""

from __future__ import annotations

from pytest_amap.host.lab import Lab


def before_the_gate(lab: Lab) -> None:
    """Finish the cleanup of earlier runs: their throwaway sandbox, and the receiver's settings."""
