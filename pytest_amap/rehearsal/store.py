"""JSON records on the host's disk: replaced whole, never half written, changed under one lock."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from . import layout

Record = dict[str, Any]


def load(path: Path) -> Record | None:
    """The record, or None where there is none."""
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        return None


def save(path: Path, record: Any) -> None:
    text(path, json.dumps(record, indent=1) + "\n", 0o600)


def text(path: Path, content: str, mode: int) -> None:
    """Write `content` whole: a reader sees the old file or the new one."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    draft.write_text(content)
    draft.chmod(mode)
    draft.replace(path)


@contextlib.contextmanager
def locked() -> Iterator[None]:
    """Nobody else changes a record of this host meanwhile."""
    with open(layout.DISK / ".lock", "a") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def update(path: Path, **changes: Any) -> Record | None:
    """Change fields of an existing record; None when it is gone (deleted meanwhile)."""
    with locked():
        record = load(path)
        if record is not None:
            record.update(changes)
            save(path, record)
        return record


def now() -> str:
    """This moment as the records have it: UTC, RFC 3339, microseconds."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
