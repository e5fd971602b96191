"""What the connector's `inbox-submit` prints.

Run in a sandbox, it is the agent's own view.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from . import Unreadable, documents, shown
from .documents import words
from .text import lines

PENDING = "pending"
_SUBMITTED = re.compile(r"Submitted request ([A-Za-z0-9_-]{1,64}) to the relay drop-box .*")
_OUTCOMES = ("accepted", "queued_for_human", "rejected")


@dataclass(frozen=True)
class SubmitResult:
    """The router's answer to one request; while there is none, `outcome` is `pending`."""

    outcome: str
    req_id: str = ""
    reason_code: str = ""
    message_id: str = ""


def submitted(stdout: str) -> str | Unreadable:
    """The request id of `inbox-submit submit`.

    Ids are counted per outbox: two members may use the same.
    """
    found = [match[1] for line in lines(stdout) if (match := _SUBMITTED.fullmatch(line))]
    if len(found) != 1:
        return Unreadable(f"expected one line 'Submitted request ID to ...', saw {shown(stdout.strip())}")
    return found[0]


def submit_result(stdout: str) -> SubmitResult | Unreadable:
    """The answer of `inbox-submit submit-result ID`: a result document, or the word pending."""
    if stdout.strip() == PENDING:
        return SubmitResult(PENDING)
    return result(stdout)


def result(text: str) -> SubmitResult | Unreadable:
    """A result document, in an outbox or printed."""
    read = documents.document(text)
    if isinstance(read, Unreadable):
        return read
    found = words(read, "req_id", "outcome")
    if isinstance(found, Unreadable):
        return found
    if found[1] not in _OUTCOMES:
        return Unreadable(f"expected one of {', '.join(_OUTCOMES)}, saw {shown(found[1])}")
    rest = [read.get(key) for key in ("reason_code", "message_id")]
    if not all(isinstance(word, (str, type(None))) for word in rest):
        return Unreadable(f"expected text in reason_code and message_id, saw {shown(rest)}")
    return SubmitResult(found[1], found[0], *(word or "" for word in rest))
