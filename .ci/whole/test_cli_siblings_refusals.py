"""`amap siblings` refuses what is no clean checkout of the sibling's own, before anything is done."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import checkouts_bench
import pytest
from checkouts_bench import NAME, SPEC, Bench, git

bench, pytestmark = checkouts_bench.bench, checkouts_bench.needs_git


def stage(place: Path) -> None:
    (place / "new").write_text("x")
    git(place, "add", "new")


def hide(place: Path) -> None:
    """An untracked file that the checkout's own settings do not show."""
    (place / "new").write_text("x")
    git(place, "config", "status.showUntrackedFiles", "no")


def submodule(place: Path) -> None:
    git(place, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", os.fspath(place), "inside")
    git(place, "commit", "--quiet", "-m", "inside")
    git(place, "config", "submodule.inside.ignore", "all")
    (place / "inside" / "file").write_text("changed")


CHANGED: dict[str, Callable[[Path], object]] = {
    "changed": lambda place: (place / "file").write_text("x"),
    "removed": lambda place: (place / "file").unlink(),
    "mode": lambda place: (place / "file").chmod(0o755),
    "untracked": lambda place: (place / "new").write_text("x"),
    "staged": stage,
    "hidden": hide,
    "submodule": submodule,
}


@pytest.mark.parametrize("how", CHANGED)
def test_local_changes_of_any_kind_are_refused_first(bench: Bench, how: str) -> None:
    CHANGED[how](bench.clone(SPEC))
    bench.refused(str(bench.beside / SPEC), "has local changes")


def test_ignored_files_are_no_changes_and_stay(bench: Bench) -> None:
    (bench.clone(NAME) / "x.pyc").write_text("mine")
    assert bench.run("--apply")[0] == 0
    assert (bench.beside / NAME / "x.pyc").read_text() == "mine"
    (bench.upstream[NAME] / "x.pyc").write_text("theirs")
    git(bench.upstream[NAME], "add", "--force", "x.pyc")
    bench.pin(bench.commit(NAME, "three"))
    code, _, err = bench.run("--apply")
    assert (code, "x.pyc" in err, len(err.splitlines())) == (1, True, 1)
    assert (bench.beside / NAME / "x.pyc").read_text() == "mine"


def a_file(bench: Bench) -> None:
    (bench.beside / SPEC).write_text("x")


def a_dangling_link(bench: Bench) -> None:
    (bench.beside / SPEC).symlink_to("nowhere")


def an_empty_directory(bench: Bench) -> None:
    (bench.beside / SPEC).mkdir()


def a_folder_of_another_checkout(bench: Bench) -> None:
    git(bench.beside, "init", "--quiet")
    (bench.beside / SPEC).mkdir()


def a_bare_repository(bench: Bench) -> None:
    bench.clone(SPEC, "--bare")


def another_origin(bench: Bench) -> None:
    git(bench.beside, "clone", "--quiet", os.fspath(bench.upstream[NAME]), SPEC)


def the_same_name_at_another_host(bench: Bench) -> None:
    git(bench.clone(SPEC), "remote", "set-url", "origin", "https://me:secret@evil.example/owner/amap-spec")


def a_mistyped_origin(bench: Bench) -> None:
    git(bench.clone(SPEC), "remote", "set-url", "origin", "https:/me:secret@h.example/owner/amap-spec")


def no_origin(bench: Bench) -> None:
    git(bench.clone(SPEC), "remote", "remove", "origin")


def a_clone_that_was_cut_off(bench: Bench) -> None:
    git(bench.beside, "init", "--quiet", SPEC)
    git(bench.beside / SPEC, "remote", "add", "origin", os.fspath(bench.upstream[SPEC]))


def a_filter_of_its_own(bench: Bench) -> None:
    git(bench.clone(SPEC), "config", "filter.f.clean", "touch started")


def another_way_to_the_origin(bench: Bench) -> None:
    git(bench.clone(SPEC), "config", "remote.origin.uploadpack", "touch started; git-upload-pack")


def commits_that_no_branch_holds(bench: Bench) -> None:
    git(bench.clone(SPEC), "checkout", "--quiet", "--detach")
    git(bench.beside / SPEC, "commit", "--quiet", "--allow-empty", "-m", "mine")


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (a_file, "is no directory"),
        (a_dangling_link, "is no directory"),
        (an_empty_directory, "no git checkout of its own"),
        (a_folder_of_another_checkout, "no git checkout of its own"),
        (a_bare_repository, "no git checkout of its own"),
        (another_origin, "another origin"),
        (the_same_name_at_another_host, "another origin (evil.example/owner/amap-spec)"),
        (a_mistyped_origin, "another origin (h.example/owner/amap-spec)"),
        (no_origin, "another origin (none)"),
        (a_clone_that_was_cut_off, "no commit checked out"),
        (a_filter_of_its_own, "filter.f.clean"),
        (another_way_to_the_origin, "remote.origin.uploadpack"),
        (commits_that_no_branch_holds, "which no branch holds"),
    ],
)
def test_a_refusal_comes_before_anything_is_done(bench: Bench, make: Callable[[Bench], None], word: str) -> None:
    make(bench)
    said = bench.refused(str(bench.beside / SPEC), word)
    assert "secret" not in said
