"""What the kit's tests share: a stand-in connector checkout, the example fleet, an unborn home."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from kit_bench import BINARY, CALLER, FLEET, IDS, REPOSITORY, Stage

from kit import cli, files, prepare, profile, record
from kit.home import Home, check_home

CONNECTOR_FILES = ("inbox-delivery", "_inboxlib.py", "inbox-mcp-vol", "inbox-submit")


def make_connector(folder: Path) -> Path:
    programs = folder / "checkouts" / "amap-connector-claude" / "bin"
    programs.mkdir(parents=True)
    for name in CONNECTOR_FILES:
        (programs / name).write_text(f"# stand-in for {name}\n")
    return programs.parent


@pytest.fixture
def repository() -> Path:
    return REPOSITORY


@pytest.fixture
def connector(tmp_path: Path) -> Path:
    """A directory that passes for a connector checkout."""
    return make_connector(tmp_path)


@pytest.fixture
def fleet_file() -> Path:
    return REPOSITORY / "examples" / "fleet.json"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home that may be made; nothing is there yet."""
    return check_home(str(tmp_path / "home"))


@pytest.fixture(scope="session")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a stage, made once: a home on which everything was done, and places where none may lie."""
    folder = tmp_path_factory.mktemp("stage")
    os.mkfifo(folder / "fifo")
    for name, target in (("link", "home"), ("dangling", "none"), ("loop", "loop"), ("up", ".")):
        (folder / name).symlink_to(target)
    for name in ("clone/deep", "clone/.git/objects", "clone/.git/refs", "worktree", "bare/objects", "bare/refs"):
        (folder / name).mkdir(parents=True)
    for name in ("clone/.git/HEAD", "bare/HEAD", "worktree/.git"):
        (folder / name).touch()
    connector = make_connector(folder)
    (folder / "own.json").write_text(json.dumps(FLEET))
    home = check_home(str(folder / "home"))
    for plan in (
        lambda: prepare.plan(
            home, folder / "own.json", run_as=CALLER, caller=CALLER, image="image", connector=connector
        ),
        lambda: record.plan(home, "alpha", IDS["alpha"]),
        lambda: profile.plan(home, REPOSITORY / "providers" / "amap-claude-code.json", [BINARY]),
    ):
        files.apply(plan())
    return folder


@pytest.fixture
def operator(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line in this process, as an ordinary user."""
    for name in ("AMAP_ROUTER_REPO", "AMAP_SPEC_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(cli, "_caller", lambda: CALLER)
    monkeypatch.setattr(prepare, "_PRIVATE", ())


@pytest.fixture
def shared(
    done: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, operator: None
) -> Iterator[Stage]:
    """That folder itself, for what changes nothing in it but one's own fleet file."""
    stage = Stage(done, capsys)
    monkeypatch.setenv("AMAP_CONNECTOR_REPO", str(stage.connector))
    yield stage
    stage.fleet.write_text(json.dumps(FLEET))


@pytest.fixture
def stage(shared: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """A copy of it, to be spoiled."""
    folder = tmp_path / "stage"
    for name in ("home", "checkouts"):
        shutil.copytree(shared.folder / name, folder / name)
    shutil.copy(shared.fleet, folder)
    staged = Stage(folder, shared.capsys)
    for command in (staged.home / "commands").iterdir():
        command.write_text(command.read_text().replace(str(shared.folder), str(folder)))
    monkeypatch.setenv("AMAP_CONNECTOR_REPO", str(staged.connector))
    return staged
