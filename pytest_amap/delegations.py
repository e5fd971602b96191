"""One delegation as it was seen from the host, and what its records say. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_amap.observations import Ran, Read
from pytest_amap.parsers import audit
from pytest_amap.parsers.audit import OutcomeEvent, Placement


@dataclass(frozen=True)
class Delegation:
    """A task request from `sender` to `receiver`, up to the end it reached.

    `request` is the sender's request id, `notice` and `reply` the router's notice ids; "" where it never came so far.
    The audit logs are the router's own, which agents cannot write; an outcome in them is the receiver's claim, relayed.
    """

    sender: str
    receiver: str
    request: str = ""
    notice: str = ""
    reply: str = ""
    by_hand: bool = False
    earlier: int = 0
    """Placements that an older request of the same id had in the receiver's log: ids can start anew in an outbox."""
    problem: str = ""
    submitted: Ran | None = None
    result: Read | None = None
    """The router's private result of the request."""
    receiver_audit: Read | None = None
    sender_audit: Read | None = None
    reply_notice: Read | None = None

    def outcomes(self) -> tuple[OutcomeEvent, ...]:
        """Every outcome the receiver claimed for the notice, in the order the router consumed them."""
        return audit.outcomes(audit.events(text_of(self.receiver_audit)), self.notice) if self.notice else ()

    def placement(self) -> Placement | None:
        """The router's placing of the notice in the receiver's peer lane."""
        found = placements_of(text_of(self.receiver_audit), self.sender, self.request)
        return next((one for one in found if one.notice_id == self.notice), None)

    def answer(self) -> Placement | None:
        """The router's placing of the reply, bound to the notice, in the sender's peer lane."""
        return answered(text_of(self.sender_audit), self.receiver, self.notice)

    @property
    def records(self) -> tuple[str, ...]:
        seen = (self.submitted, self.result, self.receiver_audit, self.sender_audit, self.reply_notice)
        return tuple(one.record for one in seen if one is not None and one.record)


def text_of(read: Read | None) -> str:
    return read.text or "" if read else ""


def placements_of(log: str, sender: str, request: str) -> tuple[Placement, ...]:
    """Every placement of a task `request` from `sender` in a receiver's audit log, the oldest first.

    Ids are counted per outbox and the log outlives an outbox, so that more than one request may have had the id.
    """
    found = audit.placements(audit.events(log))
    return tuple(one for one in found if (one.sender, one.req_id) == (sender, request) and not one.in_reply_to)


def answered(log: str, replier: str, notice: str) -> Placement | None:
    """The placement of a reply to `notice` in the first sender's audit log."""
    if not notice:
        return None
    return next(
        (p for p in audit.placements(audit.events(log)) if p.sender == replier and p.in_reply_to == notice), None
    )
