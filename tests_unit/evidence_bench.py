"""A store of evidence and what is put into it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pytest_amap.evidence.redaction import Redactor
from pytest_amap.evidence.store import Evidence

KEY = "sk-canary-api03-Zq8vN1mXw7Lr2KtY5Hs9Bd4Fg6Jc3Pe0"
NOON = datetime(2026, 11, 29, 12, 0, 0, 250_000, UTC)


def opened(root: Path, host: str = "live") -> Evidence:
    return Evidence.open(root / "evidence", Redactor({"KEY": KEY}), host=host)


def ran(store: Evidence, **changes: Any) -> tuple[str, str, str]:
    about: dict[str, Any] = {"step": 8, "check": "unknown_2", "label": "Write probe!", "argv": ["openshell", "x"]}
    about |= {"cwd": "/checkout", "started": "2026-11-29T12:00:00.000Z", "ended": "2026-11-29T12:00:01.000Z"}
    about |= {"seconds": 1.00049, "exit": 0, "timed_out": False, "stdout": b"", "stderr": b""}
    return store.command(**about | changes)


def saw(store: Evidence, observed: Any = "x", label: str = "seen") -> str:
    return store.observation(step=8, check="unknown_2", label=label, source="test", observed=observed)


def load(store: Evidence, path: str) -> dict[str, Any]:
    return json.loads((store.root / path).read_bytes())
