"""The rehearsal's world: what it gives its command, what it keeps out, and how it ends."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
import world_bench

from pytest_amap.rehearsal import world

SETTINGS = world.Settings("/h", "/h.host", "/c", "/p", "/usr/bin/python3", {})


def test_the_callers_key_gateway_and_runtime_stay_outside() -> None:
    outer = {
        "ANTHROPIC_API_KEY": "sk-ant-real",
        "OPENSHELL_GATEWAY": "other",
        "DOCKER_HOST": "tcp://other",
        "AMAP_ROUTER_REPO": "/x",
        "XDG_RUNTIME_DIR": "/run/user/1000",
        "LANG": "C.UTF-8",
    }
    inside = world.environment(outer, SETTINGS)
    assert inside["ANTHROPIC_API_KEY"].startswith("sk-ant-rehearsal-")
    assert len(inside["ANTHROPIC_API_KEY"]) > 40
    assert not {"OPENSHELL_GATEWAY", "DOCKER_HOST", "AMAP_ROUTER_REPO", "XDG_RUNTIME_DIR"} & set(inside)
    assert inside["LANG"] == "C.UTF-8"
    assert inside["AMAP_OPENSHELL_HOME"] == "/run/amap/home"
    assert inside["AMAP_SHOWN_HOME"] == "/h"


def test_a_made_up_key_differs_each_time_and_a_given_one_is_taken() -> None:
    assert world.made_up_key() != world.made_up_key()
    inside = world.environment({"AMAP_REHEARSAL_API_KEY": "sk-canary"}, SETTINGS)
    assert inside["ANTHROPIC_API_KEY"] == "sk-canary"
    assert "AMAP_REHEARSAL_API_KEY" not in inside


def test_the_users_site_directory_is_still_found() -> None:
    assert world.environment({"HOME": "/home/u"}, SETTINGS)["PYTHONUSERBASE"] == "/home/u/.local"


PROGRAM = """
seen["uid"], seen["gid"] = os.getuid(), os.getgid()
seen["host"] = os.uname().nodename
seen["mark"] = os.environ["AMAP_REHEARSAL_WORLD"] == os.readlink("/proc/self/ns/pid")
seen["capabilities"] = [line.split()[1] for line in open("/proc/self/status") if line.startswith("CapEff")][0]
seen["run"] = sorted(os.listdir("/run"))
seen["amap"] = sorted(os.listdir("/run/amap"))
def writable(path):
    return os.access(path, os.W_OK)
seen["writable"] = [path for path in ("/usr", "/etc", "/boot", "/opt", "/run/amap/pytest-amap") if writable(path)]
seen["home"] = writable("/run/amap/home")
seen["listeners"] = run("ss", "-ltnH")
seen["status"] = run("openshell", "status")
seen["version"] = run("openshell", "--version")
seen["gateway"] = run("openshell-gateway", "--version")
seen["preflight"] = run("openshell-gateway", "config", "preflight")
seen["docker"] = run("docker", "version", "--format", "{{.Server.Version}}")
seen["processes"] = [int(name) for name in os.listdir("/proc") if name.isdigit()]
Path("/run/amap/home/left").write_text("x")
"""


@pytest.fixture(scope="module")
def inside(folder: Path) -> dict[str, object]:
    return world_bench.observe(folder, PROGRAM)


folder = world_bench.folder


def test_the_command_is_an_ordinary_user_without_capabilities(inside: dict[str, object]) -> None:
    assert (inside["uid"], inside["gid"]) == (os.getuid() or 1000, os.getgid() or 1000)
    assert int(str(inside["capabilities"]), 16) == 0
    assert inside["mark"] is True
    assert inside["host"] == "amap-rehearsal"


def test_system_files_and_the_checkout_are_read_only_and_run_is_its_own(inside: dict[str, object]) -> None:
    assert inside["writable"] == []
    assert inside["home"] is True
    assert inside["run"] == ["amap"]
    siblings = {"amap-router-local", "amap-connector-claude", "amap-spec"}
    assert {"home", "host", "pytest-amap", *siblings} <= set(inside["amap"])  # type: ignore[call-overload]


@pytest.mark.skipif(not os.access("/opt", os.W_OK), reason="only root has a home below /opt")
def test_a_home_in_a_system_directory_is_writable_at_its_own_path_too() -> None:
    """The page is written there, since pytest-html names the place where it wrote."""
    with tempfile.TemporaryDirectory(dir="/opt") as home:
        program = f"seen['home'], seen['beside'] = (os.access(path, os.W_OK) for path in ({home!r}, '/opt'))"
        disk = f"{home}.host"
        try:
            seen = world_bench.observe(Path("/opt"), program, home=home, disk=disk)
        finally:
            shutil.rmtree(disk, ignore_errors=True)
    assert seen == {"home": True, "beside": False}


def test_the_gateway_listens_on_loopback_alone(inside: dict[str, dict[str, str]]) -> None:
    assert [line.split()[3] for line in inside["listeners"]["out"].splitlines()] == ["127.0.0.1:17670"]
    assert "Status: Connected" in inside["status"]["out"]
    assert inside["preflight"]["code"] == 0


def test_every_tool_says_that_this_is_a_rehearsal(inside: dict[str, dict[str, str]]) -> None:
    assert inside["version"]["out"].startswith("openshell 0.1.2")
    assert "REHEARSAL" in inside["version"]["out"]
    assert "REHEARSAL" in inside["gateway"]["out"]
    assert inside["docker"]["out"].strip().endswith("-rehearsal")


def test_files_of_the_home_belong_to_the_caller_outside(inside: dict[str, object], folder: Path) -> None:
    assert (folder / "home" / "left").stat().st_uid == os.getuid()


@world_bench.needs_world
@pytest.mark.parametrize("code", [0, 1, 5, 97])
def test_the_commands_exit_code_comes_out(tmp_path: Path, code: int) -> None:
    assert world_bench.run(tmp_path, "sh", "-c", f"exit {code}").returncode == code


@world_bench.needs_world
def test_a_session_that_writes_nothing_leaves_no_home(tmp_path: Path) -> None:
    world_bench.run(tmp_path, "true")
    assert not (tmp_path / "home").exists()


@world_bench.needs_world
def test_a_signal_on_the_lifeline_reaches_the_command(tmp_path: Path) -> None:
    script = "trap 'echo got; exit 7' INT; echo ready; while :; do sleep 0.02; done"
    keeper, lifeline = world_bench.start(tmp_path, "sh", "-c", script)
    assert keeper.stdout is not None
    assert keeper.stdout.readline() == "ready\n"
    os.write(lifeline, bytes([signal.SIGINT]))
    out, _ = keeper.communicate(timeout=20)
    os.close(lifeline)
    assert (out, keeper.returncode) == ("got\n", 7)


@world_bench.needs_world
def test_the_world_ends_with_its_caller(tmp_path: Path) -> None:
    keeper, lifeline = world_bench.start(tmp_path, "sh", "-c", "echo ready; sleep 300")
    assert keeper.stdout is not None
    assert keeper.stdout.readline() == "ready\n"
    os.close(lifeline)
    began = time.monotonic()
    assert keeper.wait(timeout=20) == world.CALLER_GONE
    assert time.monotonic() - began < 5


@world_bench.needs_world
def test_an_unknown_fault_is_refused(tmp_path: Path) -> None:
    done = world_bench.run(tmp_path, "true", faults=["no-such-fault"])
    assert done.returncode == world.CANNOT_ENTER
    assert "no-such-fault" in done.stderr


@world_bench.needs_world
def test_where_user_namespaces_are_off_the_sysctl_is_named(tmp_path: Path) -> None:
    limit = 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"'
    prefix = ("unshare", "-Ur", "sh", "-c", limit, "sh")
    if subprocess.run(["unshare", "-Ur", "true"], check=False).returncode:
        pytest.skip("unshare -Ur is refused here")
    done = world_bench.run(tmp_path, "true", prefix=prefix)
    assert done.returncode == world.CANNOT_ENTER
    assert "user.max_user_namespaces is 0" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@world_bench.needs_world
@pytest.mark.skipif(os.getuid() != 0, reason="only root can own a path for somebody else")
def test_somebody_elses_folder_is_refused_by_its_owners_name(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    os.chown(other, 54321, 54321)
    done = world_bench.run(other, "true")
    assert done.returncode == world.CANNOT_ENTER
    assert "uid 54321" in done.stderr
    assert list(other.iterdir()) == []


@world_bench.needs_world
def test_two_worlds_side_by_side_have_a_port_each(tmp_path: Path) -> None:
    worlds = [world_bench.start(tmp_path / name, "sh", "-c", "sleep 0.3; ss -ltnH") for name in ("one", "two")]
    for keeper, lifeline in worlds:
        out, err = keeper.communicate(timeout=30)
        os.close(lifeline)
        assert out.count(":17670") == 1, err


def test_settings_are_read_as_the_plugin_writes_them(tmp_path: Path) -> None:
    read = world.Settings.parse(json.dumps(world_bench.settings(tmp_path, faults=["inbox-writable"])))
    assert read.faults == ("inbox-writable",)
    assert read.binds["/run/amap/home"] == (str(tmp_path / "home"), False)
    assert read.python == sys.executable
