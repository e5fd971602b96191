"""What an interrupted run left behind is put right before anything else looks at the host."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_amap.commands import Planned
from pytest_amap.host import receiving, throwaway
from pytest_amap.host.lab import Lab
from pytest_amap.rounds import LOCAL, REFUSE

WHEN = "if an earlier run was cut off before it had put this right"


def before_the_gate(lab: Lab) -> None:
    """Finish the cleanup of earlier runs: their throwaway sandbox, and the receiver's settings.

    Runs nothing where nothing is announced; what could not be put right is named in the report, and no step fails.
    """
    for repair in (throwaway.tidy, receiving.repair):
        lab.run.cleanup.callback(repair, lab)  # a run that is stopped in its repair goes on with it at its end
        repair(lab)


def planned(lab: Lab) -> Iterator[Planned]:
    """What the repair would run; the settings file is the one that the announcement names."""
    receiver = lab.receiver
    yield lab.commands.get(throwaway.NAME).only(WHEN)
    yield lab.commands.list_all().only(WHEN)
    yield lab.commands.delete(throwaway.NAME).only(WHEN)
    yield lab.commands.get(receiver.name).only(WHEN)
    yield receiving.take_back(lab, LOCAL, REFUSE).only(WHEN)
    yield lab.commands.stop(receiver.name).only(WHEN)
    yield lab.commands.start(receiver.name).only(WHEN)
    yield receiver.sessions().only(WHEN)
