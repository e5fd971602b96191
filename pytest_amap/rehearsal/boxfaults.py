"""Faults in what a sandbox is made of: mounts, rules, identity, egress, the agent's switches."""

from __future__ import annotations

from .boxes.spec import BoxSpec
from .store import Record


def reshape(spec: BoxSpec, record: Record) -> BoxSpec:
    """The spec as the planted faults have it."""
    return spec
