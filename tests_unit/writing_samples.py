"""A made-up write to the inbox that is refused, beside one to the outbox that works."""

from __future__ import annotations

from dataclasses import replace

from receiver_samples import answer

from pytest_amap.checks.writing import Attempt
from pytest_amap.observations import Stat

ABSENT = Stat("/home/instances/alpha/inbox/.amap-probe-r", "absent")
THERE = Stat(ABSENT.path, "file", "600", 1000, 1000)
ATTEMPT = Attempt(
    inbox=answer(errno="EROFS", gone=None),
    outbox=answer(errno=None, gone=True),
    before=ABSENT,
    on_host=ABSENT,
    outbox_on_host=ABSENT,
)


def but(**changes: object) -> Attempt:
    return replace(ATTEMPT, **changes)  # type: ignore[arg-type]
