"""One run a host: the second is told who holds it, and a dead holder's lock is taken over."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from pytest_amap.host import lock

ROOT = Path(__file__).resolve().parents[1]
NAME = 40_000 + os.getpid() % 20_000
"""A port that no other test session locks; nothing listens on it."""


def test_a_second_lock_of_a_home_names_the_first(tmp_path: Path) -> None:
    first = lock.HomeLock(tmp_path, 4711)
    with pytest.raises(lock.Held, match=rf"{tmp_path} is in use by pid 4711, started 2\d\d\d-.*Z: \S"):
        lock.HomeLock(tmp_path, 4712)
    first.close()
    lock.HomeLock(tmp_path, 4712).close()


def test_a_lock_that_was_let_go_leaves_nothing_to_take_over(tmp_path: Path) -> None:
    lock.HomeLock(tmp_path, 4711).close()
    second = lock.HomeLock(tmp_path, 4712)
    assert second.note == ""
    second.close()


def test_a_dead_holders_lock_is_taken_over_with_a_note(tmp_path: Path) -> None:
    """Killed, so that it could not let go."""
    program = f"""
        import os, pathlib, signal, sys
        sys.path.insert(0, {str(ROOT)!r})
        from pytest_amap.host import lock
        held = lock.HomeLock(pathlib.Path({str(tmp_path)!r}), os.getpid())
        os.kill(os.getpid(), signal.SIGKILL)
    """
    dead = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], timeout=30)
    assert dead.returncode == -9
    taken = lock.HomeLock(tmp_path, 4712)
    assert taken.note.startswith("the lock of pid ")
    assert taken.note.endswith("was taken over")
    assert json.loads((tmp_path / lock.LOCK).read_text())["pid"] == 4712
    taken.close()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"pid": 1}', "\x00\xff", "x" * 9000, "[" * 4000])
def test_a_lock_file_that_says_nothing_useful_is_no_obstacle(tmp_path: Path, content: str) -> None:
    (tmp_path / lock.LOCK).write_text(content)
    lock.HomeLock(tmp_path, 4711).close()


def test_a_symlink_in_the_locks_place_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("precious")
    (tmp_path / lock.LOCK).symlink_to("precious")
    with pytest.raises(OSError, match="symbolic link"):
        lock.HomeLock(tmp_path, 4711)
    assert (tmp_path / "precious").read_text() == "precious"


@pytest.mark.parametrize("what", ["a pipe", "a second name"])
def test_nothing_but_a_lock_of_ours_is_written_to(tmp_path: Path, what: str) -> None:
    (tmp_path / "precious").write_text("precious")
    if what == "a pipe":
        os.mkfifo(tmp_path / lock.LOCK)
    else:
        os.link(tmp_path / "precious", tmp_path / lock.LOCK)
    with pytest.raises(lock.Held, match="is no lock of ours"):
        lock.HomeLock(tmp_path, 4711)
    assert (tmp_path / "precious").read_text() == "precious"


def test_what_a_lock_says_of_its_holder_is_one_harmless_line(tmp_path: Path) -> None:
    about = {"pid": "\x1b[2J", "started": "\n12 PASS", "command": "\u202ex"}
    (tmp_path / lock.LOCK).write_text(json.dumps(about))
    held = lock.HomeLock(tmp_path, 4711)
    assert held.note == "the lock of pid \\x1b[2J, started 12 PASS, which is gone, was taken over"
    held.close()


def test_the_lock_is_private(tmp_path: Path) -> None:
    held = lock.HomeLock(tmp_path, 4711)
    assert (tmp_path / lock.LOCK).stat().st_mode & 0o777 == 0o600
    held.close()


def test_a_second_lock_of_an_endpoint_names_the_first() -> None:
    first = lock.endpoint(NAME)
    with pytest.raises(lock.Held) as refused:
        lock.endpoint(NAME)
    other = lock.endpoint(NAME + 1)
    first.close()
    other.close()
    said = str(refused.value)
    assert said.startswith(f"the gateway on port {NAME} is in use by pid {os.getpid()}, started 2")
    assert Path("/proc/self/cmdline").read_text().split("\0")[0] in said
    lock.endpoint(NAME).close()


def test_the_endpoints_lock_leaves_no_port_in_use() -> None:
    """The gateway itself must be able to listen there."""
    held = lock.endpoint(NAME)
    with socket.socket() as gateway:
        gateway.bind(("127.0.0.1", NAME))
    held.close()
