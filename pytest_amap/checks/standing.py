"""A correct denial must not kill the sandbox: the phase is read again after every probe that must be denied."""

from __future__ import annotations

from pytest_amap.judging import decided, unknown
from pytest_amap.observations import Ran
from pytest_amap.parsers import Unreadable, cli
from pytest_amap.verdicts import Part

ENDED = ("Error", "Completed")


def still_ready(member: str, ran: Ran) -> Part:
    name, want = f"{member} is still Ready after the denial", "Ready"
    found = cli.sandbox(ran.stdout) if ran.ok else Unreadable(ran.said)
    if isinstance(found, Unreadable):
        return unknown(name, want, found, ran.record)
    if found.phase != want and found.phase not in ENDED:
        return unknown(name, want, found.phase, ran.record)
    return decided(name, found.phase == want, want, found.phase, ran.record)
