"""Step 6: the router is started once, never removed or restarted, and only its own roster counts."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from request_samples import ALPHA, BETA
from scripted_lab import QUICK, Answer, ScriptedHost, assert_as_planned, said, scripted_lab, unplanned

from pytest_amap.failures import StepFailed
from pytest_amap.host import intents
from pytest_amap.host.delegating import ROUTER
from pytest_amap.host.lab import Lab
from pytest_amap.observations import Ran
from pytest_amap.steps import routing

RUNS, ABSENT = said(f"{ROUTER} running\n"), said(f"{ROUTER}-old exited\n")
REFUSALS = "2026-11-29 WARNING roster: skipped: no fleet_domain\n"


def publish(lab: Lab, *members: str, mtime: float | None = None, **changes: Any) -> None:
    read = {
        "contract_version": "2",
        "router": "amap.router@openshell.test.internal",
        "written_at": "2026-11-29T12:00:00Z",
        "members": [{"address": member, "state": "admitted"} for member in members],
    }
    path = lab.home.roster / "roster.json"
    path.write_text(json.dumps(read | changes))
    if mtime is not None:
        os.utime(path, (mtime, mtime))


def step(tmp_path: Path, containers: Answer = RUNS, **options: Any) -> tuple[Lab, ScriptedHost]:
    answers: dict[str, Answer] = {
        "the router's container": containers,
        "build the router's image": said(),
        "start the router": said(),
        "the router's state": said("running\n"),
        "when the router started": said("2020-01-01T00:00:00.5Z\n"),
        "the router's log": said(stderr=REFUSALS),
    }
    lab, host = scripted_lab(tmp_path, answers, **options)
    lab.home.router.write_text("{}")
    publish(lab, ALPHA, BETA)
    return lab, host


def run(lab: Lab) -> routing.Router:
    return routing.router.__wrapped__(lab)


def never_touched(host: ScriptedHost) -> bool:
    return not any({"rm", "stop", "restart", "kill", "start"} & set(argv[1:2]) for argv in host.argvs)


def test_a_running_router_is_left_alone(tmp_path: Path) -> None:
    lab, host = step(tmp_path)
    assert run(lab).roster.text is not None
    assert "router" in lab.run.already
    assert host.ran("start the router") == 0
    assert_as_planned(lab, routing.plan, host.argvs)


def test_a_router_that_is_missing_is_built_and_started_once(tmp_path: Path) -> None:
    lab, host = step(tmp_path, [ABSENT, RUNS])
    run(lab)
    assert (host.ran("build"), host.ran("start the router")) == (1, 1)
    assert (intents.load(lab.home.evidence, routing.STARTED) or {})["kind"] == intents.ROUTER
    assert unplanned(host.argvs, routing.plan(lab)) == []


@pytest.mark.parametrize("state", ["exited", "restarting", "created", "paused", "dead"])
def test_a_container_in_any_other_state_is_named_and_not_touched(tmp_path: Path, state: str) -> None:
    lab, host = step(tmp_path, said(f"{ROUTER} {state}\n"))
    host.answers |= {
        "the router's exit code": said("3\n"),
        "the router's log": said("banner\n", stderr="Traceback\nPermissionError: /state\n"),
    }
    with pytest.raises(StepFailed, match=rf"{state}: exit code 3, last line: PermissionError"):
        run(lab)
    assert host.ran("start the router") == 0
    assert never_touched(host)


def test_a_router_that_ends_at_its_start_stops_the_step(tmp_path: Path) -> None:
    lab, host = step(tmp_path, [ABSENT, said(f"{ROUTER} exited\n")])
    host.answers["the router's exit code"] = said("2\n")
    with pytest.raises(StepFailed, match="exit code 2"):
        run(lab)
    assert never_touched(host)


@pytest.mark.parametrize("command", ["build the router's image", "start the router"])
def test_a_script_that_fails_stops_the_step(tmp_path: Path, command: str) -> None:
    lab, host = step(tmp_path, ABSENT)
    host.answers[command] = said(exit=2, stderr="mount source is missing\n")
    with pytest.raises(StepFailed, match="mount source is missing"):
        run(lab)


def test_docker_that_does_not_answer_is_no_missing_router(tmp_path: Path) -> None:
    lab, host = step(tmp_path, said(exit=1, stderr="Cannot connect to the Docker daemon"))
    with pytest.raises(StepFailed, match="Cannot connect"):
        run(lab)
    assert host.ran("build") == 0


def test_outside_the_selection_it_is_not_started(tmp_path: Path) -> None:
    lab, host = step(tmp_path, ABSENT, from_step=7)
    with pytest.raises(StepFailed, match="run step 6 first"):
        run(lab)
    assert host.ran("build") == 0


def test_a_router_that_we_started_with_another_configuration_is_refused(tmp_path: Path) -> None:
    lab, host = step(tmp_path)
    intents.write(lab.home.evidence, routing.STARTED, {"kind": intents.ROUTER, "config": "0" * 64})
    with pytest.raises(StepFailed, match="another configuration"):
        run(lab)
    assert never_touched(host)


ROSTERS = {
    "of an earlier router": ((ALPHA, BETA), {"mtime": 1.0}),
    "without a member": ((ALPHA,), {}),
    "of schema 1": ((), {"contract_version": "1", "schema": 1}),
}


@pytest.mark.parametrize(("members", "changes"), ROSTERS.values(), ids=ROSTERS)
def test_only_a_roster_of_this_router_and_of_every_member_counts(
    tmp_path: Path, members: tuple[str, ...], changes: dict[str, Any]
) -> None:
    lab, _ = step(tmp_path)
    publish(lab, *members, **changes)
    with pytest.raises(StepFailed, match=r"the router's log says: .*roster: skipped"):
        run(lab)


def test_no_roster_at_all(tmp_path: Path) -> None:
    lab, _ = step(tmp_path)
    (lab.home.roster / "roster.json").unlink()
    with pytest.raises(StepFailed, match="roster"):
        run(lab)


@pytest.mark.parametrize(
    "answer",
    [said(exit=1, stderr="No such object"), said(""), said("0001-01-01T00:00:00Z\n"), said("yesterday\n")],
    ids=["error", "nothing", "never", "no time"],
)
def test_a_start_that_cannot_be_told_ends_the_step_at_once(tmp_path: Path, answer: Answer) -> None:
    lab, host = step(tmp_path)
    host.answers["when the router started"] = answer
    with pytest.raises(StepFailed, match="docker inspect must tell when amap-router-local started, saw "):
        run(lab)


@pytest.mark.parametrize(
    ("started", "counts"),
    [
        ("2020-01-01T01:00:00+02:00", True),
        ("2020-01-01T00:00:00.999999999Z", True),
        ("2019-12-31T23:30:00-02:00", False),
    ],
)
def test_a_start_is_a_time_in_any_zone(tmp_path: Path, started: str, counts: bool) -> None:
    """The roster is of midnight, in UTC."""
    lab, host = step(tmp_path)
    host.answers["when the router started"] = said(f"{started}\n")
    publish(lab, ALPHA, BETA, mtime=1577836800.0)
    if counts:
        assert run(lab).roster.text
        return
    with pytest.raises(StepFailed, match="the router's log says"):
        run(lab)


def test_a_router_that_dies_meanwhile_ends_the_wait(tmp_path: Path) -> None:
    lab, host = step(tmp_path, deadlines=replace(QUICK, roster=60.0))
    (lab.home.roster / "roster.json").unlink()
    host.answers |= {"the router's state": said("exited\n"), "the router's exit code": said("137\n")}
    with pytest.raises(StepFailed, match="the router is exited: exit code 137"):
        run(lab)


def test_the_name_must_be_the_routers_own(tmp_path: Path) -> None:
    assert routing.running(said(f"{ROUTER}-supervisor running\n")) == ""
    assert routing.running(said()) == ""
    assert routing.running(said(f"{ROUTER} Up\n")) == "up"


def test_a_crash_without_words_is_told_all_the_same(tmp_path: Path) -> None:
    lab, host = step(tmp_path)
    host.answers |= {"the router's exit code": Ran(("x",), 1, "", "", "", ""), "the router's log": said()}
    assert routing.crash(lab) == "exit code unknown, last line: none"
