"""Step 5: each sandbox's id, written down by the kit; with the last one come the router's files."""

from __future__ import annotations

import pytest

from kit import files as kit_files
from kit import record
from pytest_amap.commands import Planned
from pytest_amap.failures import StepFailed
from pytest_amap.host import identity, sessions
from pytest_amap.host.lab import Lab
from pytest_amap.parsers import Unreadable, cli
from pytest_amap.steps.prepare import kit, write
from pytest_amap.steps.sandboxes import READY, no_return, shown_by_name


@pytest.fixture(scope="session")
def membership(sandboxes: Lab) -> Lab:
    """Step 5: record every member's id; a reused name under another id is refused."""
    lab = sandboxes
    with kit_files.locked(lab.home):
        for member in lab.members:
            found = lab.host.run(lab.commands.get(member.name)).parsed(cli.sandbox)
            if isinstance(found, Unreadable):
                raise StepFailed(f"sandbox get {member.name} could not be read ({found.why}); look at the gateway")
            shown_by_name(lab, member, found)
            if found.id != lab.ids[member.name]:
                raise StepFailed(
                    f"sandbox {member.name} is {found.id} now and was {lab.ids[member.name]} in step 4: a reused name "
                    "is another sandbox; nothing is recorded; look at the gateway"
                )
            if found.phase in sessions.PHASE_OF_NO_RETURN:
                raise StepFailed(f"{no_return(lab, member, found)}; nothing is recorded")
            if found.phase != READY:
                raise StepFailed(
                    f"sandbox {member.name} must be {READY} to be recorded, saw {found.state}; look at its log, "
                    "and run again"
                )
            write(lab, "membership", f"kit record {member.name}", record.plan(lab.home, member.name, found.id))
    lab.run.facts |= identity.facts(lab)
    missing = [path.name for path in (lab.home.router, lab.home.selected) if not path.is_file()]
    if missing:
        raise StepFailed(
            f"after the last member {' and '.join(missing)} must be there; "
            "run amap kit record by hand and read what it says"
        )
    return lab


def plan(lab: Lab) -> list[Planned]:
    return [
        one
        for member in lab.members
        for one in (lab.commands.get(member.name), kit("record", lab, member.name, f"<id of {member.name}>"))
    ]
