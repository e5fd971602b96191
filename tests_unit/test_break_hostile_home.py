"""Probes run in the agent's own directory and home: nothing that lies there is executed, followed or waited for."""

from __future__ import annotations

import json
import os
import resource
import site
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_amap import probes
from pytest_amap.observations import Ran

FORGED = f'print({probes.MARK!r} + \'{{"errno": "EROFS", "forged": true}}\')\nraise SystemExit\n'
PROGRAMS = {
    "create": probes.create("/nowhere/x", remove=False),
    "append": probes.append("/nowhere"),
    "names_in": probes.names_in("/nowhere"),
    "read": probes.read("/nowhere"),
    "ids": probes.ids(),
    "state": probes.state("/nowhere", "x"),
    "directory": probes.directory("/nowhere"),
    "turns": probes.turns("/nowhere", "x"),
    "sessions": probes.sessions("/nowhere", "/nowhere"),
}


def run(argv: tuple[str, ...], home: Path, **more: object) -> Ran:
    done = subprocess.run(
        [sys.executable, *argv[1:]],
        cwd=home,
        env={"HOME": os.fspath(home), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
        **more,
    )
    return Ran(argv, done.returncode, done.stdout, done.stderr, "", "")


@pytest.fixture
def agents_home(tmp_path: Path) -> Path:
    """What an agent may leave in /sandbox to have its own say: modules by the library's names, and a start-up file."""
    for name in ("json", "glob", "stat", "errno", "os"):
        (tmp_path / f"{name}.py").write_text(FORGED)
    packages = tmp_path / ".local/lib" / Path(site.getusersitepackages()).parent.name / "site-packages"
    packages.mkdir(parents=True)
    (packages / "usercustomize.py").write_text(FORGED)
    return tmp_path


@pytest.mark.parametrize("argv", PROGRAMS.values(), ids=PROGRAMS)
def test_no_file_of_an_agent_answers_in_a_probes_place(agents_home, argv):
    assert "forged" not in run(argv, agents_home).stdout


def transcripts(home: Path) -> Path:
    folder = home / ".claude/projects/p"
    folder.mkdir(parents=True)
    return folder


def test_a_transcript_that_is_no_file_is_neither_waited_for_nor_followed(tmp_path):
    folder = transcripts(tmp_path)
    os.mkfifo(folder / "a.jsonl")
    (tmp_path / "elsewhere").write_text(json.dumps({"message": {"role": "user", "content": "needle"}}))
    (folder / "b.jsonl").symlink_to(tmp_path / "elsewhere")
    (folder / "c.jsonl").mkdir()
    with (folder / "d.jsonl").open("w") as endless:
        endless.truncate(1 << 40)
    turn = {"type": "user", "message": {"role": "user", "content": "needle"}}
    (folder / "e.jsonl").write_text(f'["needle"]\n{json.dumps(turn)}')
    found = probes.answer(run(probes.turns(os.fspath(tmp_path), "needle"), tmp_path))
    assert [(entry["role"], entry["tool"]) for entry in found["found"]] == [("user", False)]


@pytest.mark.parametrize("limit", [0, 5])
def test_a_settings_file_that_could_not_be_written_whole_is_not_left_behind(tmp_path, limit):
    path = tmp_path / "settings.local.json"

    def small() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    found = probes.answer(run(probes.put(os.fspath(path), '{"a": "b"}'), tmp_path, preexec_fn=small))
    assert found["errno"]
    assert not path.exists()


def test_a_settings_file_is_written_whole(tmp_path):
    path = tmp_path / ".claude/settings.local.json"
    assert probes.answer(run(probes.put(os.fspath(path), '{"a": "b"}'), tmp_path))["errno"] is None
    assert path.read_text() == '{"a": "b"}'
    assert probes.answer(run(probes.put(os.fspath(path), "x"), tmp_path))["errno"] == "EEXIST"
    assert path.read_text() == '{"a": "b"}'
