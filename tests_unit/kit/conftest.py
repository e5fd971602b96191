"""What the kit's tests share: a stand-in connector checkout, the example fleet, an unborn home."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.home import Home, check_home

REPOSITORY = Path(__file__).resolve().parents[2]
CONNECTOR_FILES = ("inbox-delivery", "_inboxlib.py", "inbox-mcp-vol", "inbox-submit")


@pytest.fixture
def repository() -> Path:
    return REPOSITORY


@pytest.fixture
def connector(tmp_path: Path) -> Path:
    """A directory that passes for a connector checkout."""
    programs = tmp_path / "checkouts" / "amap-connector-claude" / "bin"
    programs.mkdir(parents=True)
    for name in CONNECTOR_FILES:
        (programs / name).write_text(f"# stand-in for {name}\n")
    return programs.parent


@pytest.fixture
def fleet_file() -> Path:
    return REPOSITORY / "examples" / "fleet.json"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home that may be made; nothing is there yet."""
    return check_home(str(tmp_path / "home"))
