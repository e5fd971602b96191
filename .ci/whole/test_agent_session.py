"""The session program: first-run questions, precedence of crossSessionInbound, socket and files, receipts, faults."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import agent_bench
import pytest
from agent_bench import Agent, Api
from siblings_bench import REHEARSAL, read, run, until


@pytest.fixture
def runtime() -> Iterator[Path]:
    """A directory short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="cc", dir="/tmp") as folder:
        yield Path(folder)


api = agent_bench.api


@pytest.fixture
def agent(tmp_path: Path, runtime: Path, api: Api) -> Iterator[Agent]:
    made = Agent(tmp_path / "sandbox", runtime, api.url)
    yield made
    if made.process is not None:
        made.stop()


def test_it_names_its_version_and_the_options_that_matter(tmp_path: Path) -> None:
    program = REHEARSAL / "agent/claude.py"
    assert run("/usr/bin/python3", program, "--version").stdout == "2.1.284 (Claude Code)\n"
    text = run("/usr/bin/python3", program, "--help").stdout
    for option in ("--settings", "--dangerously-skip-permissions", "--mcp-config"):
        assert option in text
    assert "--append-system-prompt-file" not in text


def test_it_refuses_a_flag_that_it_does_not_know_by_name(tmp_path: Path) -> None:
    words = ("--settings", "{}", "--append-system-prompt-file", "{}", "--no-such-flag", "--nor-this")
    refused = run("/usr/bin/python3", REHEARSAL / "agent/claude.py", *words)
    assert (refused.returncode, refused.stderr) == (1, "error: unknown option '--no-such-flag'\n")


def test_socket_registry_and_key_are_where_a_lister_looks(agent: Agent, api: Api) -> None:
    agent.start()
    record = agent.ready()
    path, pid = Path(record["messagingSocketPath"]), record["pid"]
    assert path == agent.runtime / "cc-socks" / f"{pid}.sock"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    key = agent.home / f".claude/sessions/{pid}.{hashlib.sha256(str(path).encode()).hexdigest()}.key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert len(read(key)["peerToken"]) == 32
    assert agent.record.read_text() == str(path)
    assert record["cwd"] == str(agent.home)
    until(lambda: [call[:2] for call in api.calls] == [("HEAD", "/api/hello")])
    agent.stop()
    assert path.exists()
    assert key.exists()


def _no_onboarding(agent: Agent) -> None:
    del agent.answers["hasCompletedOnboarding"]


def _no_trust(agent: Agent) -> None:
    agent.answers["projects"] = {}


def _no_key(agent: Agent) -> None:
    agent.answers["customApiKeyResponses"]["approved"] = []


def _no_bypass(agent: Agent) -> None:
    del agent.settings["skipDangerousModePermissionPrompt"]


def _bad_local(agent: Agent) -> None:
    (agent.home / ".claude/settings.local.json").write_text('{"crossSessionInbound": "maybe"}')


def _fault(agent: Agent) -> None:
    agent.faults.write_text('{"first_run_question": true}')


QUESTIONS = {
    "style": (_no_onboarding, "Choose the text style"),
    "trust": (_no_trust, "one you trust?"),
    "key": (_no_key, "custom API key"),
    "bypass": (_no_bypass, "Bypass Permissions mode"),
    "settings": (_bad_local, "Settings Warning"),
    "fault": (_fault, "Choose the text style"),
}


@pytest.mark.parametrize(("remove", "question"), QUESTIONS.values(), ids=QUESTIONS.keys())
def test_an_unanswered_question_stops_the_start(agent: Agent, remove: Callable[[Agent], None], question: str) -> None:
    remove(agent)
    agent.start()
    agent.waits_at(question)


PRECEDENCE: dict[str, tuple[str | None, dict[str, str], str | None]] = {
    "flag accepts": ("accept", {}, None),
    "nothing set, bypass": (None, {}, "held"),
    "flag accepts, local refuses": ("accept", {"settings.local.json": "refuse"}, "refused"),
    "flag accepts, the file that is user and project refuses": ("accept", {"settings.json": "refuse"}, "refused"),
    "flag accepts, local holds": ("accept", {"settings.local.json": "hold"}, "held"),
    "flag holds, both files accept": ("hold", {"settings.json": "accept", "settings.local.json": "accept"}, "held"),
}


@pytest.mark.parametrize(("flag", "files", "receipt"), PRECEDENCE.values(), ids=PRECEDENCE.keys())
def test_files_of_the_agent_only_tighten(
    agent: Agent, flag: str | None, files: dict[str, str], receipt: str | None
) -> None:
    agent.settings.pop("crossSessionInbound")
    if flag is not None:
        agent.settings["crossSessionInbound"] = flag
    for name, value in files.items():
        (agent.home / ".claude" / name).write_text(json.dumps({"crossSessionInbound": value}))
    agent.start()
    got = agent.send("hello", wait=20 if receipt else 0.4)
    if receipt is None:
        assert got is None
        until(lambda: len(agent.turns) == 2)
        assert agent.turns[0]["message"]["content"].endswith("hello")
    else:
        assert got is not None
        assert receipt in (got["status"], got.get("status_detail"))
        assert agent.turns == []


def test_a_user_file_elsewhere_is_outranked_by_the_flag(agent: Agent, tmp_path: Path) -> None:
    other = tmp_path / "project"
    other.mkdir()
    agent.answers["projects"][str(other)] = {"hasTrustDialogAccepted": True}
    (agent.home / ".claude/settings.json").write_text('{"crossSessionInbound": "refuse"}')
    source = agent.program.read_text().replace("    main()\n", f"    os.chdir({str(other)!r})\n    main()\n")
    agent.program.write_text(source)
    agent.start()
    assert agent.send("hello") is None
    until(lambda: len(agent.turns) == 2)


@pytest.mark.parametrize("inbound", ["accept", "refuse"])
def test_a_reply_socket_in_a_foreign_directory_gets_silence_and_no_turn(
    agent: Agent, inbound: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    agent.settings["crossSessionInbound"] = inbound
    agent.start()
    with tempfile.TemporaryDirectory(prefix="far", dir="/tmp") as folder:
        assert agent.send("hello", Path(folder)) is None
    assert agent.turns == []


FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "never_turn": ({"never_turn": True}, "accept"),
    "silent_refuse": ({"silent_refuse": True}, "refuse"),
}


@pytest.mark.parametrize(("fault", "inbound"), FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_makes_silence_a_lie(agent: Agent, fault: dict[str, Any], inbound: str) -> None:
    agent.faults.write_text(json.dumps(fault))
    agent.settings["crossSessionInbound"] = inbound
    agent.start()
    assert agent.send("hello") is None
    assert agent.turns == []


def test_no_key_file(agent: Agent) -> None:
    agent.faults.write_text('{"no_key_file": true}')
    agent.start()
    agent.ready()
    assert not list((agent.home / ".claude/sessions").glob("*.key"))


def test_no_socket_at_all(agent: Agent) -> None:
    agent.faults.write_text('{"no_socket": true}')
    agent.start()
    until(lambda: "Ready." in agent.screen)
    assert agent.record.read_text() == ""
    assert not (agent.home / ".claude/sessions").exists()


def test_a_socket_elsewhere(agent: Agent) -> None:
    with tempfile.TemporaryDirectory(prefix="far", dir="/tmp") as folder:
        agent.faults.write_text(json.dumps({"socket_dir": folder}))
        agent.start()
        assert Path(agent.ready()["messagingSocketPath"]).parent == Path(folder)


def test_two_sessions_live_and_die_together(agent: Agent) -> None:
    agent.faults.write_text('{"two_sessions": true}')
    agent.start()
    sessions = agent.home / ".claude/sessions"
    until(lambda: len(list(sessions.glob("*.json"))) == 2)
    assert agent.process is not None
    (twin,) = (int(path.stem) for path in sessions.glob("*.json") if int(path.stem) != agent.process.pid)
    assert b"claude" in Path(f"/proc/{twin}/cmdline").read_bytes()
    agent.stop()
    until(lambda: not _alive(twin))


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_directory_others_may_write_is_passed_over(agent: Agent) -> None:
    agent.runtime.chmod(0o777)
    agent.start()
    path = Path(agent.ready()["messagingSocketPath"])
    path.unlink()
    assert path.parent == Path(f"/tmp/cc-socks-{os.getuid()}")
