"""Enter the rehearsal's world from a test: run a command there, or a program that reports what it observed."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "pytest_amap" / "rehearsal"
CHECKOUT = PACKAGE.parents[1]

_PRELUDE = """
import json, os, subprocess, sys, time
from pathlib import Path
def run(*argv, **options):
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, **options)
    return {"code": done.returncode, "out": done.stdout, "err": done.stderr}
def inside(name, *argv, flags=()):
    return run("openshell", "sandbox", "exec", "-n", name, "--no-login-shell", *flags, "--", *argv)
def until(condition):
    deadline = time.monotonic() + 40
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
seen = {}
"""


def settings(folder: Path, **changes: Any) -> dict[str, Any]:
    return {
        "home": str(folder / "home"),
        "disk": str(folder / "home.host"),
        "checkout": str(CHECKOUT),
        "siblings": {},
        "package": str(PACKAGE),
        "python": sys.executable,
        "faults": [],
        "access": [],
        **changes,
    }


def start(folder: Path, *command: str, **changes: Any) -> tuple[subprocess.Popen[str], int]:
    """The world's keeper, and the write end of its lifeline."""
    environment = {**os.environ, **changes.pop("environment", {})}
    prefix = changes.pop("prefix", ())
    read, write = os.pipe()
    argv = [sys.executable, "-I", "-S", str(PACKAGE / "world.py"), str(read), json.dumps(settings(folder, **changes))]
    keeper = subprocess.Popen(
        [*prefix, *argv, "--", *command],
        pass_fds=[read],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    os.close(read)
    return keeper, write


def run(folder: Path, *command: str, seconds: float = 60, **changes: Any) -> subprocess.CompletedProcess[str]:
    keeper, lifeline = start(folder, *command, **changes)
    try:
        out, err = keeper.communicate(timeout=seconds)
    finally:
        keeper.kill()
        os.close(lifeline)
    return subprocess.CompletedProcess(command, keeper.returncode, out, err)


def observe(folder: Path, program: str, **changes: Any) -> dict[str, Any]:
    """Run a Python program in the world; it fills `seen`; `run` and `inside` start commands for it, `until` waits."""
    source = f"{_PRELUDE}{program}\nprint('SEEN ' + json.dumps(seen))\n"
    done = run(folder, sys.executable, "-c", source, **changes)
    line = next((line for line in done.stdout.splitlines() if line.startswith("SEEN ")), None)
    assert line is not None, done.stderr + done.stdout
    return json.loads(line.removeprefix("SEEN "))


@functools.cache
def _obstacle() -> str | None:
    """Why no world can be entered here, in the world's own words."""
    with tempfile.TemporaryDirectory() as folder:
        done = run(Path(folder), "true")
    return done.stderr.strip() if done.returncode == 97 else None


def needs_world(test: Callable[..., Any]) -> Callable[..., Any]:
    return pytest.mark.skipif(_obstacle() is not None, reason=str(_obstacle()))(test)


@pytest.fixture(scope="module")
def folder() -> Any:
    """A home's place for one module's world, with the reason of a skip where there can be none."""
    if _obstacle() is not None:
        pytest.skip(str(_obstacle()))
    with tempfile.TemporaryDirectory(prefix="amap-world-") as path:
        yield Path(path)


MINIMAL_RECIPE = """\
FROM node:22-bookworm-slim
ARG CLAUDE_CODE_VERSION
RUN npm install -g @anthropic-ai/claude-code@$CLAUDE_CODE_VERSION
WORKDIR /sandbox
USER 1000:1000
"""

FLEET = f"""
home = Path(os.environ["AMAP_OPENSHELL_HOME"])
recipe = home / "recipe"
recipe.mkdir()
(recipe / "Dockerfile").write_text({MINIMAL_RECIPE!r})
seen["build"] = run("docker", "build", "--build-arg", "CLAUDE_CODE_VERSION=2.1.284", "-t", "agent", str(recipe))
for name in ("inbox", "peer", "outbox"):
    (home / name).mkdir()
(home / "inbox" / "document").write_text("hello")
profile = dict(
    id="amap-claude-code", display_name="Claude Code", category="agent", inference_capable=True,
    credentials=[dict(name="api_key", env_vars=["ANTHROPIC_API_KEY"], auth_style="header", header_name="x-api-key")],
    discovery=dict(credentials=["api_key"]),
    endpoints=[dict(host="api.anthropic.com", port=443, protocol="rest", access="read-write", enforcement="enforce")],
    binaries=["/usr/local/bin/node"],
)
(home / "profile.json").write_text(json.dumps(profile))
seen["import"] = run("openshell", "provider", "profile", "import", "-f", str(home / "profile.json"))
(home / "policy.yaml").write_text('''
version: 1
filesystem_policy:
  include_workdir: false
  read_only: [/bin, /usr, /lib, /proc, /dev/urandom, /etc, /opt/amap/lanes/inbox]
  read_write: [/sandbox, /tmp, /dev/null, /opt/amap/lanes/outbox]
landlock: {{compatibility: hard_requirement}}
process: {{run_as_user: "1000", run_as_group: "1000"}}
''')
def mount(name, read_only):
    return dict(type="bind", source=str(home / name), target="/opt/amap/lanes/" + name, read_only=read_only)
mounts = [mount("inbox", True), mount("peer", True), mount("outbox", False)]
def create(name, *main, flags=("--detach", "--tty"), mounts=mounts):
    return run(
        "openshell", "--workspace", "default", "sandbox", "create", "--name", name, "--from", "agent",
        "--provider", "amap-claude-code", "--auto-providers", "--policy", str(home / "policy.yaml"),
        "--driver-config-json", json.dumps(dict(docker=dict(mounts=mounts))), *flags, "--", *main)
"""
"""Continues a program for `observe`: an image, a provider profile, three lanes and a way to create sandboxes."""
