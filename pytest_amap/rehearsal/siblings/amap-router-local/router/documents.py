"""The documents the router writes, byte for byte: results, notices, messages, delivery reports."""

from __future__ import annotations

import json
import secrets
import time
from dataclasses import dataclass, field
from typing import Any

CONTRACT_VERSION = "2"
_PREVIEW = 200


def now() -> str:
    """This moment, UTC, whole seconds, ending in Z."""
    return zulu(time.time())


def zulu(moment: float) -> str:
    """Epoch seconds as UTC text ending in Z."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))


def encode(document: dict[str, Any]) -> bytes:
    """One line of JSON, keys sorted, no newline at the end."""
    return json.dumps(document, sort_keys=True, ensure_ascii=False).encode()


def new_notice_id() -> str:
    """32 lower-case hex digits, made by the router alone."""
    return secrets.token_hex(16)


@dataclass(frozen=True)
class Answer:
    """What the sender is told about one request."""

    outcome: str
    reason: str
    detail: str | None = None
    recipients: list[str] | None = None
    message_id: str | None = None
    attachments: list[dict[str, Any]] | None = None

    def document(self, req_id: str) -> dict[str, Any]:
        """The result document; `recipients` and `attachments` only where set."""
        body: dict[str, Any] = {
            "contract_version": CONTRACT_VERSION,
            "req_id": req_id,
            "outcome": self.outcome,
            "detail": self.detail,
            "reason_code": self.reason,
            "ts": now(),
            "message_id": self.message_id,
            "job_id": None,
        }
        if self.recipients is not None:
            body["recipients"] = self.recipients
        if self.attachments:
            body["attachments"] = self.attachments
        return body


def rejected(reason: str, detail: str | None = None) -> Answer:
    """A refusal that stays one."""
    return Answer("rejected", reason, detail)


def held(reason: str, detail: str | None = None, recipients: list[str] | None = None) -> Answer:
    """A request that waits for a human."""
    return Answer("queued_for_human", reason, detail, recipients)


@dataclass(frozen=True)
class Letter:
    """One message on its way to one instance."""

    notice_id: str
    tree: str  # "peer" or "inbox"
    ts: str
    sender: str  # address
    to: str  # address
    subject: str
    body: str
    in_reply_to: str | None = None
    attachments: list[dict[str, Any]] = field(default_factory=list)
    exposure: dict[str, Any] | None = None

    def notice(self) -> dict[str, Any]:
        """The notice: it has a preview and no `to`."""
        message: dict[str, Any] = {
            "id": self.notice_id,
            "from": self.sender,
            "subject": self.subject,
            "preview": preview(self.body),
            "mailbox": self.tree,
        }
        if self.tree == "peer":
            message["sender_exposure"] = self.exposure
        else:
            message["provenance"] = "internal"
        if self.in_reply_to:
            message["in_reply_to"] = self.in_reply_to
        if self.attachments:
            message["attachments"] = self.attachments
        return {
            "contract_version": CONTRACT_VERSION,
            "notice_id": self.notice_id,
            "ts": self.ts,
            "kind": "peer" if self.tree == "peer" else "deliver",
            "message": message,
        }

    def message(self) -> dict[str, Any]:
        """The message with its whole body; `to` is here, and the delivery daemon compares it."""
        document: dict[str, Any] = {
            "contract_version": CONTRACT_VERSION,
            "notice_id": self.notice_id,
            "body_text": self.body,
            "id": self.notice_id,
            "date": self.ts,
            "from": self.sender,
            "to": self.to,
            "subject": self.subject,
        }
        if self.attachments:
            document["attachments"] = self.attachments
        return document


def preview(body: str) -> str:
    """The first 200 characters, control characters as spaces."""
    return "".join(" " if ord(char) < 32 or ord(char) == 127 else char for char in body[:_PREVIEW])


def exposure(router: str, window_seconds: int) -> dict[str, Any]:
    """What the router asserts about the sender: no external mail has reached it in the window that ends now."""
    moment = time.time()
    return {
        "asserted_by": router,
        "external_mail_delivered": False,
        "window_start": zulu(moment - window_seconds),
        "window_end": zulu(moment),
    }
