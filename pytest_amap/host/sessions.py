"""Is a sandbox Ready, and does its session wait for messages? Asked by steps and checks alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pytest_amap import probes
from pytest_amap.host.host import Waited, every
from pytest_amap.host.lab import Lab, Member
from pytest_amap.observations import Ran
from pytest_amap.parsers import Unreadable, cli, lister
from pytest_amap.parsers.lister import Row

PHASE_OF_NO_RETURN = ("Error", "Completed", "Deleting")
AT_REST = ("Ready", "Stopped", *PHASE_OF_NO_RETURN)


@dataclass(frozen=True)
class Sessions:
    """What the lister found below the main process `main` (a pid, None when there is none), which runs `since`."""

    main: int | None
    rows: tuple[Row, ...]
    since: str = ""


def sessions(ran: Ran) -> Sessions | Unreadable:
    """The answer of probes.sessions."""
    found = probes.answer(ran)
    if isinstance(found, Unreadable):
        return found
    main, since, listed = found.get("main"), found.get("since"), found.get("rows")
    if not isinstance(listed, list):
        return Unreadable("the lister's answer has no rows")
    rows = lister.rows("\n".join(map(str, listed)))
    if isinstance(rows, Unreadable):
        return rows
    return Sessions(main if isinstance(main, int) else None, rows, since if isinstance(since, str) else "")


def went_on(before: Ran, after: Ran) -> bool | None:
    """Whether the main process that runs after a restart is the very one that ran before it; None: not to be told."""
    old, new = sessions(before), sessions(after)
    if isinstance(old, Unreadable) or isinstance(new, Unreadable) or not new.since:
        return None
    return (old.main, old.since) == (new.main, new.since)


def ready(ran: Ran) -> Sessions | None:
    """Exactly one session, with a socket and a key: what the delivery daemon needs."""
    found = sessions(ran)
    return found if isinstance(found, Sessions) and len(found.rows) == 1 and found.rows[0].ready else None


def phase(ran: Ran) -> str:
    """The phase of the sandbox that `sandbox get` shows; "" where it shows none."""
    found = ran.parsed(cli.sandbox)
    return "" if isinstance(found, Unreadable) else found.phase


def await_ready(lab: Lab, member: Member, *, seconds: float) -> Waited[Ran, Sessions]:
    """Wait for one session to speak to; ends at once when the sandbox cannot come back."""
    return lab.host.wait_command(
        f"{member.name}'s session", member.sessions(), ready, seconds=seconds, stop=sandbox_gone(lab, member)
    )


def await_phase(lab: Lab, member: Member, *phases: str) -> Waited[Ran, cli.Sandbox]:
    """Wait until `sandbox get` shows one of the phases."""

    def done(ran: Ran) -> cli.Sandbox | None:
        found = ran.parsed(cli.sandbox)
        return found if isinstance(found, cli.Sandbox) and found.phase in phases else None

    what, seconds = f"{member.name} to be {' or '.join(phases)}", lab.options.deadlines.phase
    return lab.host.wait_command(what, lab.commands.get(member.name), done, seconds=seconds)


def sandbox_gone(lab: Lab, member: Member) -> Callable[[], str]:
    """A sandbox in a phase of no return makes waiting pointless."""

    def stop() -> str:
        told = phase(lab.host.look(lab.commands.get(member.name)))
        return f"{member.name} is {told}" if told in PHASE_OF_NO_RETURN else ""

    return every(5, stop)
