"""The one function that starts processes: deadlines, groups, streams, and what a child inherits."""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest
from late_clock import AHEAD, LateClock

from pytest_amap.host import process, terminal
from pytest_amap.host.process import Finished, child_environment, run

ENV = {"PATH": os.environ.get("PATH", os.defpath)}


def sh(script: str, timeout: float = 20, env: dict[str, str] | None = None) -> Finished:
    return run(["sh", "-c", script], cwd="/", env=ENV | (env or {}), timeout=timeout)


def gone(pid: int) -> bool:
    """Whether a process has ended, within ten seconds; one that waits to be reaped has."""
    for _ in range(500):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state in "ZX":
            return True
        time.sleep(0.02)
    return False


def pid_in(path: Path) -> int:
    """The number that a child wrote into a file, waited for."""
    for _ in range(500):
        if path.is_file() and path.read_text().strip():
            return int(path.read_text())
        time.sleep(0.02)
    raise AssertionError(f"{path} was not written")


def test_both_streams_and_the_exit_code() -> None:
    ended = sh("echo out; echo err >&2; exit 3")
    assert (ended.exit, ended.stdout, ended.stderr, ended.timed_out) == (3, b"out\n", b"err\n", False)


def test_a_signal_is_a_negative_exit() -> None:
    assert sh("kill -TERM $$").exit == -signal.SIGTERM


@pytest.mark.parametrize(
    ("argv", "cwd", "says"),
    [
        (["no-such-program-here"], "/", "no-such-program-here: No such file or directory"),
        (["/"], "/", "/: Permission denied"),
        (["sh", "-c", "true"], "/nowhere", "sh: No such file or directory"),
        (["sh", "a\0b"], "/", "sh: embedded null byte"),
    ],
)
def test_what_cannot_start_has_no_exit_and_says_why(argv: list[str], cwd: str, says: str) -> None:
    ended = run(argv, cwd=cwd, env=ENV, timeout=5)
    assert (ended.exit, ended.timed_out, ended.stderr.decode()) == (None, False, says)


def test_at_the_deadline_the_group_is_killed_and_partial_output_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "time", LateClock(tmp_path / "pid"))
    ended = sh(f"echo begun; sleep 60 & echo $! >{tmp_path}/part; mv {tmp_path}/part {tmp_path}/pid; wait", timeout=50)
    assert (ended.exit, ended.timed_out, ended.stdout) == (None, True, b"begun\n")
    assert 50 <= ended.seconds < AHEAD + 20
    assert gone(pid_in(tmp_path / "pid"))


def test_a_child_that_ignores_term_ends_at_the_deadline() -> None:
    ended = sh("trap '' TERM INT HUP; while :; do sleep 0.05; done", timeout=0.3)
    assert ended.timed_out
    assert ended.seconds < 5


def test_a_grandchild_that_keeps_the_streams_open_keeps_nobody_waiting(tmp_path: Path) -> None:
    """It is killed too: nothing of a command outlives it."""
    ended = sh(f"sleep 60 & echo $! >{tmp_path}/pid; echo done")
    assert (ended.exit, ended.stdout) == (0, b"done\n")
    assert ended.seconds < 5
    assert gone(pid_in(tmp_path / "pid"))


def test_stdin_is_empty() -> None:
    assert sh("cat; read line; echo $?").stdout == b"1\n"


def test_a_session_of_its_own() -> None:
    """So that a signal to our group does not reach it, and it has no terminal to ask on."""
    script = "import os; print(os.getsid(0) == os.getpid() == os.getpgrp())"
    assert run([sys.executable, "-c", script], cwd="/", env=ENV, timeout=20).stdout == b"True\n"


def test_fifty_megabytes_are_read_whole() -> None:
    ended = sh("head -c 52428800 /dev/zero")
    assert (ended.exit, len(ended.stdout)) == (0, 50 << 20)


def test_of_more_than_the_cap_head_and_tail_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "LARGEST", 10)
    assert sh("printf 0123456789").stdout == b"0123456789"
    assert sh("printf 0123456789abc").stdout == b"01234\n[3 bytes not read]\n89abc"


@pytest.mark.parametrize("stream", ["1", "2"])
def test_a_flood_is_stopped_long_before_the_deadline_and_told(stream: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "FLOOD", 1 << 20)
    monkeypatch.setattr(process, "LARGEST", 1 << 10)
    ended = sh(f"exec yes >&{stream}", timeout=60)
    assert (ended.exit, ended.timed_out) == (None, False)
    assert ended.stderr.startswith(b"stopped: more than ")
    assert len(ended.stdout) + len(ended.stderr) < 4096
    assert ended.seconds < 20


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, SystemExit])
def test_an_exception_kills_the_group(tmp_path: Path, error: type[BaseException]) -> None:
    """Whatever ends the wait: Ctrl-C, a timeout of the test, an exit."""

    def raising(number: int, frame: object) -> None:
        raise error

    def ring() -> None:
        pid_in(tmp_path / "pid")
        os.kill(os.getpid(), signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, raising)
    bell = threading.Thread(target=ring)
    bell.start()
    try:
        with pytest.raises(error):
            sh(f"sleep 60 & echo $! >{tmp_path}/pid; wait", timeout=30)
    finally:
        bell.join()
        signal.signal(signal.SIGTERM, before)
    assert gone(pid_in(tmp_path / "pid"))


def test_a_child_sees_no_colour_no_selector_and_no_key() -> None:
    ambient = {
        "PATH": "/bin", "HOME": "/h", "FORCE_COLOR": "1", "OPENSHELL_GATEWAY": "other", "OPENSHELL_WORKSPACE": "w",
        "ANTHROPIC_API_KEY": "sk-ant-secret", "CLAUDE_CODE_MESSAGING_TOKEN": "t", "LC_ALL": "de_DE",
        "PYTEST_ADDOPTS": "-x", "GIT_DIR": "/other/.git", "GIT_INDEX_FILE": "/other/.git/index",
    }  # fmt: skip
    child = child_environment(ambient)
    assert child == {"PATH": "/bin", "HOME": "/h"} | process.FIXED
    assert (child["LC_ALL"], child["NO_COLOR"], child["TERM"]) == ("C", "1", "dumb")
    assert child_environment(ambient, "sk-ant-other")["ANTHROPIC_API_KEY"] == "sk-ant-other"


def test_the_selectors_that_are_kept_away_are_named() -> None:
    environ = {"OPENSHELL_B": "", "PATH": "", "OPENSHELL_A": ""}
    assert process.ambient_selectors(environ) == ("OPENSHELL_A", "OPENSHELL_B")


def terminal_run(tmp_path: Path, program: str, seconds: float = 20) -> process.Finished:
    """A Python program on a terminal, on which q is typed."""
    argv = (sys.executable, "-c", program)
    return process.run(argv, cwd=str(tmp_path), env=dict(os.environ), timeout=seconds, keys="q")


def test_keys_are_typed_on_a_terminal_after_the_first_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "MOMENT", 0.2)
    program = "import os; assert os.isatty(0) and os.isatty(1); print('shown', flush=True); print(os.read(0, 9))"
    found = terminal_run(tmp_path, program)
    assert (found.exit, found.timed_out) == (0, False)
    assert found.stdout.split() == [b"shown", b"b'q'"]


def test_keys_are_typed_where_nothing_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "AT_MOST", 0.3)
    found = terminal_run(tmp_path, "import os; os.write(2, os.read(0, 9))")
    assert (found.exit, found.stdout, found.stderr) == (0, b"", b"q")


def test_a_terminal_that_ignores_its_keys_ends_at_the_deadline_and_its_text_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "time", LateClock(tmp_path / "so-far"))
    program = "import time; print('shown', flush=True); open('so-far', 'w'); time.sleep(60)"
    found = terminal_run(tmp_path, program, seconds=50)
    assert (found.exit, found.timed_out) == (None, True)
    assert found.stdout.split() == [b"shown"]


@pytest.mark.timeout(5)
def test_a_program_that_shows_something_without_end_keeps_nobody_in_a_pump(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = io.BytesIO()
    with terminal.Terminal("q", kept) as screen, monkeypatch.context() as patch:
        patch.setattr(os, "read", lambda descriptor, size: b"x")
        screen.pump()
    assert kept.getvalue() == b"x" * terminal.AT_ONCE


def test_without_a_terminal_to_be_had_the_command_is_told_as_one_that_cannot_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none() -> tuple[int, int]:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "openpty", none)
    found = terminal_run(tmp_path, "print()")
    assert (found.exit, found.timed_out) == (None, False)
    assert b"No space left" in found.stderr
