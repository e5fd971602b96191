"""Attachments of a request: the sidecar directory is copied in whole and compared with its descriptors."""

from __future__ import annotations

import hashlib
import os
from typing import Any

from . import safefs
from .documents import Answer, held, rejected
from .request import Refused, Request


def sidecar(req_id: str) -> str:
    """The directory beside a request that holds its attachments by ordinal."""
    return f"req-{req_id}.attachments"


def ingest(outbox_fd: int, request: Request, limits: dict[str, int]) -> list[bytes]:
    """The bytes of every attachment, in order; Refused with the answer where the sidecar does not match."""
    name = sidecar(request.req_id)
    try:
        fd = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=outbox_fd)
    except FileNotFoundError:
        if request.attachments:
            raise _mismatch("the sidecar directory is missing") from None
        return []
    except OSError as error:
        raise _mismatch("the sidecar is not a directory") from error
    try:
        if not request.attachments:
            raise _mismatch("a sidecar directory without descriptors")
        _caps(request.attachments, limits)
        return _read(fd, request.attachments)
    finally:
        os.close(fd)


def descriptors(notice_id: str, declared: tuple[dict[str, Any], ...]) -> list[dict[str, Any]]:
    """What the recipient is told of each attachment: the declared facts, clean, with its reference."""
    return [
        {**item, "disposition": "clean", "content_ref": f"{notice_id}.attachments/{index}"}
        for index, item in enumerate(declared)
    ]


def accepted(declared: tuple[dict[str, Any], ...]) -> list[dict[str, Any]]:
    """The result's line for each attachment of an accepted request."""
    return [{"index": index, "outcome": "accepted"} for index in range(len(declared))]


def _caps(declared: tuple[dict[str, Any], ...], limits: dict[str, int]) -> None:
    if len(declared) > limits["attachment_max_count"]:
        raise Refused(held("attachment_count_exceeded", f"more than {limits['attachment_max_count']} attachments"))
    sizes = [item["size_bytes"] for item in declared]
    if max(sizes) > limits["attachment_max_bytes"] or sum(sizes) > limits["attachment_max_total_bytes"]:
        answer: Answer = held("attachment_too_large", "an attachment is above the limit")
        raise Refused(answer)


def _read(fd: int, declared: tuple[dict[str, Any], ...]) -> list[bytes]:
    if sorted(os.listdir(fd)) != sorted(str(index) for index in range(len(declared))):
        raise _mismatch("the sidecar's ordinals do not match the descriptors")
    blobs = []
    for index, item in enumerate(declared):
        try:
            data = safefs.read_bytes(fd, str(index), item["size_bytes"])
        except OSError as error:
            raise _mismatch(f"attachment {index} {error.strerror}") from error
        if len(data) != item["size_bytes"] or hashlib.sha256(data).hexdigest() != item["sha256"]:
            raise _mismatch(f"attachment {index} differs from its descriptor")
        blobs.append(data)
    return blobs


def _mismatch(text: str) -> Refused:
    return Refused(rejected("attachment_mismatch", text))
