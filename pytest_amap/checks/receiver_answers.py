"""How a message ended at an accepting and at a refusing receiver: parts that unknown_4 and unknown_5 share.

An outcome in the router's audit log is the receiver's claim, relayed. It decides only beside a fact that the router
made itself: the reply bound to the notice, or that there is none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from pytest_amap import probes
from pytest_amap.checks.request_answers import cut, unread_lines
from pytest_amap.delegations import Delegation
from pytest_amap.host import delegating, sessions
from pytest_amap.host.lab import Lab
from pytest_amap.host.receiving import STOPPED
from pytest_amap.judging import decided, unknown
from pytest_amap.observations import Ran, Read
from pytest_amap.parsers import Unreadable, audit
from pytest_amap.parsers.audit import OutcomeEvent
from pytest_amap.rounds import ABSENT, OURS, Restart, Restore, Round, decisive, state_in
from pytest_amap.verdicts import PASS, UNKNOWN, Outcome, Part

DELIVERED, HELD, REFUSED = "delivered", "held", "refused"
WENT_ON = "the main process from before the stop went on"
NOT_THE_SETTING = ", which is not a refusal by the setting"
_OF_THE_SETTING = re.compile(r"(?!held by the receiving sandbox).*(crossSessionInbound|\brefus)", re.I | re.S)
"""The daemon's words for a refusing receiver; a hold for a person's approval begins otherwise (facts: amap.md 3.3)."""


def as_of_now(lab: Lab, task: Delegation) -> Delegation:
    """The delegation with both audit logs as they stand now."""
    receiver, sender = (os.fspath(delegating.audit_log(lab, name)) for name in (task.receiver, task.sender))
    return replace(
        task,
        receiver_audit=lab.host.read(receiver, "the receiver's outcomes"),
        sender_audit=lab.host.read(sender, "the reply"),
    )


def delivered(task: Delegation, router: Ran) -> Part:
    """The delegation under accept: delivered by the receiver's word, and answered by the router's own record."""
    name, want = "under accept the delegation is delivered", "delivered in the end, beside a reply bound to it"
    records = (*task.records, router.record)
    if not task.notice or (unread := unread_lines(task.receiver_audit)):
        why = f"{unread} lines of the audit log could not be read" if task.notice else task.problem or "no notice"
        return unknown(name, want, why, *records)
    history, answer = task.outcomes(), task.answer()
    if not history:
        return unknown(name, want, f"no outcome in the router's audit log of {task.receiver}", *records)
    said = f"claimed by {task.receiver}, in the router's audit log: {story(history)}"
    reply = f"the router bound reply {answer.notice_id} to it" if answer else "no reply stands beside it"
    end = audit.terminal(history)
    if audit.contradictory(history):
        return unknown(name, want, f"{said}, which decides nothing; {reply}", *records)
    if end is not None and end.outcome == DELIVERED:
        return Part(name, PASS if answer else UNKNOWN, want, f"{said}; {reply}", records)
    if answer:
        return unknown(name, want, f"{said}, and yet {reply}", *records)
    if end is None and (history[-1].outcome != HELD or router.stdout.strip() != "running"):
        return unknown(name, want, f"{said}; {reply}", *records)
    return decided(name, False, want, f"{said}; {reply}", *records)


def not_restarted(away: Restart | None) -> str:
    """Why nothing was read anew at a launch, or "": the setting is read there alone."""
    if why := not_ready_again(away):
        return why
    if went_on(away) is None:
        return "whether another main process was started could not be told"
    return WENT_ON if went_on(away) else ""


def not_ready_again(away: Restart | None) -> str:
    """Why the receiver was not seen to stop and to be ready once more, or ""."""
    if away is None or away.problem or away.stopped is None or away.ready is None:
        return (away.problem if away else "") or "the receiver was not restarted"
    if sessions.phase(away.stopped) != STOPPED:
        return "the receiver was not seen to be Stopped"
    return "" if sessions.ready(away.ready) else "no session that can be spoken to after the start"


def went_on(away: Restart | None) -> bool | None:
    return sessions.went_on(away.before, away.ready) if away and away.before and away.ready else None


def refusal(seen: Round, name: str) -> Part:
    """Under the setting a notice is held or refused in the setting's name, and never delivered."""
    want, records = "held or refused because of the setting, never delivered", of_round(seen)
    if state_in(seen.kept) != OURS or seen.task is None or not seen.task.notice:
        return unknown(name, want, seen.problem or "the setting did not stand", *records)
    if why := not_restarted(seen.restart):
        return unknown(name, want, why, *records)
    history = seen.before()
    said = f"claimed by {seen.receiver}: {story(history)}"
    if any(one.outcome == DELIVERED for one in history):
        silence = "" if seen.task.answer() else "; no reply: silence was counted as receipt"
        return decided(name, False, want, f"{said}{silence}", *records)
    if unread := unread_lines(seen.task.receiver_audit):
        return unknown(name, want, f"{unread} lines of the audit log could not be read", *records)
    first = decisive(history)
    if first is None:
        return unknown(name, want, f"{said if history else 'no outcome'} ({seen.problem or 'in time'})", *records)
    if audit.contradictory(history):
        return unknown(name, want, f"{said}, which decides nothing", *records)
    outcome, why = because(first)
    return Part(name, outcome, want, f"{said}{why}", records)


def because(one: OutcomeEvent) -> tuple[Outcome, str]:
    """A hold for a person's approval is not the refusal that was set (field report A37)."""
    if one.outcome == REFUSED or (one.outcome == HELD and by_setting(one)):
        return PASS, ""
    return UNKNOWN, NOT_THE_SETTING


def by_setting(one: OutcomeEvent) -> bool:
    return bool(_OF_THE_SETTING.match(one.detail))


def tightened(seen: Round, name: str) -> Part:
    """That the file did it: the daemon's own gate refuses for other reasons, and its word for that is `refused`."""
    part, first = refusal(seen, name), decisive(seen.before())
    if part.outcome is PASS and first is not None and not by_setting(first):
        return replace(part, outcome=UNKNOWN, seen=f"{part.seen}{NOT_THE_SETTING}")
    return part


def unanswered(seen: Round) -> Part:
    """The router's own fact beside the claim: nothing came back for the notice before the receiver was put back."""
    name, want = "no reply came while the receiver refused", "no reply bound to the notice"
    log = seen.task.sender_audit if seen.task else None
    answer = seen.task.answer() if seen.task else None
    records = of_round(seen)
    if answer is not None:
        part = decided(name, False, want, f"reply {answer.notice_id} of {seen.receiver}", *records)
        return part if state_in(seen.kept) == OURS else replace(part, outcome=UNKNOWN)
    if log is None or log.problem not in (None, "ENOENT") or unread_lines(log):
        return unknown(name, want, "the sender's audit log could not be read whole", *records)
    if seen.replies is None or (why := cut(seen.replies, log)):
        said = "the sender's audit log was not read before" if seen.replies is None else why
        return unknown(name, want, said, *records)
    return decided(name, True, want, "no reply in the router's audit log", *records)


def put_back(seen: Round) -> Iterator[Part]:
    """The receiver is as it was: file gone, session ready, and the held notice delivered after all."""
    if seen.restore is None:
        return
    name = f"{seen.receiver} was put back after {os.path.basename(seen.path)}"
    want = "the setting gone, the session ready, the held notice delivered"
    restore, records = seen.restore, of_round(seen)
    if restore.problem:
        remedy = f"; put it right: {' && '.join(restore.remedy)}" if restore.remedy else ""
        yield unknown(name, want, f"{restore.problem}{remedy}", *records)
        return
    if wrote(seen) and restore.restart is None:
        yield unknown(name, want, f"its sandbox is no more, so {seen.receiver} was not put back", *records)
        return
    back = restore.restart
    if back and (why := not_ready_again(back) or still_there(restore) or (WENT_ON if went_on(back) else "")):
        yield unknown(name, want, why, *records)
        return
    notice, end = seen.task.notice if seen.task else "", audit.terminal(seen.after())
    ready = "setting gone and session ready" if restore.restart else "nothing had been written"
    if not notice:
        yield decided(name, True, want, f"{ready}; no notice was placed", *records)
    elif before := audit.terminal(seen.before()):
        yield decided(name, True, want, f"{ready}; the notice had ended as {before.outcome}", *records)
    elif end is not None and end.outcome == DELIVERED:
        yield decided(name, True, want, f"{ready}; claimed by {seen.receiver}: {story(seen.after())}", *records)
    else:
        yield unknown(name, want, f"{ready}; notice {notice} is not delivered: {story(seen.after())}", *records)


def still_there(restore: Restore) -> str:
    left = state_in(restore.taken)
    return "" if left == ABSENT else f"the setting's file is {left}"


def wrote(seen: Round) -> bool:
    """Whether the file was written, or may have been."""
    found = probes.answer(seen.put) if seen.put else {"errno": "ENOENT"}
    return isinstance(found, Unreadable) or found.get("errno") is None


def story(history: Iterable[OutcomeEvent]) -> str:
    told = (f"{one.outcome} ({one.detail})" if one.detail else one.outcome for one in history)
    return ", then ".join(told) or "nothing"


def of_round(seen: Round) -> tuple[str, ...]:
    """The records of a round, in its order."""
    away, back = seen.restart, seen.restore.restart if seen.restore else None
    steps: tuple[Ran | Read | None, ...] = (
        seen.state,
        seen.put,
        *((away.before, away.stop, away.stopped, away.claims, away.start, away.ready) if away else ()),
        seen.kept,
        seen.replies,
        seen.told,
        seen.restore.taken if seen.restore else None,
        *((back.before, back.stop, back.stopped, back.claims, back.start, back.ready) if back else ()),
        seen.end,
    )
    mine = tuple(one.record for one in steps if one is not None and one.record)
    return (*mine, *(seen.task.records if seen.task else ()))
