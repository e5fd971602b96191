"""Announcements on disk of what a run is about to make or change, so that the next run can tell its own from foreign.

One file each below evidence/intents/, written before the act, replaced when more is known, removed when it is undone.
A probe without a recorded id is nobody's: its label decides, and the cleanup before the gate asks for that.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any

from pytest_amap.evidence import writeonce
from pytest_amap.host import files

FOLDER = "intents"
MEMBER, PROBE, SETTING, ROUTER = "sandbox", "probe", "setting", "router"


def path_of(evidence: Path, name: str) -> Path:
    return evidence / FOLDER / f"{name}.json"


def write(evidence: Path, name: str, about: dict[str, Any]) -> None:
    """Announce, whole and durable, before the act; raises EvidenceError when that cannot be done."""
    writeonce.make_folder(evidence / FOLDER)
    with writeonce.explained(path_of(evidence, name)):
        part = evidence / FOLDER / f".{name}.part"
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "w") as file:
            json.dump({"name": name, **about}, file, sort_keys=True)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path_of(evidence, name))


def load(evidence: Path, name: str) -> dict[str, Any] | None:
    """The announcement, or None where there is none that can be read."""
    text = files.read(os.fspath(path_of(evidence, name))).text
    with contextlib.suppress(ValueError, RecursionError):
        found = json.loads(text or "")
        return found if isinstance(found, dict) else None
    return None


def remove(evidence: Path, name: str) -> None:
    path_of(evidence, name).unlink(missing_ok=True)


def read(evidence: Path) -> dict[str, str]:
    """Every announced sandbox: name to its recorded id, or "" where a member has none yet."""
    found = {}
    for entry in files.listing(os.fspath(evidence / FOLDER)).names:
        name = entry.removesuffix(".json")
        about = load(evidence, name) if name != entry else None
        if about is None or about.get("name") != name or not isinstance(about.get("id", ""), str):
            continue
        if about.get("kind") == MEMBER or (about.get("kind") == PROBE and about.get("id")):
            found[name] = about.get("id", "")
    return found
