"""Whose answers they were: a name is used again under another id, and a correct denial must not kill the sandbox.

`sandbox get` is asked after every probe of a check; `identity` is the id that was recorded.
"""

from __future__ import annotations

from pytest_amap.judging import decided, unknown
from pytest_amap.observations import Ran
from pytest_amap.parsers import Unreadable, cli
from pytest_amap.parsers.cli import Sandbox
from pytest_amap.verdicts import Part

READY, ENDED = "Ready", ("Error", "Completed")


def asked(member: str, identity: str, ran: Ran) -> Sandbox | Unreadable:
    """The recorded sandbox as it is now; what any other one answered says nothing."""
    found = ran.parsed(cli.sandbox)
    if isinstance(found, Unreadable) or (found.name, found.id) == (member, identity):
        return found
    return Unreadable(f"sandbox {found.name}, id {found.id}, which is not the recorded one")


def recorded(member: str, identity: str, ran: Ran) -> Part:
    """For checks to which the phase is nothing: a probe's answer tells that it ran."""
    name, want = f"{member} is the sandbox that was recorded", f"id {identity}"
    found = asked(member, identity, ran)
    if isinstance(found, Unreadable):
        return unknown(name, want, found, ran.record)
    return decided(name, True, want, f"id {found.id}", ran.record)


def still_ready(member: str, identity: str, ran: Ran) -> Part:
    name, want = f"{member} is still Ready after the denial", f"{READY}, id {identity}"
    found = asked(member, identity, ran)
    if isinstance(found, Unreadable):
        return unknown(name, want, found, ran.record)
    said = f"{found.phase}, id {found.id}"
    if found.phase != READY and found.phase not in ENDED:
        return unknown(name, want, said, ran.record)
    return decided(name, found.phase == READY, want, said, ran.record)
