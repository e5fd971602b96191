"""claude-seed as a program: what it adds, what it keeps, what it refuses and leaves as it was."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SEED = Path(__file__).resolve().parents[2] / "kit" / "payload" / "claude-seed"
KEY = "openshell:resolve:env:ANTHROPIC_API_KEY"
SUFFIX = KEY[-20:]


class Sandbox:
    """A home, a working directory and a claude that prints a version."""

    def __init__(self, root: Path) -> None:
        self.home, self.workspace, self.path = root / "home", root / "workspace", root / "path"
        for directory in (self.home, self.workspace, self.path):
            directory.mkdir()
        self.environment = {"HOME": str(self.home), "PATH": f"{self.path}:/usr/bin:/bin", "ANTHROPIC_API_KEY": KEY}
        self.claude('echo "2.1.284 (Claude Code)"')

    @property
    def file(self) -> Path:
        return self.home / ".claude.json"

    def claude(self, body: str) -> None:
        (self.path / "claude").write_text(f"#!/bin/sh\n{body}\n")
        (self.path / "claude").chmod(0o755)

    def seed(self) -> subprocess.CompletedProcess[str]:
        argv = [sys.executable, str(SEED)]
        return subprocess.run(
            argv, env=self.environment, cwd=self.workspace, capture_output=True, text=True, timeout=30
        )

    def document(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.file.read_text())
        return document


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    return Sandbox(tmp_path)


def test_a_new_file_holds_the_four_answers_and_is_private(sandbox: Sandbox) -> None:
    result = sandbox.seed()
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert sandbox.document() == {
        "hasCompletedOnboarding": True,
        "lastOnboardingVersion": "2.1.284",
        "projects": {str(sandbox.workspace): {"hasTrustDialogAccepted": True}},
        "customApiKeyResponses": {"approved": [SUFFIX]},
    }
    assert sandbox.file.stat().st_mode & 0o7777 == 0o600
    assert os.listdir(sandbox.home) == [".claude.json"]


def test_what_is_there_stays(sandbox: Sandbox) -> None:
    old = {
        "theme": "dark",
        "hasCompletedOnboarding": False,
        "lastOnboardingVersion": "1.0.0",
        "projects": {"/other": {"x": 1}, str(sandbox.workspace): {"hasTrustDialogAccepted": False}},
        "customApiKeyResponses": {"approved": ["other"], "rejected": ["r"]},
    }
    sandbox.file.write_text(json.dumps(old))
    sandbox.file.chmod(0o640)
    assert sandbox.seed().returncode == 0
    assert sandbox.document() == {**old, "customApiKeyResponses": {"approved": ["other", SUFFIX], "rejected": ["r"]}}
    assert sandbox.file.stat().st_mode & 0o7777 == 0o640


def test_what_claude_writes_while_its_version_is_asked_stays(sandbox: Sandbox) -> None:
    sandbox.claude('echo \'{"userID": "u"}\' > "$HOME/.claude.json"; echo "2.1.284 (Claude Code)"')
    assert sandbox.seed().returncode == 0
    assert (sandbox.document()["userID"], sandbox.document()["lastOnboardingVersion"]) == ("u", "2.1.284")


def test_a_second_run_does_not_write(sandbox: Sandbox) -> None:
    sandbox.seed()
    before = sandbox.file.stat()
    assert sandbox.seed().returncode == 0
    after = sandbox.file.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


DEEP = '{"a": ' * 700 + "1" + "}" * 700


@pytest.mark.parametrize(
    "text",
    [
        DEEP,
        "[" * 100_000,
        "",
        "{",
        "[]",
        '{"projects": []}',
        '{"projects": {"WORKSPACE": 1}}',
        '{"customApiKeyResponses": []}',
        '{"customApiKeyResponses": {"approved": {}}}',
    ],
)
def test_a_file_of_another_shape_is_left_alone(sandbox: Sandbox, text: str) -> None:
    text = text.replace("WORKSPACE", str(sandbox.workspace))
    sandbox.file.write_text(text)
    result = sandbox.seed()
    assert result.returncode == 1
    assert result.stderr.startswith("claude-seed: ")
    assert len(result.stderr.splitlines()) == 1
    assert sandbox.file.read_text() == text


def test_a_symlink_and_a_directory_are_refused(sandbox: Sandbox, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("{}")
    sandbox.file.symlink_to(target)
    assert sandbox.seed().returncode == 1
    assert target.read_text() == "{}"
    sandbox.file.unlink()
    sandbox.file.mkdir()
    assert sandbox.seed().returncode == 1


def test_a_fifo_and_bytes_that_are_no_text_are_refused(sandbox: Sandbox) -> None:
    os.mkfifo(sandbox.file)
    assert "no regular file" in sandbox.seed().stderr
    sandbox.file.unlink()
    sandbox.file.write_bytes(b'{"a": "\xff"}')
    assert "no JSON document" in sandbox.seed().stderr
    assert sandbox.file.read_bytes() == b'{"a": "\xff"}'


@pytest.mark.parametrize("home", ["absent", "a file"])
def test_a_home_that_cannot_be_written_is_one_sentence(sandbox: Sandbox, home: str) -> None:
    """Also for root, whom no mode keeps out."""
    place = sandbox.home / "inner"
    if home == "a file":
        place.touch()
    sandbox.environment["HOME"] = str(place)
    result = sandbox.seed()
    assert (result.returncode, result.stdout, len(result.stderr.splitlines())) == (1, "", 1)
    assert result.stderr.startswith(f"claude-seed: {place}/.")


@pytest.mark.parametrize(
    ("name", "value"), [("HOME", None), ("HOME", ""), ("ANTHROPIC_API_KEY", None), ("ANTHROPIC_API_KEY", "k" * 20)]
)
def test_the_environment_is_needed(sandbox: Sandbox, name: str, value: str | None) -> None:
    del sandbox.environment[name]
    if value is not None:
        sandbox.environment[name] = value
    result = sandbox.seed()
    assert result.returncode == 1
    assert name in result.stderr
    assert not sandbox.file.exists()


@pytest.mark.parametrize("body", ["exit 1", "echo unknown", "true", "echo v2.1"])
def test_a_claude_without_version_is_refused(sandbox: Sandbox, body: str) -> None:
    sandbox.claude(body)
    result = sandbox.seed()
    assert (result.returncode, "claude --version" in result.stderr) == (1, True)
    assert not sandbox.file.exists()


def test_the_key_is_never_shown(sandbox: Sandbox) -> None:
    key = "sk-ant-secret-0123456789abcdefghij"
    sandbox.environment["ANTHROPIC_API_KEY"] = key
    assert sandbox.seed().stdout == ""
    assert key not in sandbox.file.read_text()
    sandbox.file.write_text("[]")
    stderr = sandbox.seed().stderr
    assert key[-20:] not in stderr
