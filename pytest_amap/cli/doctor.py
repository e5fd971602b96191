"""`amap doctor`: what steps 0 and 2 look at, without a run. Runs programs that only look, and writes nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from kit.errors import Refused
from pytest_amap.catalogue import L1
from pytest_amap.checks import unknown_6
from pytest_amap.cli import looking, settings
from pytest_amap.failures import StepFailed
from pytest_amap.host import identity, lock, opening, survey
from pytest_amap.host.lab import Lab
from pytest_amap.host.run import Run
from pytest_amap.options import HOME, Options
from pytest_amap.steps import checkouts
from pytest_amap.steps.prerequisites import ask_versions
from pytest_amap.verdicts import PASS

Line = tuple[bool, str]
"""Whether it stands in no run's way, and what is told."""


def main(argv: Sequence[str] | None = None) -> int:
    """Print what is missing or wrong and what to do about it; 0 when a run could begin, else 1."""
    parser = settings.parser("doctor", "Look at what steps 0 and 2 need, without a run; writes nothing.")
    parser.add_argument("--amap-home", metavar="DIR", help=f"default: ${HOME}, else ini amap_home")
    parser.add_argument("--fleet", metavar="FILE", help="default: the home's own, else examples/fleet.json")
    given = parser.parse_args(argv)
    named = (("--amap-home", given.amap_home), ("--fleet", given.fleet))
    return settings.act(tell, given.override_ini, *(f"{name}={value}" for name, value in named if value))


def tell(options: Options) -> int:
    """The lines themselves."""
    run = Run(L1, options, ())
    ground = survey.look(options, os.environ)
    lab = opening.lab_of(run, ground)
    run.host = looking.host(options)
    lines = [line for look in (prerequisites, siblings, endpoint, versions, posture) for line in look(lab)]
    for good, text in lines:
        print(f"{'ok   ' if good else 'MEND '} {text}")
    return 0 if all(good for good, _ in lines) else 1


def prerequisites(lab: Lab) -> Iterator[Line]:
    """Step 0's first half: what needs no program."""
    for problem in lab.ground.problems:
        yield False, f"step 0: {problem}"
    if not lab.ground.problems:
        yield True, "step 0: variables, paths, siblings, tools, user, kernel, key and gateway file"


def siblings(lab: Lab) -> Iterator[Line]:
    """Which checkouts a run would work with; one off its pin stands in no run's way."""
    found = checkouts.facts(lab) if lab.ground.siblings else {}
    for name, sibling in lab.ground.siblings.items():
        yield True, f"step 0: {name} checkout {sibling.path}: {found[f'{name}_pin']}; {found[f'{name}_commit']}"


def endpoint(lab: Lab) -> Iterator[Line]:
    """Whether a run of ours is at work on this gateway; the name is given back at once."""
    try:
        lock.endpoint(lab.options.port).close()
    except lock.Held as held:
        yield False, f"step 0: {held}; wait for it to end, or stop it"


def versions(lab: Lab) -> Iterator[Line]:
    """Step 0's second half, once nothing is in its way."""
    if lab.ground.problems:
        yield False, "step 0: versions were not asked; mend the above first"
        return
    try:
        openshell, docker = ask_versions(lab)
    except StepFailed as problem:
        yield False, f"step 0: {problem}"
        return
    yield True, f"step 0: {openshell}, Docker {docker}"


def posture(lab: Lab) -> Iterator[Line]:
    """Step 2. The operator's own statement is told and stands in no run's way."""
    if lab.ground.home is None or lab.ground.fleet is None:
        yield False, "step 2: not asked, since step 0 found no home or no fleet"
        return
    try:
        lab.ids.update(identity.recorded(lab))
    except Refused as refusal:
        yield False, f"step 2: {refusal}"
        return
    for part in unknown_6.judge(unknown_6.collect(lab)):
        good = part.outcome is PASS or part.name == unknown_6.STATEMENT
        told = f"{part.name}: {part.seen}" if part.outcome is PASS else f"{part.outcome} {part.reason}"
        yield good, f"step 2: {told}"
