"""Step 0's look at the checkouts: the commit of each, whether it is clean, and how it stands to its pin."""

from __future__ import annotations

import os

from kit import siblings
from kit.errors import Refused
from pytest_amap.commands import Command, unrecorded
from pytest_amap.host import git
from pytest_amap.host.lab import Lab
from pytest_amap.observations import Ran
from pytest_amap.parsers import Unreadable

SECONDS = 60.0
FOUND = {"variable": "by its variable", "beside": "beside this checkout"}


def plan(lab: Lab) -> list[Command]:
    return [one for name, path in places(lab).items() for one in (revision(name, path), changes(name, path))]


def places(lab: Lab) -> dict[str, str]:
    """The checkouts whose commits belong into the report."""
    found = {name: os.fspath(sibling.path) for name, sibling in lab.ground.siblings.items()}
    return {**found, "plugin": os.fspath(lab.options.repository)}


def revision(name: str, path: str) -> Command:
    return unrecorded(f"{name} commit", git.argv(path, *git.HEAD), SECONDS)


def changes(name: str, path: str) -> Command:
    return unrecorded(f"{name} changes", git.argv(path, *git.CHANGES), SECONDS)


def facts(lab: Lab) -> dict[str, str]:
    """`<name>_commit` of each, and `<name>_pin` of each sibling: this repository has no pin.

    A sibling that is not the pinned one is told and stops nothing: which checkouts are used is the operator's.
    """
    found = {}
    for name, path in places(lab).items():
        commit = git.commit(lab.host.run(revision(name, path)))
        state = state_of(lab.host.run(changes(name, path)))
        sibling = lab.ground.siblings.get(name)
        how = f", found {FOUND[sibling.how]}" if sibling else ""
        found[f"{name}_commit"] = (
            f"not measured: {commit.why}{how}" if isinstance(commit, Unreadable) else f"{commit} ({state}{how})"
        )
        if sibling:
            found[f"{name}_pin"] = against_pin(lab, name, commit)
    return found


def state_of(ran: Ran) -> str:
    if not ran.ok:
        return "state unknown"
    return "with local changes" if ran.stdout.strip() else "clean"


def against_pin(lab: Lab, name: str, commit: str | Unreadable) -> str:
    if isinstance(commit, Unreadable):
        return f"not measured: {commit.why}"
    try:
        return siblings.load_pins()[name].against(commit)
    except Refused as refusal:
        return f"not measured: {lab.options.shown(str(refusal))}"


def warnings(lab: Lab, found: dict[str, str]) -> list[str]:
    """A line for each sibling that is another than the pinned one."""
    off = {name: found[f"{name}_pin"] for name in lab.ground.siblings if found[f"{name}_pin"].startswith(siblings.OFF)}
    return [f"the {name} checkout is {told} of kit/siblings.json; amap siblings --apply" for name, told in off.items()]
