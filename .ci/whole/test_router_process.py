"""The router as a program: configuration, discovery, roster, status, lock, and the container's scripts."""

from __future__ import annotations

import ast
import json
import os
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from siblings_bench import ROUTER, SPEC, Fleet, address, load, read, request, router_module, run, until

PYTHON = sys.executable


def start(fleet: Fleet, *arguments: str) -> subprocess.Popen[str]:
    argv = [PYTHON, "-B", "-m", "router", "--config", str(fleet.config), *arguments]
    return subprocess.Popen(argv, cwd=ROUTER, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def stop(process: subprocess.Popen[str]) -> str:
    process.send_signal(signal.SIGTERM)
    _stdout, stderr = process.communicate(timeout=10)
    assert process.returncode == 0, stderr
    return stderr


def test_run_publishes_the_roster_logs_each_poll_and_holds_the_lock(tmp_path: Path) -> None:
    fleet = Fleet(tmp_path / "home")
    process = start(fleet, "run", "--interval", "0.1")
    try:
        roster = until(lambda: (fleet.home / "roster/roster.json").exists()) and read(fleet.home / "roster/roster.json")
        second = start(fleet, "once")
        assert second.wait(10) == 1
        assert second.communicate()[1].startswith("router: another router holds")
        healthy = start(fleet, "status", "--check")
        assert healthy.communicate(timeout=10)[0].startswith("healthy:")
        fleet.config.write_text("{")
        polls = read(fleet.home / "router-state/status.json")["polls"]
        until(lambda: read(fleet.home / "router-state/status.json")["polls"] > polls + 1)
    finally:
        log = stop(process)
    assert [member["address"] for member in roster["members"]] == [address("alpha"), address("beta")]
    assert load("rehearsed_spec", SPEC / "fixtures/validate.py").check_document("roster-live.json", roster) == []
    assert "router starting: interval=0.1s, instances=['alpha', 'beta']" in log
    assert "instance 'beta': FIRST SIGHT. 0 request(s) already" in log
    assert "roster: written" in log
    assert "REHEARSAL" in log
    assert "config reload FAILED" in log
    drained = [line.partition("drained alpha: ")[2] for line in log.splitlines() if "drained alpha: " in line]
    assert ast.literal_eval(drained[0])["first_sight"] == 1
    assert ast.literal_eval(drained[-1])["first_sight"] == 0


REFUSED: dict[str, dict[str, Any]] = {
    "an unknown key": {"colour": "red"},
    "a relative state_dir": {"state_dir": "state"},
    "a state_dir inside the lanes": {"state_dir": "/home/instances/state", "instances_dir": "/home/instances"},
    "no verdict": {"selected_json": None},
    "an upper-case domain": {"fleet_domain": "Fleet.Example"},
    "the router's own name": {"peer_senders": {"amap.router": []}},
    "a name that tasks itself": {"peer_senders": {"beta": ["beta"]}},
    "a graph beside edges": {"task_graph": "all"},
    "an edge that is also mail": {"peers": {"alpha": ["beta"], "beta": ["alpha"]}},
    "another graph": {"mail_graph": "some"},
}


@pytest.mark.parametrize("change", REFUSED.values(), ids=REFUSED.keys())
def test_a_wrong_configuration_is_refused(change: dict[str, Any]) -> None:
    config = router_module("config")
    good = {
        "state_dir": "/h/state",
        "instances_dir": "/h/instances",
        "selected_json": "/h/selected.json",
        "fleet_domain": "fleet.example",
        "peer_senders": {"beta": ["alpha"]},
    }
    assert config.load_obj(good).may_task("alpha", "beta")
    assert not config.load_obj(good).may_task("beta", "alpha")
    changed = {key: value for key, value in {**good, **change}.items() if value is not None}
    with pytest.raises(config.ConfigError):
        config.load_obj(changed)


def test_a_refused_configuration_is_exit_2_in_one_line(tmp_path: Path) -> None:
    fleet = Fleet(tmp_path / "home", colour="red")
    process = start(fleet, "once")
    stderr = process.communicate(timeout=10)[1]
    assert process.returncode == 2
    assert stderr == "router: configuration refused: the configuration has unknown key(s): colour\n"


def test_no_verdict_admits_nobody_and_keeps_the_roster(tmp_path: Path) -> None:
    fleet = Fleet(tmp_path / "home")
    router = router_module("poll").Router(str(fleet.config), 1)
    router.poll()
    before = (fleet.home / "roster/roster.json").read_bytes()
    (fleet.home / "selected.json").write_text("{")
    assert router.poll() == {}
    assert (fleet.home / "roster/roster.json").read_bytes() == before
    fleet.select("alpha")
    assert list(router.poll()) == ["alpha"]


def test_links_strangers_and_absentees_are_reported_not_served(tmp_path: Path) -> None:
    fleet = Fleet(tmp_path / "home")
    (fleet.home / "instances/gamma").symlink_to(fleet.lane("alpha"))
    (fleet.home / "instances/delta").mkdir()
    fleet.select("alpha", "beta", "gamma", "epsilon")
    found = router_module("discovery").look(router_module("config").load(str(fleet.config)))
    assert found.names == ["alpha", "beta"]
    assert found.report == ("NO VERDICT delta", "SKIPPED gamma: not a real directory", "NO DIRECTORY epsilon")


def test_reset_forgets_all_but_the_audit_log(tmp_path: Path) -> None:
    fleet = Fleet(tmp_path / "home")
    fleet.poll()
    assert start(fleet, "reset", "beta").wait(10) == 0
    assert sorted(os.listdir(fleet.state("beta"))) == ["audit"]
    assert fleet.audit("beta")[-1]["event"] == "reset"
    assert fleet.poll()["beta"]["first_sight"] == 1


@pytest.fixture
def docker(tmp_path: Path) -> str:
    """A PATH whose docker prints its arguments, one a line."""
    program = tmp_path / "bin/docker"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    program.chmod(0o755)
    return f"{program.parent}:{os.environ['PATH']}"


def test_run_sh_mounts_what_the_configuration_needs_parents_first(tmp_path: Path, docker: str) -> None:
    fleet = Fleet(tmp_path / "home")
    done = run(ROUTER / "docker/run.sh", "--config", fleet.config, "--detach", PATH=docker, ROUTER_INTERVAL="0.2")
    words, home = done.stdout.splitlines(), str(fleet.home)
    assert done.returncode == 0, done.stderr
    assert words[:2] == ["run", "-d"]
    assert words[-1] == "amap-router-local"
    assert [word for flag, word in pairwise(words) if flag == "-v"] == [
        f"{home}:{home}:ro",
        f"{home}/instances:{home}/instances:rw",
        f"{home}/roster:{home}/roster:rw",
        f"{home}/router-state:{home}/router-state:rw",
        f"{home}/router.json:{home}/router.json:ro",
    ]
    assert f"{os.getuid()}:{os.getgid()}" in words
    assert {"--restart", "unless-stopped", "none", "ROUTER_INTERVAL=0.2"} <= set(words)
    assert f"run.sh: 4 mount(s) derived from {fleet.config}" in done.stderr


def test_run_sh_puts_a_mode_last(tmp_path: Path, docker: str) -> None:
    fleet = Fleet(tmp_path / "home")
    words = run(
        ROUTER / "docker/run.sh", "--config", fleet.config, "--name", "x", "--", "status", "--json", PATH=docker
    ).stdout.splitlines()
    assert words[-3:] == ["amap-router-local", "status", "--json"]
    assert "--rm" in words


WRONG_ARGUMENTS: tuple[list[str], ...] = (["--colour"], [], ["--config"], ["--config", "/nowhere/router.json"])


@pytest.mark.parametrize("arguments", WRONG_ARGUMENTS, ids=" ".join)
def test_run_sh_refuses_in_one_line(docker: str, arguments: list[str]) -> None:
    done = run(ROUTER / "docker/run.sh", *arguments, PATH=docker)
    assert done.returncode == 2
    assert done.stderr.startswith("run.sh: ")
    assert done.stderr.count("\n") == 1


def test_run_sh_refuses_a_missing_state_directory(tmp_path: Path, docker: str) -> None:
    fleet = Fleet(tmp_path / "home")
    (fleet.home / "router-state").rmdir()
    done = run(ROUTER / "docker/run.sh", "--config", fleet.config, PATH=docker)
    assert done.returncode == 2
    assert "router-state is not a directory" in done.stderr
    assert done.stdout == ""


def test_build_sh_passes_labels_on(docker: str) -> None:
    words = run(ROUTER / "docker/build.sh", "--label", "a=b", PATH=docker).stdout.splitlines()
    recipe = ["-f", f"{ROUTER}/docker/Dockerfile", "-t", "amap-router-local"]
    assert words == ["build", *recipe, str(ROUTER), "--label", "a=b"]


def test_the_entrypoint_knows_its_modes() -> None:
    done = run(ROUTER / "docker/entrypoint.sh", "dance")
    assert done.returncode == 2
    assert "unknown mode 'dance'" in done.stderr


def test_every_document_of_a_delegation_conforms(tmp_path: Path) -> None:
    fleet = Fleet(tmp_path / "home")
    fleet.poll()
    fleet.write("alpha", "1", request("1"))
    fleet.poll()
    fleet.outcome("beta", fleet.notices("beta")[0]["notice_id"], "refused")
    fleet.poll()
    check = load("rehearsed_spec", SPEC / "fixtures/validate.py").check_document
    places = {
        "peer-": fleet.lane("beta", "peer/notices"),
        "message-": fleet.lane("beta", "peer/messages"),
        "notice-": fleet.lane("alpha", "inbox/notices"),
        "result-": fleet.lane("alpha", "outbox/results"),
        "request-": fleet.lane("alpha", "outbox/processed"),
    }
    for prefix, place in places.items():
        documents = list(place.glob("*.json"))
        assert documents, prefix
        for path in documents:
            assert check(prefix + path.name, json.loads(path.read_text())) == []
