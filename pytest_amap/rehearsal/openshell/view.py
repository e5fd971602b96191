"""How sandboxes are shown: as JSON objects and as tables."""

from __future__ import annotations

import sys
from typing import Any

from .. import sandboxes
from ..store import Record

_COLOURS = {"Ready": "32", "Error": "31"}


def short(record: Record) -> dict[str, Any]:
    """An item of `sandbox list -o json`."""
    return {
        "annotations": {},
        "created_at": record["created_at"],
        "current_policy_version": 1 if record["policy"] else 0,
        "id": record["id"],
        "labels": record["labels"],
        "name": record["name"],
        "phase": record["phase"],
        "resource_version": 1,
        "workspace": record["workspace"],
        **({"exit_code": record["exit_code"]} if record["exit_code"] is not None else {}),
    }


def full(record: Record) -> dict[str, Any]:
    """`sandbox get -o json`."""
    return {
        **short(record),
        "policy": sandboxes.effective_policy(record),
        "policy_source": "sandbox",
        "revision": 1,
    }


def paint(phase: str) -> str:
    """The phase in its colour where a person reads it."""
    if not sys.stdout.isatty() or phase not in _COLOURS:
        return phase
    return f"\x1b[{_COLOURS[phase]}m{phase}\x1b[39m"


def table(rows: list[list[str]]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
