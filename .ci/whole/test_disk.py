"""Disk, permissions, clock and names: a clear error and exit 1, nothing overwritten, earlier evidence intact."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from rehearsing import Rehearsal, copy_home, rehearse
from victims import (
    PROBE,
    assert_as_it_was,
    assert_unaltered,
    assert_whole,
    evidence,
    frozen,
    labels,
    sandboxes,
    victim,
)

from pytest_amap.evidence import chain, recorded, verify

HERE = str(Path(__file__).parent)
PASS = "PASS"
MS_REMOUNT, MNT_DETACH = 32, 2


def assert_told(ended: Rehearsal, *words: str) -> None:
    """One sentence for the person, exit 1, and no traceback of ours."""
    assert ended.code == 1, ended.tail(60)
    shown = " ".join(ended.text.split())
    for word in words:
        assert word in shown, ended.tail(60)
    assert "Traceback" not in ended.text, ended.tail(60)


@contextlib.contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Callable[[str], None]]:
    """A tmpfs of this size at `folder`; yields what sets another size. Skips where it cannot be mounted."""
    libc = ctypes.CDLL(None, use_errno=True)
    folder.mkdir()

    def mount(flags: int, size: str) -> int:
        about = f"size={size},mode=755".encode()
        return int(libc.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", flags, about))

    if mount(0, size):
        pytest.skip(f"mount tmpfs at {folder}: {os.strerror(ctypes.get_errno())}")
    try:
        yield lambda size: mount(MS_REMOUNT, size) and None
    finally:
        libc.umount2(os.fsencode(folder), MNT_DETACH)


def test_a_full_disk_is_told_and_the_next_run_carries_on(clean: Rehearsal, tmp_path: Path) -> None:
    home = tmp_path / "home"
    with small_disk(home, "700k") as resize:
        full = rehearse(home, "-k", "unknown_1")
        assert_told(full, "No space left on device", "free some disk space and run again")
        before = frozen(home)
        assert before
        resize("64m")
        again = rehearse(home, "-k", "unknown_1")
        assert again.outcomes == {"unknown_1": PASS}, again.tail()
        assert_unaltered(before, home)
        assert_whole(home)


def test_a_disk_that_fills_up_stops_no_cleanup(clean: Rehearsal, tmp_path: Path) -> None:
    """The probe is removed although nothing can be recorded any more."""
    template, home = copy_home(clean.home, tmp_path / "template"), tmp_path / "home"
    shutil.move(f"{template}.host", f"{home}.host")
    with small_disk(home, "16m"):
        shutil.copytree(template, home, symlinks=True, dirs_exist_ok=True)
        with victim(home, "-k", "unknown_3") as running:
            running.reaches(lambda: PROBE in sandboxes(home))
            with full(home / "filler"):
                ended = running.end()
        assert_told(ended, "No space left on device")
        (home / "filler").unlink()
        assert_as_it_was(home)
        assert_whole(home)


@contextlib.contextmanager
def full(path: Path) -> Iterator[None]:
    """Meanwhile every page that becomes free is taken at once, so that not even a small record fits."""
    over = threading.Event()

    def fill() -> None:
        with path.open("ab", buffering=0) as stream:
            while not over.is_set():
                with contextlib.suppress(OSError):
                    stream.write(b"\0" * 4096)
                    continue
                time.sleep(0.0005)

    filling = threading.Thread(target=fill)
    filling.start()
    try:
        yield
    finally:
        over.set()
        filling.join()


def test_a_read_only_home_is_refused_before_anything_is_made(home: Path) -> None:
    before, runs = frozen(home), recorded.runs(evidence(home))
    home.chmod(0o555)
    try:
        refused = rehearse(home, "-k", "unknown_6")
    finally:
        home.chmod(0o755)
    assert_told(refused, "has no right to read and write it")
    assert (frozen(home), recorded.runs(evidence(home))) == (before, runs)


def test_evidence_that_is_a_symlink_is_never_followed(home: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    evidence(home).rename(elsewhere)
    evidence(home).symlink_to(elsewhere)
    before = sorted(elsewhere.rglob("*"))
    assert_told(rehearse(home, "-k", "unknown_6"), "a symlink or a file stands where a folder is expected")
    assert sorted(elsewhere.rglob("*")) == before


def test_a_home_that_vanishes_is_told(home: Path) -> None:
    with victim(home, "-k", "unknown_3") as running:
        running.reaches(lambda: "create the probe" in labels(home))
        evidence(home).rename(home.parent / "elsewhere")  # at once: a folder that is written to is never empty
        ended = running.end()
    assert_told(ended, "the folder has vanished")
    assert not evidence(home).exists()


def test_a_name_that_is_taken_is_never_overwritten(home: Path) -> None:
    """Whoever guesses the names of the next minutes' first records keeps what stands there."""
    start = datetime.now(UTC)
    taken = [
        evidence(home) / chain.record_path(0, chain.run_id(start + timedelta(seconds=s), 1), 1, "openshell version")
        for s in range(300)
    ]
    for path in taken:
        path.write_bytes(b"mine")
    assert_told(rehearse(home, "-k", "unknown_6"), "is never overwritten")
    assert {path.read_bytes() for path in taken} == {b"mine"}


@pytest.mark.parametrize("mask", [0o000, 0o077], ids=lambda mask: f"{mask:03o}")
def test_modes_do_not_depend_on_the_umask(clean: Rehearsal, tmp_path: Path, mask: int) -> None:
    home = tmp_path / "home"
    before = os.umask(mask)
    try:
        done = rehearse(home, "-k", "unknown_1 or unknown_7")
    finally:
        os.umask(before)
    assert done.outcomes == {"unknown_1": PASS, "unknown_7": PASS}, done.tail()
    modes = {oct(path.lstat().st_mode & 0o7777) for path in evidence(home).rglob("*") if path.is_file()}
    there = [evidence(home), *evidence(home).rglob("*")]
    folders = {oct(path.stat().st_mode & 0o7777) for path in there if path.is_dir()}
    assert (modes, folders) == ({"0o600"}, {"0o700"})
    assert home.stat().st_mode & 0o7777 == 0o755


def test_a_clock_that_is_set_back_leaves_whole_evidence(home: Path) -> None:
    with victim(home, "-p", "setback", "-k", "unknown_2", environ={"PYTHONPATH": HERE}) as running:
        done = running.end()
    assert (done.code, done.outcomes) == (0, {"unknown_2": PASS}), done.tail()
    assert verify.problems(evidence(home)) == []
    assert time.time() - datetime.fromisoformat(done.results["extra"]["ended"]).timestamp() < 600
