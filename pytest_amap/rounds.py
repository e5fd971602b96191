"""One round with a setting on the receiver: put, restarted, sent to, put back. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_amap import probes
from pytest_amap.delegations import Delegation
from pytest_amap.observations import Ran, Read
from pytest_amap.parsers import Unreadable, audit
from pytest_amap.parsers.audit import OutcomeEvent

REFUSE = '{"crossSessionInbound": "refuse"}'
"""The whole text of the settings file; only a file of exactly these bytes is ever removed."""
LOCAL = "/sandbox/.claude/settings.local.json"
PROJECT = "/sandbox/.claude/settings.json"

LOCAL_SUBJECT = "L1 negative case {run}: refusing receiver"
PROJECT_SUBJECT = "L1 negative case {run}: refuse in settings.json"

ABSENT, OURS = "absent", "ours"


@dataclass(frozen=True)
class Restart:
    """A stop and a start of the receiver, as far as they went; `problem` is "" when its session is ready again."""

    problem: str = ""
    stop: Ran | None = None
    stopped: Ran | None = None
    start: Ran | None = None
    ready: Ran | None = None


@dataclass(frozen=True)
class Restore:
    """The receiver put back; `problem` is "" when that was seen, else `remedy` are the commands that do it by hand."""

    problem: str = ""
    remedy: tuple[str, ...] = ()
    taken: Ran | None = None
    restart: Restart | None = None


@dataclass(frozen=True)
class Round:
    """What was seen; a field is None where the round did not come so far, and `problem` says why.

    `task` holds both audit logs as they were before anything was put back, `end` the receiver's after that. `state`
    and `kept` are the file's state before the round and after the restart, `told` is submit-result in the sender.
    """

    receiver: str
    path: str
    text: str
    problem: str = ""
    state: Ran | None = None
    put: Ran | None = None
    restart: Restart | None = None
    kept: Ran | None = None
    task: Delegation | None = None
    told: Ran | None = None
    restore: Restore | None = None
    end: Read | None = None

    def before(self) -> tuple[OutcomeEvent, ...]:
        """The outcomes that the receiver claimed while the setting stood: until it was started again without it."""
        seen, later = self._outcomes()
        return (*seen, *(one for one in later if one.ts[:19] < self._started_again()[:19]))

    def after(self) -> tuple[OutcomeEvent, ...]:
        """Those it claimed once it was put back."""
        _, later = self._outcomes()
        return tuple(one for one in later if one.ts[:19] >= self._started_again()[:19])

    def _outcomes(self) -> tuple[tuple[OutcomeEvent, ...], tuple[OutcomeEvent, ...]]:
        """Those in the log before anything was put back, and those that came to it later."""
        if self.task is None:
            return (), ()
        seen = self.task.outcomes()
        log = self.end.text if self.end else None
        return seen, audit.outcomes(audit.events(log or ""), self.task.notice)[len(seen) :]

    def _started_again(self) -> str:
        start = self.restore.restart.start if self.restore and self.restore.restart else None
        return start.started if start else ""


def state_in(ran: Ran | None) -> str:
    """What a probe of the settings file told: absent, ours or other; else why it told nothing."""
    found = probes.answer(ran) if ran else Unreadable("not asked")
    return found.why if isinstance(found, Unreadable) else str(found.get("state"))


def decisive(history: tuple[OutcomeEvent, ...]) -> OutcomeEvent | None:
    """The first outcome that says whether the receiver took the message: `held` counts, a failed attempt does not."""
    return next((one for one in history if one.outcome == "held" or one.outcome in audit.TERMINAL), None)
