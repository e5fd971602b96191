"""`amap siblings` against local repositories: it refuses first, and changes nothing without --apply."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from kit import siblings
from kit.siblings import Pin
from pytest_amap.cli import siblings as cli_siblings

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="no git on PATH")

NAME, SPEC = "amap-router-local", "amap-spec"


def git(place: Path, *words: str) -> str:
    name = ("-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "init.defaultBranch=main")
    done = subprocess.run(["git", *name, "-C", os.fspath(place), *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()


class Bench:
    """Two upstream repositories with two commits each, and a place beside which the siblings are wanted."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.beside = folder / "beside"
        (self.beside / "main").mkdir(parents=True)
        self.upstream = {name: folder / "upstream" / "owner" / name for name in (NAME, SPEC)}
        self.commits = {}
        for name, place in self.upstream.items():
            place.mkdir(parents=True)
            git(place, "init", "--quiet")
            self.commits[name] = [self.commit(name, "one"), self.commit(name, "two")]
        pins = (
            Pin(NAME, self.upstream[NAME].as_uri(), self.commits[NAME][0]),
            Pin(SPEC, os.fspath(self.upstream[SPEC]), None),
        )
        patch.setattr(siblings, "load_pins", lambda: pins)
        patch.setattr(cli_siblings, "checkout", lambda: self.beside / "main")
        for kind in siblings.KINDS.values():
            patch.delenv(kind.variable, raising=False)

    def commit(self, name: str, text: str) -> str:
        (self.upstream[name] / "file").write_text(text)
        git(self.upstream[name], "add", "file")
        git(self.upstream[name], "commit", "--quiet", "-m", text)
        return git(self.upstream[name], "rev-parse", "HEAD")

    def head(self, name: str) -> str:
        return git(self.beside / name, "rev-parse", "HEAD")

    def tree(self) -> list[tuple[str, int]]:
        return sorted((str(path), path.lstat().st_mtime_ns) for path in self.beside.rglob("*"))


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(tmp_path, monkeypatch)


def test_without_apply_nothing_is_changed(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    before = bench.tree()
    assert cli_siblings.main([]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith(f"would clone {bench.beside / NAME} from file://")
    assert out[1].endswith("at its default branch")
    assert out[2] == "Nothing was changed; --apply does it."
    assert bench.tree() == before


def test_apply_clones_at_the_pin_and_again_finds_it_present(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli_siblings.main(["--apply"]) == 0
    assert bench.head(NAME) == bench.commits[NAME][0]
    assert bench.head(SPEC) == bench.commits[SPEC][1]
    capsys.readouterr()
    assert cli_siblings.main(["--apply"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["present", "present"]


def test_apply_fetches_what_is_elsewhere(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli_siblings.main(["--apply"]) == 0
    git(bench.beside / NAME, "checkout", "--quiet", "--detach", bench.commits[NAME][1])
    newest = bench.commit(SPEC, "three")
    capsys.readouterr()
    assert cli_siblings.main(["--apply"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["fetched", "fetched"]
    assert (bench.head(NAME), bench.head(SPEC)) == (bench.commits[NAME][0], newest)


@pytest.mark.parametrize("how", ["a file", "no checkout", "another's folder", "local changes", "another origin"])
def test_a_refusal_comes_before_anything_is_done(bench: Bench, how: str, capsys: pytest.CaptureFixture[str]) -> None:
    place, words = bench.beside / SPEC, {"a file": "no directory", "another origin": "another origin"}
    if how == "a file":
        place.write_text("x")
    elif how == "no checkout":
        place.mkdir()
    elif how == "another's folder":
        git(bench.beside, "init", "--quiet")
        place.mkdir()
    else:
        source = bench.upstream[SPEC if how == "local changes" else NAME]
        git(bench.beside, "clone", "--quiet", os.fspath(source), os.fspath(place))
        if how == "local changes":
            (place / "new").write_text("x")
            words[how] = "local changes"
    before = bench.tree()
    assert cli_siblings.main(["--apply"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"amap siblings: {place} ")
    assert words.get(how, "no git checkout of its own") in said.err
    assert len(said.err.splitlines()) == 1
    assert bench.tree() == before
    assert not (bench.beside / NAME).exists()


def test_a_pin_that_is_nowhere_is_one_sentence(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(siblings, "load_pins", lambda: (Pin(NAME, bench.upstream[NAME].as_uri(), "0" * 40),))
    assert cli_siblings.main(["--apply"]) == 1
    err = capsys.readouterr().err
    assert "git checkout --quiet --detach 0000" in err
    assert len(err.splitlines()) == 1


def test_ambient_git_variables_move_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", os.fspath(bench.upstream[SPEC] / ".git"))
    assert cli_siblings.main(["--apply"]) == 0
    monkeypatch.delenv("GIT_DIR")
    assert bench.head(NAME) == bench.commits[NAME][0]


def test_a_variable_that_is_set_is_the_place(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AMAP_ROUTER_REPO", os.fspath(tmp_path / "elsewhere"))
    assert cli_siblings.main([]) == 0
    assert capsys.readouterr().out.startswith(f"would clone {tmp_path / 'elsewhere'} ")


@pytest.mark.parametrize(
    "url",
    ["https://h.example/o/n", "https://h.example/o/n.git", "git@h.example:o/n.git", "ssh://git@h.example/o/n/"],
)
def test_one_repository_has_many_addresses(url: str) -> None:
    assert cli_siblings.repository(url) == ("o", "n")
