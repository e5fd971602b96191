"""The router's audit log, JSON lines, one file an instance.

The router writes it, so a placement is its own fact. An outcome's word and detail are what the receiving sandbox
reported: a claim, relayed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from . import Unreadable, documents
from .documents import words
from .text import lines

PLACED, CONSUMED = "peer_notice_placed", "outcome_consumed"
TRANSIENT = frozenset({"held", "inject_failed", "ambiguous_target"})
TERMINAL = frozenset({"delivered", "refused", "denied"})

_NEEDED = {
    PLACED: ("notice_id", "from_instance", "to_instance", "req_id"),
    CONSUMED: ("notice_id", "outcome", "tree"),
}


@dataclass(frozen=True)
class Event:
    """One line.

    `event` is empty where the line could not be read; then `fields` holds it under "line".
    """

    ts: str
    event: str
    instance: str
    fields: dict[str, Any]


@dataclass(frozen=True)
class Placement:
    """A notice put into a peer lane; `in_reply_to` is empty for a task."""

    ts: str
    notice_id: str
    sender: str
    recipient: str
    req_id: str
    in_reply_to: str


@dataclass(frozen=True)
class OutcomeEvent:
    """What the receiver reported of a notice; `ts` is when the router took the report in."""

    ts: str
    outcome: str
    detail: str


def events(text: str) -> tuple[Event, ...]:
    """Every line of the log, in order.

    A last line that is still being written is one that could not be read.
    """
    return tuple(_event(line) for line in lines(text) if line.strip())


def placements(events: Iterable[Event]) -> tuple[Placement, ...]:
    """The placed notices, in order.

    Their absence means something only where every line could be read.
    """
    return tuple(
        Placement(
            ts=event.ts,
            notice_id=event.fields["notice_id"],
            sender=event.fields["from_instance"],
            recipient=event.fields["to_instance"],
            req_id=event.fields["req_id"],
            in_reply_to=_word(event, "in_reply_to"),
        )
        for event in events
        if event.event == PLACED
    )


def outcomes(events: Iterable[Event], notice_id: str) -> tuple[OutcomeEvent, ...]:
    """The whole history of one peer notice, in order: `held` may be followed by `delivered`."""
    return tuple(
        OutcomeEvent(event.ts, event.fields["outcome"], _word(event, "detail"))
        for event in events
        if event.event == CONSUMED and event.fields["tree"] == "peer" and event.fields["notice_id"] == notice_id
    )


def terminal(outcomes: Iterable[OutcomeEvent]) -> OutcomeEvent | None:
    """The first outcome after which the receiver tries no more, or None while there is none."""
    return next((outcome for outcome in outcomes if outcome.outcome in TERMINAL), None)


def contradictory(outcomes: Iterable[OutcomeEvent]) -> bool:
    """Whether a history decides nothing: it claims two different ends, or a word that no receiver has."""
    claimed = {outcome.outcome for outcome in outcomes}
    return len(claimed & TERMINAL) > 1 or not claimed <= TERMINAL | TRANSIENT


def _event(line: str) -> Event:
    unread = Event("", "", "", {"line": line[:2000]})
    fields = documents.document(line) if line.lstrip().startswith("{") else unread
    if not isinstance(fields, dict):
        return unread
    envelope = words(fields, "ts", "event", "instance")
    if isinstance(envelope, Unreadable) or isinstance(words(fields, *_NEEDED.get(envelope[1], ())), Unreadable):
        return unread
    ts, event, instance = envelope
    rest = {key: item for key, item in fields.items() if key not in ("ts", "event", "instance")}
    return Event(ts, event, instance, rest)


def _word(event: Event, key: str) -> str:
    word = event.fields.get(key)
    return word if isinstance(word, str) else ""
