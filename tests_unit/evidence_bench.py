"""A store of evidence and what is put into it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pytest_amap.evidence.redaction import Redactor
from pytest_amap.evidence.store import Evidence
from pytest_amap.observations import Ran

KEY = "sk-canary-api03-Zq8vN1mXw7Lr2KtY5Hs9Bd4Fg6Jc3Pe0"
NOON = datetime(2026, 11, 29, 12, 0, 0, 250_000, UTC)


def opened(root: Path, host: str = "live") -> Evidence:
    return Evidence.open(root / "evidence", Redactor({"KEY": KEY}), host=host)


def ran(store: Evidence, *, label: str = "Write probe!", cwd: str = "/checkout", **changes: Any) -> str:
    about: dict[str, Any] = {"argv": ("openshell", "x"), "exit": 0, "stdout": "", "stderr": "", "seconds": 1.0}
    about |= {"started": "2026-11-29T12:00:00.000Z", "ended": "2026-11-29T12:00:01.000Z"}
    return store.command(step=8, check="unknown_2", label=label, cwd=cwd, ran=Ran(**about | changes))


def saw(store: Evidence, observed: Any = "x", label: str = "seen") -> str:
    return store.observation(step=8, check="unknown_2", label=label, source="test", observed=observed)


def load(store: Evidence, path: str) -> dict[str, Any]:
    return json.loads((store.root / path).read_bytes())
