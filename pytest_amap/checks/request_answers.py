"""What became of one request: the router's answer, and what the requester is told. Pure."""

from __future__ import annotations

import json

from pytest_amap.judging import decided, unknown
from pytest_amap.observations import Ran, Read
from pytest_amap.parsers import Unreadable, audit, documents, submit
from pytest_amap.parsers.submit import SubmitResult
from pytest_amap.verdicts import Part


def private(read: Read | None) -> SubmitResult | Unreadable:
    """The result in the router's private file, which no agent can write (facts: amap.md 2.3)."""
    if read is None or read.text is None:
        why = read.problem if read else "not looked for"
        return Unreadable(f"the router's private result could not be read ({why})")
    kept = documents.document(read.text)
    return kept if isinstance(kept, Unreadable) else submit.result(json.dumps(kept.get("result")))


def told(requester: str, ran: Ran | None, request: str, wanted: str, router: Read | None) -> Part:
    """What submit-result says inside the requester's sandbox.

    It shows the requester's own outbox, which its agent can write: a claim, which is no contradiction while the
    router's private result (`router`) does not say the same.
    """
    name, expected = f"submit-result in {requester}", wanted
    if ran is None:
        return unknown(name, expected, "not asked")
    answer = submit.submit_result(ran.stdout)
    if isinstance(answer, Unreadable):
        return unknown(name, expected, answer if ran.ok else ran.said, ran.record)
    if answer.outcome == submit.PENDING:
        return unknown(name, expected, "pending: no answer of the router in the outbox", ran.record)
    if answer.req_id != request:
        return unknown(name, expected, f"the answer to request {answer.req_id}, not to {request}", ran.record)
    seen = f"claimed by {requester}: {answer.outcome} ({answer.reason_code or 'no reason given'})"
    own = private(router)
    if answer.outcome != wanted and (isinstance(own, Unreadable) or own.outcome != answer.outcome):
        beside = own.why if isinstance(own, Unreadable) else f"the router's own result is {own.outcome}"
        return unknown(name, expected, f"{seen}, but {beside}", ran.record)
    return decided(name, answer.outcome == wanted, expected, seen, ran.record)


def cut(before: Read | None, after: Read | None) -> str:
    """Why an absence in the later reading of an audit log proves nothing: what stood there before must still stand."""
    was, now = (one.text or "" if one else "" for one in (before, after))
    return "" if now.startswith(was) else "the audit log no longer begins as it did: it was cut or exchanged meanwhile"


def unread_lines(log: Read | None) -> int:
    """How many lines of an audit log could not be read: with any, an absence proves nothing."""
    return sum(not event.event for event in audit.events(log.text or "")) if log else 0
