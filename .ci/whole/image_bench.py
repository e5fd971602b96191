"""Step 1 on a host whose Docker is real and whose OpenShell only answers step 0, as an account that is not root."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from docker_daemon import Daemon
from posture_samples import HELP, gateway_toml
from rehearsing import CHECKOUT, latest
from scripted_lab import scripted_lab

from pytest_amap.host import host as real
from pytest_amap.steps import image

VERSION = "2.1.284"
"""A Claude Code that the registry has."""

UID, GID = 1234, 2345
KEY = "sk-ant-api03-not-a-key-of-anybody"
SIBLINGS = CHECKOUT / "pytest_amap" / "rehearsal" / "siblings"
CHECKED_OUT = ("conftest.py", "pyproject.toml", "pytest_amap", "tests_live", "kit", "image", "examples")
OPENSHELL = f"""\
#!/bin/sh
case "$*" in
    *--version) echo "openshell 0.1.2" ;;
    *--help) echo "{HELP}" ;;
    *) echo "this one only answers step 0" >&2; exit 1 ;;
esac
"""


@dataclass(frozen=True)
class Done:
    """How a run of the suite ended: its exit code, what it printed, and the steps of its results."""

    code: int
    text: str
    steps: dict[str, dict[str, Any]]

    @property
    def image(self) -> str:
        """How step 1 ended."""
        return str(self.steps["agent_image"]["outcome"])

    @property
    def reason(self) -> str:
        """Why step 1 failed."""
        return str(self.steps["agent_image"]["reason"])


@dataclass(frozen=True)
class Host:
    """A checkout of its own, whose recipe may be changed, and the docker that its runs build with."""

    root: Path
    daemon: Daemon
    builder: str
    """DOCKER_BUILDKIT's value."""

    @classmethod
    def new(cls, root: Path, daemon: Daemon, builder: str) -> Host:
        for name in ("bin", "checkout", "config/openshell"):
            (root / name).mkdir(parents=True)
        for name in ("openshell", "openshell-gateway"):
            (root / "bin" / name).write_text(OPENSHELL)
            (root / "bin" / name).chmod(0o755)
        os.symlink(daemon.client, root / "bin" / "docker")
        for name in CHECKED_OUT:
            subprocess.run(["cp", "-a", CHECKOUT / name, root / "checkout" / name], check=True)
        return cls(root, daemon, builder)

    @property
    def checkout(self) -> Path:
        return self.root / "checkout"

    @property
    def recipe(self) -> Path:
        return self.checkout / "image" / "Dockerfile"

    def digest(self) -> str:
        return hashlib.sha256(self.recipe.read_bytes()).hexdigest()

    def build(self, recipe: str, *words: str) -> subprocess.CompletedProcess[str]:
        """`docker build` of a recipe that needs no file beside it."""
        with tempfile.TemporaryDirectory() as context:
            Path(context, "Dockerfile").write_text(recipe)
            return self.daemon.docker("build", *words, context, DOCKER_BUILDKIT=self.builder)

    def run(self, *arguments: str, version: str = VERSION) -> Done:
        """`pytest tests_live --apply ARGUMENTS`."""
        home, port = self.root / "home", free_port()
        (self.root / "config" / "openshell" / "gateway.toml").write_text(gateway_toml(port))
        account = ("unshare", "--user", f"--map-user={UID}", f"--map-group={GID}")
        own = ("tests_live", "--apply", "--amap-home", str(home), f"--override-ini=amap_port={port}")
        done = subprocess.run(
            [*account, sys.executable, "-m", "pytest", *own, "-p", "no:cacheprovider", *arguments],
            cwd=self.checkout,
            env=self.environ(version),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
        )
        if "Landlock ABI" in done.stdout:
            pytest.skip(next(line for line in done.stdout.splitlines() if "Landlock ABI" in line))
        return Done(done.returncode, done.stdout, steps(home))

    def environ(self, version: str) -> dict[str, str]:
        ambient = ("PYTEST_", "OPENSHELL_", "AMAP_", "COV_", "PYTHONPATH")
        kept = {name: value for name, value in self.daemon.environ.items() if not name.startswith(ambient)}
        return kept | {
            "PATH": f"{self.root / 'bin'}:{kept['PATH']}",
            "HOME": str(self.root),
            "XDG_CONFIG_HOME": str(self.root / "config"),
            "DOCKER_BUILDKIT": self.builder,
            "CLAUDE_CODE_VERSION": version,
            "ANTHROPIC_API_KEY": KEY,
            "AMAP_ROUTER_REPO": str(SIBLINGS / "amap-router-local"),
            "AMAP_CONNECTOR_REPO": str(SIBLINGS / "amap-connector-claude"),
            "AMAP_SPEC_DIR": str(SIBLINGS / "amap-spec"),
        }


def step_1_looks(host: Host, folder: Path, *, version: str = VERSION) -> str:
    """Step 1 where the run begins behind it, so that it may look and not build; its own account counts."""
    lab, _ = scripted_lab(folder, {}, from_step=4)
    lab.options = replace(lab.options, repository=host.checkout)
    lab.ground.claude_version = version
    lab.run.host = real.Host(lab.host.evidence, environ=host.environ(version), cwd="/", key=None, say=lab.run.say)
    return str(image.agent_image.__wrapped__(lab))  # type: ignore[attr-defined]


def steps(home: Path) -> dict[str, dict[str, Any]]:
    run = latest(home)
    if run is None:
        return {}
    found = json.loads((run / "results.json").read_text())["results"]["extra"]["steps"]
    return {step["name"]: step for step in found}


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
