"""Step 0: everything that must be there before anything is made; then the versions."""

from __future__ import annotations

import os
import re
from importlib import metadata
from pathlib import Path

import pytest

from pytest_amap.commands import Command, Look, Planned
from pytest_amap.evidence import chain
from pytest_amap.failures import StepFailed, StepRefused
from pytest_amap.host import identity, repairing
from pytest_amap.host.lab import Lab
from pytest_amap.parsers import Unreadable, spec_items, versions
from pytest_amap.steps import checkouts, flags

OLDEST = "0.1.2"
REHEARSAL = "REHEARSAL"
RELEASE = "/etc/os-release"
"""A link on most systems; the system's own, so it is followed."""

lab_key = pytest.StashKey[Lab]()


@pytest.fixture(scope="session")
def lab(request: pytest.FixtureRequest) -> Lab:
    """The deployment this run works on."""
    return request.config.stash[lab_key]


@pytest.fixture(scope="session")
def prerequisites(lab: Lab) -> Lab:
    """Step 0: variables, paths, tools, siblings, kernel, key, lock and the gateway's file; then versions.

    What an earlier run left behind is put right here, before anything looks at the host, whatever is selected.
    """
    if lab.ground.problems:
        listed = [str(problem) for problem in lab.ground.problems]
        many = f"{len(listed)} things are" if len(listed) > 1 else "1 thing is"
        raise StepRefused(f"{many} missing or wrong, each with its remedy", listed)
    openshell, docker = ask_versions(lab)
    lab.run.facts |= {"openshell": openshell, "docker": docker}
    lab.ids.update(identity.recorded(lab))
    lab.run.facts |= host_facts(lab) | fleet_facts(lab) | identity.facts(lab)
    checked_out(lab)
    not_checked(lab)
    repairing.before_the_gate(lab)
    return lab


def checked_out(lab: Lab) -> None:
    """Which checkouts this run works with; a sibling off its pin is told, since no verdict's sentence names it."""
    found = checkouts.facts(lab)
    lab.run.facts |= found
    for line in checkouts.warnings(lab, found):
        lab.run.say(line)


def validator(lab: Lab) -> str:
    return os.fspath(lab.ground.siblings["spec"].path / "fixtures" / "validate.py")


def not_checked(lab: Lab) -> None:
    """The spec's own list of what its validator cannot check, for the report's table."""
    source = lab.host.read(validator(lab), "the spec's validate.py")
    found = spec_items.items(source.text) if source.text is not None else Unreadable(str(source.problem))
    if isinstance(found, Unreadable):
        lab.run.not_checked_problem = found.why
    else:
        lab.run.not_checked_items = found


def plan(lab: Lab) -> list[Planned]:
    reads = [Look(os.path.realpath(RELEASE), "distribution"), Look(validator(lab), "the spec's NOT CHECKED HERE list")]
    return [*version_commands(lab), *flags.plan(lab), *checkouts.plan(lab), *reads, *repairing.planned(lab)]


def version_commands(lab: Lab) -> list[Command]:
    """The last one tells both ends: Docker's own client may be speaking to Podman's socket."""
    runtime = lab.commands.runtime("version", label="container runtime")
    return [lab.commands.version(), lab.commands.docker_version(), runtime]


def ask_versions(lab: Lab) -> tuple[str, str]:
    """Both versions as said, after the gates: OpenShell 0.1.2 or later, Docker, no rehearsal tool on a live host."""
    openshell, docker, runtime = (lab.host.run(command) for command in version_commands(lab))
    for ran in (openshell, docker, runtime):
        if not ran.ok:
            raise StepFailed(
                f"{' '.join(ran.argv)} must answer, saw {ran.said}; start or install it, or let this user use it"
            )
    if lab.run.kind == "live" and any(REHEARSAL in ran.stdout.upper() for ran in (openshell, docker, runtime)):
        raise StepRefused("a tool on PATH says REHEARSAL, and this is no rehearsal; mend PATH, or add --rehearsal")
    if "podman" in (runtime.stdout + runtime.stderr + docker.stdout).lower():
        raise StepRefused(
            "docker on PATH is Podman, and this deployment uses Docker alone (D3); mend PATH or set amap_docker"
        )
    found, oldest = versions.openshell(openshell.stdout, Path(lab.options.openshell).name), versions.version(OLDEST)
    assert not isinstance(oldest, Unreadable)
    if isinstance(found, Unreadable):
        raise StepFailed(f"the OpenShell version could not be read ({found.why}); {OLDEST} or later is needed")
    if found < oldest:
        raise StepRefused(f"OpenShell {OLDEST} or later is needed, saw {found.text}; update it")
    flags.probe(lab)
    return found.text, docker.stdout.strip()


def host_facts(lab: Lab) -> dict[str, str]:
    ground = lab.ground
    try:
        plugin = metadata.version("pytest-amap")
    except metadata.PackageNotFoundError:
        plugin = "not measured: it is not installed"
    release = lab.host.read(os.path.realpath(RELEASE), "distribution")
    name = re.search(r'^PRETTY_NAME="?([^"\n]*)"?$', release.text or "", re.MULTILINE)
    return {
        "kernel": f"Linux {ground.kernel}",
        "distribution": name[1] if name else f"not measured: {RELEASE} {release.problem or 'names none'}",
        "landlock_abi": str(ground.landlock_abi) if ground.landlock_abi is not None else "not measured",
        "run_as": f"{os.getuid()}:{os.getgid()}",
        "plugin": plugin,
        "claude_code_declared": ground.claude_version,
    }


def fleet_facts(lab: Lab) -> dict[str, str]:
    fleet, name = lab.fleet, lab.ground.fleet_file.name
    edges = "; ".join(f"{sender} may task {receiver}" for sender, receiver in fleet.task_edges)
    return {
        "workspace": fleet.workspace,
        "fleet": f"{name}, sha256 {chain.digest(fleet.raw)}",
        "task_graph": f"members {', '.join(fleet.members)}; {edges}; nobody else may task anybody",
    }
