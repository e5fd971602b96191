"""image/Dockerfile built for real, where a Docker daemon and the base image are there already."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

IMAGE = Path(__file__).resolve().parents[2] / "image"
TAG = "amap-openshell-agent-unit-test"
VERSION = "2.1.284"


def docker(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["docker", *words], capture_output=True, text=True, timeout=600)


@pytest.fixture
def base_image() -> str:
    match = re.search(r"^ARG BASE_IMAGE=(\S+)", (IMAGE / "Dockerfile").read_text(), re.MULTILINE)
    assert match
    if shutil.which("docker") is None:
        pytest.skip("no docker on PATH, so the recipe is not built here")
    if docker("image", "inspect", match[1]).returncode != 0:
        pytest.skip(f"no Docker daemon that holds {match[1]}, so the recipe is not built here")
    return match[1]


@pytest.mark.timeout(900)
def test_the_recipe_builds_and_the_image_says_what_it_is(base_image: str) -> None:
    arguments = {"CLAUDE_CODE_VERSION": VERSION, "SANDBOX_UID": "1000", "SANDBOX_GID": "1000"}
    given = [word for name, value in arguments.items() for word in ("--build-arg", f"{name}={value}")]
    built = docker("build", *given, "-t", TAG, str(IMAGE))
    assert built.returncode == 0, built.stderr
    inspected = docker("image", "inspect", "--format", "{{.Config.User}} {{.Config.WorkingDir}}", TAG)
    assert inspected.stdout.strip() == "1000:1000 /sandbox"
    version = docker("run", "--rm", "--network", "none", "--entrypoint", "claude", TAG, "--version")
    assert version.stdout.split()[:1] == [VERSION]
