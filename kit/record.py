"""Step 5: write down which sandbox stands behind a member; with the last one, the router's files."""

from __future__ import annotations

from collections.abc import Iterator

from kit import files, fleet, lanes, membership, names, router
from kit.errors import Refused, shown
from kit.files import Plan, directory, document
from kit.fleet import Fleet
from kit.home import Home
from kit.membership import Member


def plan(home: Home, name: str, identity: str) -> Plan:
    """What `record NAME ID` writes: membership.json, and once nobody is missing router-state/ and the router's files.

    The router never sees a partial fleet: neither router.json nor selected.json is written before the last member.
    Every rule is checked against the installed fleet.json.
    """
    if home.fleet.is_symlink() or not home.fleet.is_file():
        raise Refused(f"{home.fleet} is no regular file: run prepare --apply first")
    installed = fleet.load(home.fleet)
    if name not in installed.members:
        raise Refused(
            f"{shown(name)} is no member of the installed fleet: its members are {', '.join(installed.members)}"
        )
    names.check_word(identity, f"the id of {name}")
    old = membership.load(home.membership) or ()
    membership.check_within(old, installed)
    members = membership.add(old, Member(installed.workspace, name, identity))
    _check_lanes(home, members)
    missing = [member for member in installed.members if member not in {one.name for one in members}]
    wanted = (
        document(home.membership, membership.render(members)),
        *(() if missing else router.files(home, installed)),
    )
    return files.plan(home, wanted, _notes(home, installed, members, missing))


def _check_lanes(home: Home, members: tuple[Member, ...]) -> None:
    """Each lane is a directory, and so is everything on the way to it: a symlink would lead to another host path."""
    ways = ((home.instances / member.name, *lanes.directories(home, member.name)) for member in members)
    way = (home.instances, *(path for one in ways for path in one))
    absent = [item.name for item in files.plan(home, map(directory, way)).items if item.state == "create"]
    if absent:
        raise Refused(f"these lanes are not there: {', '.join(absent)}; run prepare --apply first")


def _notes(home: Home, installed: Fleet, members: tuple[Member, ...], missing: list[str]) -> Iterator[str]:
    yield f"recorded: {', '.join(member.name for member in members)}"
    if missing:
        yield f"still missing: {', '.join(missing)}; router.json and selected.json come with the last member"
        if home.selected.exists():
            yield f"warning: {home.selected.name} is there although members are missing; it is left alone"
    for warning in installed.warnings:
        yield f"warning: {warning}"
