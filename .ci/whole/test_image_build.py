"""image/Dockerfile and step 1 on a real Docker daemon, by both of its builders, with the real Claude Code of npm."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import base_image
import docker_daemon
import pytest
from docker_daemon import CannotRun, Daemon
from image_bench import GID, KEY, UID, VERSION, Host, step_1_looks
from rehearsing import CHECKOUT

from pytest_amap.failures import StepFailed
from pytest_amap.steps import image

pytestmark = pytest.mark.timeout(600)

IMAGE = "amap-openshell-agent"
ACCOUNT = f"{IMAGE}-account"
BUILDERS = {"classic": "0", "BuildKit": "1"}
LEFT_OUT = "/root/.npm /tmp/node-compile-cache /var/lib/apt/lists/*_dists_*"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon that holds the recipe's base image; skips with the failing call named where that cannot be had."""
    name = re.search(r"^ARG BASE_IMAGE=(\S+)", (CHECKOUT / "image" / "Dockerfile").read_text(), re.MULTILINE)
    assert name
    try:
        with docker_daemon.running() as running:
            try:
                base = base_image.make(tmp_path_factory.mktemp("base"), name[1])
            except CannotRun as obstacle:
                pytest.skip(f"no base image: {obstacle}")
            imported = running.docker("import", str(base), name[1])
            assert imported.returncode == 0, imported.stderr
            yield running
    except CannotRun as obstacle:
        pytest.skip(f"no Docker daemon: {obstacle}")


@pytest.fixture(scope="module", params=BUILDERS)
def host(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, daemon: Daemon) -> Host:
    """A host whose docker builds with that builder and has no image of the recipe yet."""
    daemon.docker("image", "rm", "--force", IMAGE)
    return Host.new(tmp_path_factory.mktemp("host"), daemon, BUILDERS[request.param])


@pytest.fixture(scope="module")
def built(host: Host) -> Host:
    """Step 1 on that host, done once."""
    done = host.run("--only-step", "1")
    if "buildx component is missing" in done.text:
        pytest.skip("this docker has no buildx, so one of the two builders is not there")
    assert (done.code, done.image) == (0, "done"), done.text
    return host


def described(daemon: Daemon) -> dict[str, Any]:
    return dict(json.loads(daemon.docker("image", "inspect", IMAGE).stdout)[0])


def inside(daemon: Daemon, script: str, *, user: str = "", tag: str = IMAGE) -> list[str]:
    """What a shell of the image says, without a network."""
    done = daemon.docker("run", "--rm", "--network", "none", "--user", user, "--entrypoint", "sh", tag, "-c", script)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_image_says_what_it_is(built: Host) -> None:
    config = described(built.daemon)["Config"]
    assert config["Labels"] == {
        "amap-openshell.claude-code-version": VERSION,
        "amap-openshell.run-as": f"{UID}:{GID}",
        "amap-openshell.dockerfile": built.digest(),
    }
    assert (config["User"], config["WorkingDir"], config["Entrypoint"]) == (f"{UID}:{GID}", "/sandbox", None)


def test_the_image_holds_the_pinned_program_and_the_account(built: Host) -> None:
    script = "claude --version; id -u; id -g; stat -c %u:%g /sandbox; which python3 bash; getent passwd node || true"
    assert inside(built.daemon, script) == [
        f"{VERSION} (Claude Code)",
        str(UID),
        str(GID),
        f"{UID}:{GID}",
        "/usr/bin/python3",
        "/usr/bin/bash",
    ]


@pytest.mark.parametrize("words", [(*image.GIVEN, image.NO_FLAG), ("--append-system-promptfile", "{}", "--nor-this")])
def test_the_rehearsals_agent_refuses_a_flag_as_the_real_one_does(built: Host, words: tuple[str, ...]) -> None:
    real = built.daemon.docker("run", "--rm", "--network", "none", "--entrypoint", "claude", IMAGE, *words)
    agent = CHECKOUT / "pytest_amap" / "rehearsal" / "agent" / "claude.py"
    rehearsed = subprocess.run(["python3", agent, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert real.returncode == rehearsed.returncode == 1
    assert real.stderr.splitlines()[0] == rehearsed.stderr.splitlines()[0]


def test_no_cache_and_no_key_is_in_the_image(built: Host) -> None:
    assert inside(built.daemon, f"ls -d {LEFT_OUT} 2>/dev/null || true", user="0") == []
    history = built.daemon.docker("image", "history", "--no-trunc", IMAGE)
    assert history.returncode == 0
    assert KEY not in history.stdout + json.dumps(described(built.daemon))


def test_a_second_run_finds_it_so(built: Host) -> None:
    before = described(built.daemon)["Id"]
    done = built.run("--only-step", "1")
    assert (done.code, done.image) == (0, "already"), done.text
    assert described(built.daemon)["Id"] == before


def test_a_version_that_npm_has_not_is_one_sentence(built: Host) -> None:
    before = described(built.daemon)["Id"]
    done = built.run("--only-step", "1", version="2.1.99999")
    assert (done.code, done.image) == (1, "failed"), done.text
    assert "docker build must end with exit 0" in done.reason
    assert "npm could not install Claude Code 2.1.99999" in done.reason
    assert not re.search(r"\x1b|\\x1b|Traceback|\n", done.reason)
    assert described(built.daemon)["Id"] == before


def test_a_changed_recipe_is_built_once_more(built: Host) -> None:
    before = built.digest()
    built.recipe.write_text(built.recipe.read_text() + "# changed\n")
    done = built.run("--only-step", "1")
    assert (done.code, done.image) == (0, "done"), done.text
    assert f"building image {IMAGE}: amap-openshell.dockerfile is {before}, wanted {built.digest()}\n" in done.text
    assert described(built.daemon)["Config"]["Labels"]["amap-openshell.dockerfile"] == built.digest() != before


@pytest.mark.parametrize(
    ("version", "account", "said"),
    [
        ("2.1.283", (UID, GID), f"amap-openshell.claude-code-version is {VERSION}, wanted 2.1.283"),
        (VERSION, (UID, GID + 1), f"amap-openshell.run-as is {UID}:{GID}, wanted {UID}:{GID + 1}"),
    ],
    ids=["version", "account"],
)
def test_outside_the_selection_it_says_what_differs(
    built: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, account: tuple[int, int], said: str
) -> None:
    for name, number in zip(("getuid", "getgid"), account, strict=True):
        monkeypatch.setattr(os, name, lambda number=number: number)
    with pytest.raises(StepFailed, match=re.escape(f"image {IMAGE}: {said}; run step 1 first")):
        step_1_looks(built, tmp_path, version=version)


def test_what_the_image_holds_decides_over_its_labels(built: Host) -> None:
    tag, label = f"{IMAGE}-lying", "amap-openshell.claude-code-version=2.1.283"
    assert built.build(f"FROM {IMAGE}\n", "--label", label, "-t", tag).returncode == 0
    done = built.run("--only-step", "1", f"--override-ini=amap_image={tag}", version="2.1.283")
    assert (done.code, done.image) == (1, "failed"), done.text
    assert f"the image holds Claude Code {VERSION}, wanted 2.1.283" in done.reason


def account_alone(host: Host, uid: int, gid: int) -> subprocess.CompletedProcess[str]:
    """The recipe up to its account, built for those numbers."""
    recipe, behind, _ = host.recipe.read_text().partition("ARG CLAUDE_CODE_VERSION\n")
    assert behind
    numbers = ("--build-arg", f"SANDBOX_UID={uid}", "--build-arg", f"SANDBOX_GID={gid}")
    return host.build(recipe, *numbers, "-t", ACCOUNT)


@pytest.mark.parametrize(
    ("uid", "gid", "group"),
    [(1000, 1000, "agent"), (1000, 100, "users"), (4294967294, 4294967294, "agent")],
    ids=["the base image's own account", "a group that exists", "the largest"],
)
def test_numbers_of_an_account(built: Host, uid: int, gid: int, group: str) -> None:
    done = account_alone(built, uid, gid)
    assert done.returncode == 0, done.stderr
    said = inside(built.daemon, "id -un; id -gn; stat -c %u:%g /sandbox", user=f"{uid}:{gid}", tag=ACCOUNT)
    assert said == ["agent", group, f"{uid}:{gid}"]


def test_a_uid_of_the_system_ends_the_build(built: Host) -> None:
    done = account_alone(built, 33, GID)
    assert done.returncode != 0
    assert "useradd: UID 33 is not unique" in done.stdout + done.stderr


def test_nothing_of_a_daemon_is_left(daemon: Daemon) -> None:
    """Another one, beside the module's own."""
    with docker_daemon.running() as running:
        place = Path(running.environ["DOCKER_HOST"].removeprefix("unix://")).parent
        assert place.is_dir()
    assert not place.exists()
    assert not list(Path("/sys/fs/cgroup").glob(f"*/{place.name}"))
    assert eventually(lambda: not processes(place.name))
    assert daemon.docker("version").returncode == 0


def processes(name: str) -> list[str]:
    """Command lines that name it."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if name in line:
            found.append(line)
    return found


def eventually(done: Callable[[], bool], seconds: float = 10) -> bool:
    end = time.monotonic() + seconds
    while not done() and time.monotonic() < end:
        time.sleep(0.1)
    return done()
