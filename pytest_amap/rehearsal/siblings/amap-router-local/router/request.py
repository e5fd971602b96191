"""One request of an outbox: from bytes to a checked Request, or to the answer that refuses it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from .documents import CONTRACT_VERSION, Answer, rejected

FILE_NAME = re.compile(r"req-([A-Za-z0-9_-]{1,64})\.json")
MAX_BYTES = 1 << 20

_TOP = {"contract_version", "req_id", "agent_id", "ts", "in_reply_to", "draft"}
_DRAFT = {"to", "cc", "subject", "body_text", "reply_to_message_id", "attachments"}
_ATTACHMENT = {"filename", "media_type", "size_bytes", "sha256"}
_ADDRESS = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]+@[A-Za-z0-9.-]+")
_REQ_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_SHA = re.compile(r"[a-f0-9]{64}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class Refused(Exception):
    """The request is answered without being acted on."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.reason)
        self.answer = answer


@dataclass(frozen=True)
class Request:
    """A request whose shape has been checked; addresses are as written."""

    req_id: str
    to: tuple[str, ...]
    cc: tuple[str, ...]
    subject: str
    body: str
    reply_to: str | None
    attachments: tuple[dict[str, Any], ...]


def parse(raw: bytes, req_id: str, instance: str) -> Request:
    """Check in the order of the contract: JSON, top keys, version, shape, then the two identities."""
    try:
        document = json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise Refused(rejected("malformed_request", f"invalid JSON: {error}")) from error
    if not isinstance(document, dict):
        raise _malformed("a request is a JSON object")
    _only(document, _TOP, "request")
    if document.get("contract_version") != CONTRACT_VERSION:
        raise Refused(rejected("unsupported_contract_version", f'expected the string "{CONTRACT_VERSION}"'))
    request = _shaped(document)
    if request.req_id != req_id:
        raise Refused(rejected("req_id_mismatch", f"the file is named for {req_id}"))
    if document.get("agent_id") not in (None, instance):
        raise Refused(rejected("agent_id_mismatch", f"this outbox belongs to {instance}"))
    return request


def _shaped(document: dict[str, Any]) -> Request:
    for key in ("agent_id", "ts"):
        if key in document:
            _plain(document, key, empty=False)
    draft = document.get("draft")
    if not isinstance(draft, dict):
        raise _malformed("draft must be an object")
    _only(draft, _DRAFT, "draft")
    req_id = document.get("req_id")
    if not isinstance(req_id, str) or not _REQ_ID.fullmatch(req_id):
        raise _malformed("req_id must be a plain identifier")
    to = _addresses(draft, "to")
    if not to:
        raise _malformed("draft.to must name at least one address")
    body = draft.get("body_text")
    if not isinstance(body, str):
        raise _malformed("draft.body_text must be a string")
    top = _plain(document, "in_reply_to") if "in_reply_to" in document else None
    reply = _plain(draft, "reply_to_message_id") if draft.get("reply_to_message_id") is not None else None
    return Request(
        req_id=req_id,
        to=to,
        cc=_addresses(draft, "cc"),
        subject=_plain(draft, "subject"),
        body=body,
        reply_to=top if top is not None else reply,
        attachments=_attachments(draft.get("attachments", [])),
    )


def _malformed(text: str) -> Refused:
    return Refused(rejected("malformed_request", text))


def _only(document: dict[str, Any], known: set[str], where: str) -> None:
    unknown = sorted(set(document) - known)
    if unknown:
        raise _malformed(f"{where} has unknown key(s): {', '.join(unknown)}")


def _plain(document: dict[str, Any], key: str, empty: bool = True) -> str:
    value = document.get(key)
    if not isinstance(value, str) or _CONTROL.search(value) or not (value or empty):
        raise _malformed(f"{key} must be a string without control characters")
    return value


def _addresses(draft: dict[str, Any], key: str) -> tuple[str, ...]:
    value = draft.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) and _ADDRESS.fullmatch(item) for item in value):
        raise _malformed(f"draft.{key} must be a list of bare addresses")
    return tuple(value)


def _attachments(value: Any) -> tuple[dict[str, Any], ...]:
    if not isinstance(value, list):
        raise _malformed("draft.attachments must be a list")
    for item in value:
        if not isinstance(item, dict) or set(item) != _ATTACHMENT:
            raise _malformed("an attachment has exactly filename, media_type, size_bytes and sha256")
        _plain(item, "filename", empty=False)
        _plain(item, "media_type", empty=False)
        size, sha = item["size_bytes"], item["sha256"]
        if isinstance(size, bool) or not isinstance(size, int) or size < 0:
            raise _malformed("size_bytes must be a whole number, zero or more")
        if not isinstance(sha, str) or not _SHA.fullmatch(sha):
            raise _malformed("sha256 must be 64 lower-case hex digits")
    return tuple(value)
