"""openshell-sessions against a staged /proc, and against real processes with a real socket."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

PAYLOAD = Path(__file__).resolve().parents[2] / "kit" / "payload"
MAIN, SUPERVISOR, CLAUDE, LISTER = 4194400, 4194401, 4194402, 4194403  # above the usual pid_max


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """Short enough for a socket's path, wherever TMPDIR is."""
    with tempfile.TemporaryDirectory(prefix="lister", dir="/tmp") as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def lister() -> ModuleType:
    """The program as a module that nobody registered, as a probe inside a sandbox loads it."""
    loader = importlib.machinery.SourceFileLoader("lister_under_test", str(PAYLOAD / "openshell-sessions"))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    writing, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = writing
    return module


class Stage:
    """A /proc and a home in a temporary directory: amap-main, its supervisor, claude and the lister."""

    def __init__(self, root: Path) -> None:
        self.proc, self.home = root / "proc", root / "home"
        self.sessions, self.records = self.home / ".claude" / "sessions", self.home / ".claude" / "amap-sessions"
        for directory in (self.proc, self.sessions, self.records):
            directory.mkdir(parents=True)
        (self.proc / "self").mkdir()
        self.process(1, 0, "init", "init")
        self.process(MAIN, 1, "amap-main", "/bin/sh", "/opt/amap/payload/amap-main")
        self.process(SUPERVISOR, MAIN, "amap-main", "/bin/sh", "/opt/amap/payload/amap-main")
        self.process(CLAUDE, MAIN, "claude", "claude", "--settings", "x")
        self.process(LISTER, SUPERVISOR, "python3", "python3", "/opt/amap/payload/inbox-delivery")
        self.socket = root / "s.sock"
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.socket))
        self.record(CLAUDE)
        self.key(CLAUDE, "a1")

    def process(
        self, pid: int, parent: int, comm: str, *argv: str | bytes, start: str = "777", state: str = "S"
    ) -> None:
        directory = self.proc / str(pid)
        directory.mkdir(exist_ok=True)
        between = " ".join(["0"] * 17)  # fields 5 to 21
        name = comm.encode("utf-8", "surrogateescape")
        (directory / "stat").write_bytes(b"%d (%s) %s %d " % (pid, name, state.encode(), parent))
        with (directory / "stat").open("a") as stream:
            stream.write(f"{between} {start} 0 0\n")
        words = (word if isinstance(word, bytes) else word.encode() for word in argv)
        (directory / "cmdline").write_bytes(b"".join(word + b"\0" for word in words))

    def record(self, session: int, **changes: Any) -> None:
        content = {"socket": str(self.socket), "pid": session, "start_time": "777", **changes}
        (self.records / f"{session}.json").write_text(json.dumps(content))

    def key(self, pid: int, identity: str, text: str = '{"peerToken": "secret"}') -> Path:
        path = self.sessions / f"{pid}.{identity}.key"
        path.write_text(text)
        return path

    def descriptors(self, inode: int, *, held: bool) -> None:
        """Stage what the kernel says about the socket and who holds it."""
        session = self.proc / str(CLAUDE)
        (session / "net").mkdir()
        (session / "net" / "unix").write_text(
            "Num       RefCount Protocol Flags    Type St Inode Path\n"
            f"0000000000000000: 00000002 00000000 00010000 0001 01 {inode} {self.socket}\n"
            "0000000000000000: 00000003 00000000 00000000 0001 03 99\n"
        )
        (session / "fd").mkdir()
        (session / "fd" / "5").symlink_to(f"socket:[{inode if held else inode + 1}]")


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    made = Stage(tmp_path)
    yield made
    made.listener.close()


def columns(lister: ModuleType, stage: Stage, start: int = LISTER) -> list[list[str]]:
    return [row.split("\t") for row in lister.rows(str(stage.proc), str(stage.home), start)]


def test_one_session_is_one_row_with_socket_and_key(lister: ModuleType, stage: Stage) -> None:
    key = stage.sessions / f"{CLAUDE}.a1.key"
    assert columns(lister, stage) == [["claude", "-", "-", str(CLAUDE), str(stage.socket), str(key)]]
    assert columns(lister, stage, start=MAIN) == columns(lister, stage)


def test_no_session_is_no_row(lister: ModuleType, stage: Stage) -> None:
    shutil.rmtree(stage.proc / str(CLAUDE))
    assert columns(lister, stage) == []


def test_a_nested_claude_is_a_second_row_and_one_elsewhere_is_none(lister: ModuleType, stage: Stage) -> None:
    stage.process(70, CLAUDE, "bash", "bash")
    stage.process(71, 70, "node", "node", "/usr/bin/claude", "-p")
    stage.process(72, 1, "claude", "claude")
    stage.process(73, CLAUDE, "grep", "grep", "-r", "claude")
    assert [row[3] for row in columns(lister, stage)] == ["71", str(CLAUDE)]


def test_below_no_main_process_there_is_no_answer(lister: ModuleType, stage: Stage) -> None:
    stage.process(80, 1, "python3", "python3", "x")
    with pytest.raises(lister.CannotList, match="amap-main"):
        columns(lister, stage, start=80)


def test_a_loop_of_parents_ends(lister: ModuleType, stage: Stage) -> None:
    stage.process(90, 91, "claude", "claude")
    stage.process(91, 90, "sh", "sh")
    assert [row[3] for row in columns(lister, stage)] == [str(CLAUDE)]


def test_a_name_with_parentheses_and_garbled_neighbours(lister: ModuleType, stage: Stage) -> None:
    stage.process(95, MAIN, "a) S 1 (b", "claude")
    (stage.proc / "96").mkdir()
    (stage.proc / "97").mkdir()
    (stage.proc / "97" / "stat").write_text("97 (x")
    (stage.proc / "97" / "cmdline").write_text("")
    table = lister.process_table(str(stage.proc))
    assert (table[95].parent, table[95].comm) == (MAIN, "a) S 1 (b")
    assert {96, 97}.isdisjoint(table)


@pytest.mark.parametrize("state", ["Z", "X"])
def test_a_dead_session_is_no_session_and_hides_no_living_one(lister: ModuleType, stage: Stage, state: str) -> None:
    """One that nobody waits for would make the living one ambiguous for good."""
    stage.process(70, CLAUDE, "claude", state=state)
    assert [row[3] for row in columns(lister, stage)] == [str(CLAUDE)]
    stage.process(CLAUDE, MAIN, "claude", state=state)
    assert columns(lister, stage) == []


@pytest.mark.parametrize(
    ("comm", "argv", "listed"),
    [
        ("node", (b"node", b"/opt/\xff\xfe/claude"), True),
        ("cla\nude", (b"/usr/bin/claude\n",), False),
        ("node", (b"node\n", b"/a\nb/claude"), True),
        ("\udcff) Z 1 (", (b"claude",), True),
        ("a claude", (b"x" * 200_000, b"/claude"), False),
        ("claude", (b"x" * 200_000,), True),
        ("claude", (), True),
        ("Claude", (b"claude.exe",), False),
        ("node", (b"node", b"--flag", b"claude"), False),
    ],
)
def test_names_and_command_lines_of_any_kind(
    lister: ModuleType, stage: Stage, comm: str, argv: tuple[bytes, ...], listed: bool
) -> None:
    stage.process(70, MAIN, comm, *argv)
    assert [row[3] for row in columns(lister, stage)] == ["70"] * listed + [str(CLAUDE)]


@pytest.mark.parametrize("name", ["stat", "cmdline"])
def test_a_process_that_goes_between_two_reads_is_left_out(lister: ModuleType, stage: Stage, name: str) -> None:
    (stage.proc / str(CLAUDE) / name).unlink()
    assert columns(lister, stage) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"pid": CLAUDE + 1},
        {"pid": True},
        {"pid": str(CLAUDE)},
        {"start_time": "778"},
        {"start_time": 777},
        {"socket": "s.sock"},
        {"socket": "/nowhere/s.sock"},
        {"socket": "/etc/passwd"},
        {"socket": None},
        {"socket": "/a\0b"},
    ],
)
def test_a_record_that_does_not_fit_gives_no_socket(
    lister: ModuleType, stage: Stage, changes: dict[str, object]
) -> None:
    stage.record(CLAUDE, **changes)
    assert columns(lister, stage)[0][4] == "-"


def test_a_record_that_is_no_small_regular_file_gives_no_socket(lister: ModuleType, stage: Stage) -> None:
    record = stage.records / f"{CLAUDE}.json"
    good = record.read_text()
    record.write_text(good + " " * 65536)
    assert columns(lister, stage)[0][4] == "-"
    record.unlink()
    (stage.records / "real").write_text(good)
    record.symlink_to(stage.records / "real")
    assert columns(lister, stage)[0][4] == "-"
    record.unlink()
    os.mkfifo(record)
    assert columns(lister, stage)[0][4] == "-"


@pytest.mark.parametrize(("held", "shown"), [(True, True), (False, False)])
def test_a_socket_must_be_held_by_the_session(lister: ModuleType, stage: Stage, held: bool, shown: bool) -> None:
    stage.descriptors(4711, held=held)
    assert (columns(lister, stage)[0][4] == str(stage.socket)) is shown


def test_descriptors_that_may_be_listed_and_not_read_decide_nothing(lister: ModuleType, stage: Stage) -> None:
    stage.descriptors(4711, held=False)
    (stage.proc / str(CLAUDE) / "fd" / "6").touch()  # readlink fails, as it does from outside a Landlock domain
    assert columns(lister, stage)[0][4] == str(stage.socket)


def test_a_path_with_white_space_is_unknown(lister: ModuleType, stage: Stage, tmp_path: Path) -> None:
    odd = tmp_path / "a b.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(odd))
        stage.record(CLAUDE, socket=str(odd))
        assert columns(lister, stage)[0][4:] == ["-", str(stage.sessions / f"{CLAUDE}.a1.key")]


@pytest.mark.parametrize("name", [b"\xff.key", b"a\tb.key", b"a\nb.key", b"\x1b[2J.key", "\u2028.key".encode()])
def test_a_key_file_whose_name_cannot_be_printed_is_unknown(lister: ModuleType, stage: Stage, name: bytes) -> None:
    (stage.sessions / f"{CLAUDE}.a1.key").unlink()
    (stage.sessions / f"{CLAUDE}.{os.fsdecode(name)}").write_text('{"peerToken": "x"}')
    (row,) = lister.rows(str(stage.proc), str(stage.home), LISTER)
    assert row.encode().count(b"\t") == 5
    assert row.isascii()
    assert row.endswith("\t-")


def test_exactly_one_valid_key_counts(lister: ModuleType, stage: Stage) -> None:
    valid = str(stage.sessions / f"{CLAUDE}.a1.key")
    stage.key(CLAUDE, "empty", '{"peerToken": ""}')
    stage.key(CLAUDE, "list", "[]")
    stage.key(int(f"{CLAUDE}0"), "a1")
    (stage.sessions / f"{CLAUDE}..key").write_text('{"peerToken": "x"}')
    assert columns(lister, stage)[0][5] == valid
    stage.key(CLAUDE, "b2")
    assert columns(lister, stage)[0][5] == "-"


def run_lister(**environment: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, str(PAYLOAD / "openshell-sessions")]
    return subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=20)


def test_the_program_exits_2_where_it_cannot_work(tmp_path: Path) -> None:
    for environment in ({}, {"HOME": ""}, {"HOME": str(tmp_path)}):
        result = run_lister(**environment)
        assert (result.returncode, result.stdout) == (2, "")
        assert result.stderr.startswith("openshell-sessions: ")
        assert len(result.stderr.splitlines()) == 1


SESSION = """
import json, os, pathlib, select, socket, subprocess, sys
path = os.environ["HOME"] + "/s.sock"
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen()
keys = pathlib.Path(os.environ["HOME"], ".claude", "sessions")
keys.mkdir(parents=True)
(keys / f"{os.getpid()}.k.key").write_text(json.dumps({"peerToken": "t"}))
environment = {**os.environ, "CLAUDE_CODE_MESSAGING_SOCKET": path, "CLAUDE_CODE_MESSAGING_TOKEN": "child-token"}
hook = subprocess.run(["sh", "-c", sys.argv[1]], env=environment, capture_output=True, text=True)
pathlib.Path(os.environ["HOME"], "hook").write_text(f"{hook.returncode} {hook.stdout!r} {hook.stderr!r}")
again = pathlib.Path(os.environ["HOME"], "again")
while not select.select([sys.stdin], [], [], 0.02)[0]:
    if again.exists():
        again.unlink()
        closed = subprocess.run(["sh", "-c", sys.argv[1] + " >&- <&-"], env=environment)
        pathlib.Path(os.environ["HOME"], "closed").write_text(f"{closed.returncode}")
"""


@pytest.fixture
def session_home(tmp_path: Path) -> Iterator[Path]:
    """amap-main (a shell of that name) > claude (a Python of that name), whose SessionStart hook has run."""
    home, programs = tmp_path / "home", tmp_path / "programs"
    home.mkdir()
    programs.mkdir()
    claude, main = programs / "claude", programs / "amap-main"
    claude.write_text(f"#!{sys.executable}\n{SESSION}")
    main.write_text(
        "#!/bin/sh\nexec 3<&0\n"
        f"'{claude}' '{sys.executable} {PAYLOAD / 'claude-session-start'}' <&3 &\n"
        f"while [ ! -e '{home}/go' ]; do sleep 0.02; done\n"
        f"'{sys.executable}' '{PAYLOAD / 'openshell-sessions'}' > '{home}/rows'\n"
        f"mv '{home}/rows' '{home}/listed'\nwait\n"
    )
    claude.chmod(0o755)
    main.chmod(0o755)
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    process = subprocess.Popen([str(main)], env=environment, stdin=subprocess.PIPE)
    yield home
    (home / "go").touch()
    assert process.stdin is not None
    process.stdin.close()
    process.wait(timeout=20)


def wait_for(path: Path) -> str:
    deadline = time.monotonic() + 10
    while not (path.exists() and path.read_text()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return path.read_text()


def test_hook_and_lister_agree_about_a_real_session(session_home: Path) -> None:
    assert wait_for(session_home / "hook") == "0 '' ''"
    (session_home / "go").touch()
    row = wait_for(session_home / "listed").rstrip("\n").split("\t")
    records = session_home / ".claude" / "amap-sessions"
    (record,) = records.iterdir()
    content = json.loads(record.read_text())
    assert row[:3] == ["claude", "-", "-"]
    assert row[3] == record.stem == str(content["pid"])
    assert row[4] == content["socket"] == str(session_home / "s.sock")
    assert row[5].endswith(f"/{content['pid']}.k.key")
    assert set(content) == {"socket", "pid", "start_time"}
    assert (records.stat().st_mode & 0o7777, record.stat().st_mode & 0o7777) == (0o700, 0o600)


def run_hook(**environment: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, str(PAYLOAD / "claude-session-start")]
    return subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=20)


def test_the_hook_needs_no_stdout_and_writes_none(session_home: Path) -> None:
    """Claude Code would add what it writes to the session's context; a closed stdout must not catch the record."""
    assert wait_for(session_home / "hook") == "0 '' ''"
    (record,) = (session_home / ".claude" / "amap-sessions").iterdir()
    before = record.stat().st_ino
    (session_home / "again").touch()
    assert wait_for(session_home / "closed") == "0"
    assert record.stat().st_ino != before
    assert json.loads(record.read_text())["socket"] == str(session_home / "s.sock")


@pytest.mark.parametrize("missing", ["HOME", "CLAUDE_CODE_MESSAGING_SOCKET", "session"])
def test_the_hook_writes_nothing_without_home_socket_or_session(tmp_path: Path, missing: str) -> None:
    environment = {"HOME": str(tmp_path), "CLAUDE_CODE_MESSAGING_SOCKET": "/tmp/x.sock"}
    if missing != "session":
        environment[missing] = ""
    result = run_hook(**environment)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("claude-session-start: ")
    assert len(result.stderr.splitlines()) == 1
    assert not any(tmp_path.iterdir())
