"""A made-up write to the inbox that is refused, beside one to the outbox that works."""

from __future__ import annotations

from dataclasses import replace

from receiver_samples import answer

from pytest_amap.checks.writing import Attempt
from pytest_amap.observations import Ran, Stat

ABSENT = Stat("/home/instances/alpha/inbox/.amap-probe-r", "absent")
THERE = Stat(ABSENT.path, "file", "600", 1000, 1000)
LANE = Stat("/home/instances/alpha/inbox", "directory", "755", 1000, 1000, device=8, inode=11)
OUTBOX_LANE = Stat("/home/instances/alpha/outbox", "directory", "755", 1000, 1000, device=8, inode=12)


def refused(errno: str | None, folder: object = (8, 11)) -> Ran:
    """The answer about the inbox, tried in that directory."""
    return answer(errno=errno, gone=None, folder=folder)


ATTEMPT = Attempt(
    inbox=refused("EROFS"),
    outbox=answer(errno=None, gone=True, folder=[8, 12]),
    before=ABSENT,
    on_host=ABSENT,
    outbox_on_host=ABSENT,
    inbox_lane=LANE,
    outbox_lane=OUTBOX_LANE,
)


def but(**changes: object) -> Attempt:
    return replace(ATTEMPT, **changes)  # type: ignore[arg-type]
