"""The notices in a recipient's two lanes: which are new, and what each is about."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from pytest_amap.host.lab import Lab
from pytest_amap.observations import Listing, Read
from pytest_amap.parsers import Unreadable, documents

NOTICE = re.compile(r"notice-([A-Za-z0-9_-]{1,64})\.json")
LANES = ("peer", "inbox")


def notices(lab: Lab, member: str, lane: str) -> str:
    return os.fspath(lab.home.lane(member, lane) / "notices")


def listings(lab: Lab, member: str, when: str) -> tuple[Listing, Listing]:
    """The peer lane and the mail lane."""
    peer, mail = (
        lab.host.listing(notices(lab, member, lane), f"notices in the recipient's {lane}, {when}") for lane in LANES
    )
    return peer, mail


def fresh(before: Listing, after: Listing) -> list[str]:
    """The names of notices that are new."""
    return [name for name in after.names if name not in before.names and NOTICE.fullmatch(name)]


def notice_of(path: str) -> str:
    found = NOTICE.fullmatch(os.path.basename(path))
    return found[1] if found else ""


def subject_of(path: str, arrived: Iterable[Read]) -> str | None:
    """The subject of one of the notices that were read, by which a run's own are known; None where it could not be."""
    texts = [read.text for read in arrived if read.path == path and read.text]
    read = documents.document(texts[0]) if texts else Unreadable("not read")
    message = None if isinstance(read, Unreadable) else read.get("message")
    subject = message.get("subject") if isinstance(message, dict) else None
    return subject if isinstance(subject, str) else None
