"""Placement in a recipient's tree: blobs, message, ledger, audit line, and the notice last."""

from __future__ import annotations

from collections.abc import Sequence

from . import safefs
from .config import LANE_INBOX, LANE_PEER
from .discovery import Instance
from .documents import Letter, encode
from .state import State


def place(
    letter: Letter,
    recipient: Instance,
    state: State,
    *,
    origin: str | None,
    req_id: str | None,
    reply_basis: str | None = None,
    blobs: Sequence[bytes] = (),
) -> None:
    """Write one letter; a reader that sees the notice finds everything it names already there.

    `origin` is the sender's instance, None for a letter of the router's own. OSError where the tree is damaged.
    """
    lane = LANE_PEER if letter.tree == "peer" else LANE_INBOX
    name = f"notice-{letter.notice_id}.json"
    with safefs.directory(recipient.root, lane, "notices", create=True) as notices:
        if blobs:
            attachments = f"{letter.notice_id}.attachments"
            with safefs.directory(recipient.root, lane, "notices", attachments, create=True) as fd:
                for index, blob in enumerate(blobs):
                    safefs.write_bytes(fd, str(index), blob)
        with safefs.directory(recipient.root, lane, "messages", create=True) as messages:
            safefs.write_bytes(messages, name, encode(letter.message()))
        state.write(encode(_ledger(letter, origin, recipient.name, req_id)), "delivered", name)
        if letter.tree == "peer":
            _audit(letter, recipient.name, state, origin, req_id, reply_basis)
        safefs.write_bytes(notices, name, encode(letter.notice()))


def _ledger(letter: Letter, origin: str | None, recipient: str, req_id: str | None) -> dict[str, object]:
    record: dict[str, object] = {
        "notice_id": letter.notice_id,
        "from_instance": origin,
        "from_address": letter.sender,
        "to_instance": recipient,
        "ts": letter.ts,
        "req_id": req_id,
        "message_id": letter.notice_id,
        "transport": "local",
        "tree": letter.tree,
    }
    if origin is None:
        record["authored_by"] = "router"
    return record


def _audit(
    letter: Letter, recipient: str, state: State, origin: str | None, req_id: str | None, reply_basis: str | None
) -> None:
    fields = {
        "notice_id": letter.notice_id,
        "message_id": letter.notice_id,
        "tree": letter.tree,
        "from": letter.sender,
        "to": letter.to,
        "from_instance": origin,
        "to_instance": recipient,
        "req_id": req_id,
        "in_reply_to": letter.in_reply_to,
        "reply_basis": reply_basis,
        "sender_exposure": letter.exposure,
        "origin": "local",
        "signature_verdict": None,
        "demotion_cause": None,
    }
    state.audit("peer_notice_placed", **fields)
