"""Upstream repositories of the siblings, and a place beside which they are wanted."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from kit import siblings
from kit.siblings import Pin
from pytest_amap.cli import siblings as cli_siblings

NAME, SPEC = "amap-router-local", "amap-spec"
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="no git on PATH")

WITNESS = {NAME: "router/reset.py", SPEC: "fixtures/validate.py"}


def git(place: Path, *words: str) -> str:
    name = ("-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "init.defaultBranch=main")
    done = subprocess.run(["git", *name, "-C", os.fspath(place), *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()


class Bench:
    """Two upstream repositories with two commits each, and a place beside which the siblings are wanted."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.patch, self.capsys = patch, capsys
        for name in [name for name in os.environ if name.startswith("GIT_")]:
            patch.delenv(name)
        for kind in siblings.KINDS.values():
            patch.delenv(kind.variable, raising=False)
        patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        self.beside = folder / "beside"
        (self.beside / "main").mkdir(parents=True)
        self.upstream = {name: folder / "upstream" / "owner" / name for name in (NAME, SPEC)}
        self.commits = {}
        for name, place in self.upstream.items():
            (place / WITNESS[name]).parent.mkdir(parents=True)
            (place / WITNESS[name]).touch()
            (place / ".gitignore").write_text("*.pyc\n")
            git(place, "init", "--quiet")
            git(place, "config", "uploadpack.allowAnySHA1InWant", "true")
            self.commits[name] = [self.commit(name, "one"), self.commit(name, "two")]
        self.pin(self.commits[NAME][0])
        patch.setattr(cli_siblings, "checkout", lambda: self.beside / "main")

    def pin(self, commit: str) -> None:
        """The router at this commit, the spec unpinned."""
        pins = {
            "router": Pin(NAME, self.upstream[NAME].as_uri(), commit),
            "spec": Pin(SPEC, os.fspath(self.upstream[SPEC]), None),
        }
        self.patch.setattr(siblings, "load_pins", lambda: pins)

    def commit(self, name: str, text: str) -> str:
        (self.upstream[name] / "file").write_text(text)
        git(self.upstream[name], "add", "--all")
        git(self.upstream[name], "commit", "--quiet", "-m", text)
        return git(self.upstream[name], "rev-parse", "HEAD")

    def clone(self, name: str, *words: str) -> Path:
        git(self.beside, "clone", "--quiet", *words, self.upstream[name].as_uri(), name)
        return self.beside / name

    def head(self, name: str) -> str:
        return git(self.beside / name, "rev-parse", "HEAD")

    def tree(self) -> list[tuple[str, int]]:
        return sorted((str(path), path.lstat().st_mtime_ns) for path in self.beside.rglob("*"))

    def run(self, *words: str) -> tuple[int, list[str], str]:
        """Exit code, lines of stdout, stderr."""
        self.capsys.readouterr()
        code = cli_siblings.main(words)
        said = self.capsys.readouterr()
        return code, said.out.splitlines(), said.err

    def refused(self, *words: str) -> str:
        """The one sentence, before which nothing was said or done."""
        before = self.tree()
        for asked in ((), ("--apply",)):
            code, out, err = self.run(*asked)
            assert (code, out, len(err.splitlines())) == (1, [], 1)
            assert self.tree() == before
        assert err.startswith("amap siblings: ")
        assert [word for word in words if word not in err] == []
        return err


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Bench:
    return Bench(tmp_path, monkeypatch, capsys)
