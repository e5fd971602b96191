"""image/Dockerfile: its shape, and its RUN steps executed under sh with stand-ins for what changes the system."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

RECIPE = Path(__file__).resolve().parents[2] / "image" / "Dockerfile"
TOOLS = ("userdel", "groupdel", "groupadd", "useradd", "install", "npm", "rm", "apt-get")


def instructions() -> list[tuple[str, str]]:
    """(keyword, rest) of every instruction, continuation lines joined as the builder does, comments dropped."""
    lines = [line for line in RECIPE.read_text().splitlines() if not line.startswith("#")]
    joined = re.sub(r"\\\n", " ", "\n".join(lines))
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in joined.splitlines() if line.strip())]


def run_step(holding: str) -> str:
    (body,) = [rest for word, rest in instructions() if word == "RUN" and holding in rest]
    return body


@dataclass
class Step:
    """A RUN body under sh, with a PATH whose tools only write down how they were called."""

    path: Path
    log: Path
    known_gids: str = ""

    def run(self, holding: str, **arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {**arguments, "PATH": f"{self.path}:/usr/bin:/bin", "LOG": str(self.log), "GIDS": self.known_gids}
        argv = ["/bin/sh", "-c", run_step(holding)]
        return subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=20)

    def calls(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []


@pytest.fixture
def step(tmp_path: Path) -> Step:
    path = tmp_path / "path"
    path.mkdir()
    for tool in TOOLS:
        (path / tool).write_text(f'#!/bin/sh\necho "{tool} $*" >> "$LOG"\n')
    (path / "getent").write_text('#!/bin/sh\ncase " $GIDS " in *" $2 "*) echo x ;; *) exit 2 ;; esac\n')
    for program in path.iterdir():
        program.chmod(0o755)
    return Step(path, tmp_path / "log")


def test_the_recipe_has_no_default_no_entry_and_no_copy() -> None:
    words = [word for word, _ in instructions()]
    assert words[:2] == ["ARG", "FROM"]
    assert words[-3:] == ["LABEL", "WORKDIR", "USER"]
    assert set(words) == {"ARG", "FROM", "RUN", "LABEL", "WORKDIR", "USER"}
    assert [rest for word, rest in instructions() if word == "ARG"] == [
        "BASE_IMAGE=node:22-bookworm-slim",
        "SANDBOX_UID",
        "SANDBOX_GID",
        "CLAUDE_CODE_VERSION",
    ]


def test_labels_and_user_are_the_arguments() -> None:
    last = {word: " ".join(rest.split()) for word, rest in instructions()}
    assert last["LABEL"] == (
        'amap-openshell.claude-code-version="${CLAUDE_CODE_VERSION}" '
        'amap-openshell.run-as="${SANDBOX_UID}:${SANDBOX_GID}"'
    )
    assert (last["WORKDIR"], last["USER"]) == ("/sandbox", "${SANDBOX_UID}:${SANDBOX_GID}")


def test_no_credential_is_spoken_of_outside_of_comments() -> None:
    text = " ".join(rest for _, rest in instructions()).lower()
    assert not re.search(r"key|token|secret|password|anthropic_", text)


def test_only_python_and_bash_are_installed(step: Step) -> None:
    assert step.run("apt-get").returncode == 0
    update, install, remove = step.calls()
    assert (update, install) == ("apt-get update", "apt-get install -y --no-install-recommends python3 bash")
    assert remove.startswith("rm -rf /var/lib/apt/lists/")


def test_the_account_is_made(step: Step) -> None:
    assert step.run("useradd", SANDBOX_UID="1000", SANDBOX_GID="1001").returncode == 0
    assert step.calls() == [
        "userdel node",
        "groupdel node",
        "groupadd --gid 1001 agent",
        "useradd --no-log-init --uid 1000 --gid 1001 --no-create-home --home-dir /sandbox --shell /bin/bash agent",
        "install -d -o 1000 -g 1001 /sandbox",
    ]


def test_a_group_that_exists_is_kept(step: Step) -> None:
    step.known_gids = "100"
    assert step.run("useradd", SANDBOX_UID="4294967294", SANDBOX_GID="100").returncode == 0
    assert not [call for call in step.calls() if call.startswith("groupadd")]


def test_a_useradd_that_fails_ends_the_build(step: Step) -> None:
    (step.path / "useradd").write_text("#!/bin/sh\nexit 4\n")
    assert step.run("useradd", SANDBOX_UID="33", SANDBOX_GID="1001").returncode == 4
    assert not [call for call in step.calls() if call.startswith("install")]


@pytest.mark.parametrize(
    "value", ["", "x", "-1", "+1", "1 ", "1\n", "01", "00", "1000:1000", "4294967295", "99999999999"]
)
@pytest.mark.parametrize("name", ["SANDBOX_UID", "SANDBOX_GID"])
def test_an_account_that_is_no_plain_number_is_refused_before_any_change(step: Step, name: str, value: str) -> None:
    result = step.run("useradd", **{"SANDBOX_UID": "1000", "SANDBOX_GID": "1000", name: value})
    assert result.returncode == 1
    assert name in result.stderr
    assert step.calls() == []


@pytest.mark.parametrize("name", ["SANDBOX_UID", "SANDBOX_GID"])
def test_root_is_refused_before_any_change(step: Step, name: str) -> None:
    result = step.run("useradd", **{"SANDBOX_UID": "1000", "SANDBOX_GID": "1000", name: "0"})
    assert (result.returncode, "root" in result.stderr, step.calls()) == (1, True, [])


def test_an_absent_argument_is_refused(step: Step) -> None:
    assert "SANDBOX_UID" in step.run("useradd", SANDBOX_GID="1000").stderr
    assert "CLAUDE_CODE_VERSION" in step.run("npm").stderr
    assert step.calls() == []


def test_the_exact_version_is_installed_and_the_cache_is_left_out(step: Step) -> None:
    assert step.run("npm", CLAUDE_CODE_VERSION="2.1.284").returncode == 0
    assert step.calls() == ["npm install -g @anthropic-ai/claude-code@2.1.284", "rm -rf /root/.npm"]


def test_a_version_that_npm_cannot_install_is_said_last(step: Step) -> None:
    (step.path / "npm").write_text("#!/bin/sh\necho 'npm error A complete log can be found' >&2\nexit 1\n")
    result = step.run("npm", CLAUDE_CODE_VERSION="2.1.284")
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1].startswith("npm could not install Claude Code 2.1.284: ")
    assert step.calls() == []


@pytest.mark.parametrize(
    "version",
    ["", "latest", "^2", "2", "2.1", "2.1.", ".1.2", "2..1", "1.2.3.4", "1.2.3-rc1", "1.2.3 ", "1.2.3\n4.5.6"],
)
def test_a_version_that_is_not_exact_is_refused(step: Step, version: str) -> None:
    result = step.run("npm", CLAUDE_CODE_VERSION=version)
    assert result.returncode == 1
    assert "CLAUDE_CODE_VERSION" in result.stderr
    assert step.calls() == []
