"""One round with a setting on the receiver: put, restarted, sent to, put back. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_amap import probes
from pytest_amap.delegations import Delegation, text_of
from pytest_amap.observations import Ran, Read
from pytest_amap.parsers import Unreadable, audit
from pytest_amap.parsers.audit import OutcomeEvent

REFUSE = '{"crossSessionInbound": "refuse"}'
"""The whole text of the settings file; only a file of exactly these bytes is ever removed."""
LOCAL = "/sandbox/.claude/settings.local.json"
PROJECT = "/sandbox/.claude/settings.json"

LOCAL_SUBJECT = "L1 negative case {run}: refusing receiver"
PROJECT_SUBJECT = "L1 negative case {run}: refuse in settings.json"

ABSENT, OURS, OTHER = "absent", "ours", "other"


@dataclass(frozen=True)
class Restart:
    """A stop and a start of the receiver, as far as they went; `problem` is "" when its session is ready again.

    `before` are its sessions before the stop, `claims` is the router's audit log of it while it stood still.
    """

    problem: str = ""
    before: Ran | None = None
    stop: Ran | None = None
    stopped: Ran | None = None
    claims: Read | None = None
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

    `task` holds both audit logs as they were before anything was put back, `end` the receiver's after that, `replies`
    the sender's before the request. `state` and `kept` are the file's state before the round and after the restart,
    `told` is submit-result in the sender.
    """

    receiver: str
    path: str
    text: str
    problem: str = ""
    state: Ran | None = None
    put: Ran | None = None
    restart: Restart | None = None
    kept: Ran | None = None
    replies: Read | None = None
    task: Delegation | None = None
    told: Ran | None = None
    restore: Restore | None = None
    end: Read | None = None

    def before(self) -> tuple[OutcomeEvent, ...]:
        """The outcomes that the receiver claimed while the setting stood: up to its stop, by the log's own order."""
        return self._history()[: self._stood()]

    def after(self) -> tuple[OutcomeEvent, ...]:
        """Those it claimed once it was put back."""
        return self._history()[self._stood() :]

    def _history(self) -> tuple[OutcomeEvent, ...]:
        seen = self._in(self.task.receiver_audit if self.task else None)
        return (*seen, *self._in(self.end)[len(seen) :])

    def _stood(self) -> int:
        back = self.restore.restart if self.restore else None
        readings = (self.task.receiver_audit if self.task else None, back.claims if back else None)
        return max(len(self._in(read)) for read in readings)

    def _in(self, log: Read | None) -> tuple[OutcomeEvent, ...]:
        return audit.outcomes(audit.events(text_of(log)), self.task.notice) if self.task and self.task.notice else ()


def state_in(ran: Ran | None) -> str:
    """What a probe of the settings file told: absent, ours or other; else why it told nothing."""
    found = probes.answer(ran) if ran else Unreadable("not asked")
    return found.why if isinstance(found, Unreadable) else str(found.get("state"))


def decisive(history: tuple[OutcomeEvent, ...]) -> OutcomeEvent | None:
    """The first outcome that says whether the receiver took the message: `held` counts, a failed attempt does not."""
    return next((one for one in history if one.outcome == "held" or one.outcome in audit.TERMINAL), None)
