"""Step 6: the router's container, started last and never stopped by us."""

from __future__ import annotations

import os
from dataclasses import dataclass

import pytest

from pytest_amap.commands import Command, Look, Planned, unrecorded
from pytest_amap.failures import StepFailed
from pytest_amap.host import identity, intents
from pytest_amap.host.delegating import ROUTER, router_gone, router_state
from pytest_amap.host.lab import Lab
from pytest_amap.instants import second
from pytest_amap.observations import Ran, Read
from pytest_amap.parsers import Unreadable, roster, router_log
from pytest_amap.steps.image import last_lines

STARTED = "router.started"
"""The announcement of the configuration the router was started with; no sandbox can have that name."""


@dataclass(frozen=True)
class Router:
    """The running router: its roster as read when step 6 was done."""

    roster: Read


@pytest.fixture(scope="session")
def router(membership: Lab) -> Router:
    """Step 6: build and start the router unless it runs, then wait for a roster that it wrote now."""
    lab = membership
    state = running(lab.host.run(containers(lab)))
    if state == "running":
        same_config(lab)
        lab.run.already["router"] = "its container runs"
    elif state:
        raise StepFailed(
            f"the router's container is {state}: {crash(lab)}; "
            "this suite never removes a container, do it yourself and run again"
        )
    elif not lab.options.acts_on(6):
        raise StepFailed("the router does not run; run step 6 first")
    else:
        intents.write(lab.home.evidence, STARTED, {"kind": intents.ROUTER, "config": identity.router_config(lab)})
        start(lab)
    return Router(published(lab))


def same_config(lab: Lab) -> None:
    """A router reads its configuration when it starts: one that we started with another is not the wanted one."""
    announced = intents.load(lab.home.evidence, STARTED) or {}
    then, now = announced.get("config"), identity.router_config(lab)
    if then is not None and then != now:
        raise StepFailed(
            f"the router runs with another configuration (sha256 {then}) than router.json holds now (sha256 {now}); "
            f"this suite never stops a router: remove it yourself ({lab.options.docker} rm -f {ROUTER}) and run again"
        )


def plan(lab: Lab) -> list[Planned]:
    return [
        containers(lab),
        *(command.only("unless it runs") for command in (build(lab), launch(lab), containers(lab))),
        router_started(lab),
        Look(os.fspath(lab.home.roster / "roster.json"), "the roster"),
        router_state(lab).only("while waiting, every 5 s"),
        exit_code(lab).only("where it ended"),
        logs(lab),
    ]


def containers(lab: Lab) -> Command:
    words = ("ps", "-a", "--filter", f"name=^{ROUTER}$", "--format", "{{.Names}} {{.State}}")
    return lab.commands.runtime(*words, label="the router's container")


def exit_code(lab: Lab) -> Command:
    words = ("inspect", "--format", "{{.State.ExitCode}}", ROUTER)
    return lab.commands.runtime(*words, label="the router's exit code")


def script(lab: Lab, name: str) -> str:
    return os.fspath(lab.ground.siblings["router"].path / "docker" / name)


def build(lab: Lab) -> Command:
    return unrecorded("build the router's image", (script(lab, "build.sh"),), lab.options.deadlines.build)


def launch(lab: Lab) -> Command:
    argv = (script(lab, "run.sh"), "--config", os.fspath(lab.home.router), "--detach")
    return unrecorded("start the router", argv, lab.options.deadlines.command)


def router_started(lab: Lab) -> Command:
    words = ("inspect", "--format", "{{.State.StartedAt}}", ROUTER)
    return lab.commands.runtime(*words, label="when the router started")


def logs(lab: Lab) -> Command:
    return lab.commands.runtime("logs", "--tail", "500", ROUTER, label="the router's log")


def running(ran: Ran) -> str:
    """The state of the container of exactly that name; "" when a listing that worked does not name it."""
    if not ran.ok:
        raise StepFailed(f"docker ps must answer, saw {ran.said}; look at the container runtime")
    rows = [line.split() for line in ran.stdout.splitlines() if line.strip()]
    return next((row[1].lower() if len(row) > 1 else "of no known state" for row in rows if row[0] == ROUTER), "")


def start(lab: Lab) -> None:
    for command in (build(lab), launch(lab)):
        ran = lab.host.run(command)
        if not ran.ok:
            raise StepFailed(f"{os.path.basename(command.argv[0])} must end with exit 0, saw {last_lines(ran)}")
    state = running(lab.host.run(containers(lab)))
    if state != "running":
        raise StepFailed(f"the router must run after its start, its container is {state or 'not there'}: {crash(lab)}")


def published(lab: Lab) -> Read:
    """A roster that names every member, and that this router wrote: younger than its own state says it started."""
    members = {lab.fleet.address(name) for name in lab.fleet.members}
    told = lab.host.run(router_started(lab))
    since = second(told.stdout.strip())
    if not since:
        raise StepFailed(
            f"docker inspect must tell when {ROUTER} started, saw {told.said}; look at the container runtime"
        )

    def complete(read: Read) -> bool | None:
        found = roster.roster(read.text) if read.text is not None and second(read.mtime) >= since else None
        named = set(found.addresses) if found and not isinstance(found, Unreadable) else set()
        return True if members <= named else None

    gone = router_gone(lab)

    def stop() -> str:
        reason = gone()
        return reason and f"{reason}: {crash(lab)}"

    waited = lab.host.wait_file(
        "the router's roster",
        os.fspath(lab.home.roster / "roster.json"),
        complete,
        seconds=lab.options.deadlines.roster,
        stop=stop,
    )
    log = lab.host.run(logs(lab))
    if waited.value is None:
        refusals = router_log.refusals(log.stdout + log.stderr)
        raise StepFailed(f"{waited.problem}; the router's log says: {' / '.join(refusals) or last_lines(log)}")
    return waited.last


def crash(lab: Lab) -> str:
    """Why a container ended: its exit code and the last line it said, stderr first."""
    code = lab.host.run(exit_code(lab)).stdout.strip() or "unknown"
    log = lab.host.run(logs(lab))
    said = [line for stream in (log.stderr, log.stdout) for line in stream.splitlines()[::-1] if line.strip()]
    return f"exit code {code}, last line: {said[0][:300] if said else 'none'}"
