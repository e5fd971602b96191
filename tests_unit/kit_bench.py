"""A bench for the kit's tests: its command line in this process or in one of its own, and a look at a whole tree."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from kit import cli
from kit.names import RunAs

REPOSITORY = Path(__file__).resolve().parents[1]
CALLER = RunAs(1000, 1000)
IDS = {"alpha": "11111111-2222-4333-8444-555555555555", "beta": "66666666-7777-4888-9999-000000000000"}
FLEET = {"workspace": "default", "fleet_domain": "agents.example.org", "task_graph": {"beta": ["alpha"]}}
BINARY = "/usr/local/bin/node"
UID, GID = (os.geteuid(), os.getegid()) if os.geteuid() else (1000, 1000)


def tree(root: Path) -> dict[str, tuple[object, ...]]:
    """Everything at and below `root`: type, mode, owner, time of change, and what it holds."""
    return {str(path.relative_to(root)): _seen(path) for path in (root, *_below(root))}


def _below(root: Path) -> Iterator[Path]:
    with os.scandir(root) as entries:
        for entry in entries:
            yield Path(entry.path)
            if entry.is_dir(follow_symlinks=False):
                yield from _below(Path(entry.path))


def _seen(path: Path) -> tuple[object, ...]:
    status = path.lstat()
    holds = ""
    if stat.S_ISREG(status.st_mode):
        holds = hashlib.sha256(path.read_bytes()).hexdigest()
    elif stat.S_ISLNK(status.st_mode):
        holds = os.readlink(path)
    return status.st_mode, status.st_uid, status.st_gid, status.st_ino, status.st_mtime_ns, holds


def operator_prefix() -> list[str]:
    """What makes a child an ordinary user that owns this process's files."""
    if os.geteuid() != 0:
        return []
    unshare = ["unshare", "--user", f"--map-user={UID}", f"--map-group={GID}"]
    if shutil.which("unshare") is None or subprocess.run([*unshare, "true"], capture_output=True).returncode != 0:
        pytest.skip("this is root, and unshare(CLONE_NEWUSER) is refused here, so no ordinary user can be had")
    return unshare


class Terminal:
    """Runs `python -m kit` in the checkout."""

    def __init__(self, root: Path, connector: Path) -> None:
        self.home = root / "home"
        self.environment: Mapping[str, str] = {
            "PATH": os.environ["PATH"],
            "PYTHONDONTWRITEBYTECODE": "1",
            "AMAP_CONNECTOR_REPO": str(connector),
        }

    def kit(self, *words: str, prefix: list[str] | None = None) -> subprocess.CompletedProcess[str]:
        argv = [*(operator_prefix() if prefix is None else prefix), sys.executable, "-m", "kit", *words]
        return subprocess.run(
            argv, cwd=REPOSITORY, env=self.environment, capture_output=True, text=True, timeout=30, umask=0o002
        )

    def prepare(self, *more: str, prefix: list[str] | None = None, **options: str) -> subprocess.CompletedProcess[str]:
        given = {
            "home": str(self.home),
            "fleet": "examples/fleet.json",
            "run-as": f"{UID}:{GID}",
            "image": "amap-openshell-agent",
            **{name.replace("_", "-"): value for name, value in options.items()},
        }
        words = (word for name, value in given.items() for word in (f"--{name}", value))
        return self.kit("prepare", *words, *more, prefix=prefix)


class Stage:
    """A folder with a home on which everything was done but beta's record, a connector, and one's own fleet file."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.connector = folder / "checkouts" / "amap-connector-claude"
        self.fleet = folder / "own.json"
        self.capsys = capsys

    def words(self, action: str, **changes: str) -> list[str]:
        home = changes.pop("home", str(self.home))
        if action == "record":
            return ["record", f"--home={home}", changes.get("name", "beta"), changes.get("id", IDS["beta"])]
        given = {"fleet": str(self.fleet), "run_as": str(CALLER), "image": "image"} if action == "prepare" else {}
        given |= {"binary": BINARY} if action == "profile" else {}
        return [action, f"--home={home}", *(f"--{k.replace('_', '-')}={v}" for k, v in (given | changes).items())]

    def refuses(self, action: str, *says: str, **changes: str) -> None:
        for more in ([], ["--apply"]):
            before = tree(self.folder)
            assert cli.main([*self.words(action, **changes), *more]) == 1
            out, err = self.capsys.readouterr()
            sentence = err.removesuffix("\n")
            assert out == ""
            assert sentence.isprintable()
            assert len(sentence) < 1000
            assert re.match(rf"amap kit {action}: .+[:;,] \w", sentence), sentence
            for said in says:
                assert said in sentence
            assert tree(self.folder) == before
