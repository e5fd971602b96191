"""Pass criterion 5's last questions: what reached the recipient, by the router's audit log and in its two lanes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from pytest_amap.checks.request_answers import cut, private, unread_lines
from pytest_amap.delegations import text_of
from pytest_amap.host.lab import Lab
from pytest_amap.judging import decided, listed, unknown
from pytest_amap.observations import Listing, Read
from pytest_amap.parsers import Unreadable, audit, documents
from pytest_amap.parsers.audit import Placement
from pytest_amap.verdicts import Part

if TYPE_CHECKING:
    from pytest_amap.checks.pass_criterion_5 import Seen

AS_REPLY = frozenset({"unresolved_reply", "peer_reply_window_expired"})
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


def exchanged(seen: Seen) -> str:
    """Why nothing is shown of a new task: the agent may exchange the request for a reply before it is read."""
    replies = [one for one in placed(seen) if one.in_reply_to]
    if replies:
        return f"it was routed as a reply to {replies[0].in_reply_to}, not as a new task"
    answer = private(seen.answer)
    as_reply = not isinstance(answer, Unreadable) and answer.reason_code in AS_REPLY
    return "the router judged it as a reply, not as a new task" if as_reply else ""


def unplaced(seen: Seen) -> Part:
    """No placement in the recipient's audit log, of which every line must be readable."""
    name, want = f"nothing of it was placed with {seen.task.receiver}", "no placement of the request in its audit log"
    records = tuple(one.record for one in (seen.log_before, seen.log_after) if one)
    if why := exchanged(seen):
        return unknown(name, want, why, *records)
    if mine := placed(seen):
        return decided(name, False, want, f"placed as notice {listed(one.notice_id for one in mine)}", *records)
    if why := unreadable(seen.log_before) or unreadable(seen.log_after) or cut(seen.log_before, seen.log_after):
        return unknown(name, want, why, *records)
    return decided(name, True, want, f"none among {len(placements(seen.log_after))} placements", *records)


def unreadable(log: Read | None) -> str:
    """Why an absence in this log proves nothing; a log that is not there has no lines."""
    if log is None or (log.problem and log.problem != "ENOENT"):
        return f"the audit log could not be read ({log.problem if log else 'not looked for'})"
    unread = unread_lines(log)
    return f"{unread} lines of the audit log could not be read" if unread else ""


def placements(log: Read | None) -> tuple[Placement, ...]:
    return audit.placements(audit.events(text_of(log)))


def placed(seen: Seen) -> list[Placement]:
    """New placements of this request; ids are counted per outbox and may have been used before."""
    old = {one.notice_id for one in placements(seen.log_before)}
    key = (seen.task.sender, seen.task.request)
    return [one for one in placements(seen.log_after) if (one.sender, one.req_id) == key and one.notice_id not in old]


def unnoticed(seen: Seen) -> Part:
    """The recipient's lanes: each notice that is new must be accounted for as something else."""
    name, want = f"no notice of it stands in {seen.task.receiver}'s lanes", "no new notice of the request"
    pairs = ((seen.notices_before, seen.notices_after), (seen.mail_before, seen.mail_after))
    listings = tuple(one for pair in pairs for one in pair if one)
    records = (*(one.record for one in listings), *(read.record for read in seen.arrived))
    whole = [(before, after) for before, after in pairs if after and not before.problem and not after.problem]
    if len(whole) < len(pairs):
        problems = [one.problem for one in listings if one.problem]
        return unknown(name, want, f"a lane could not be listed ({listed(problems, 'not looked for')})", *records)
    new = [f"{after.path}/{name}" for before, after in whole for name in fresh(before, after)]
    mine = {one.notice_id for one in placed(seen)}
    ours = [path for path in new if notice_of(path) in mine or subject_of(path, seen.arrived) == seen.subject]
    if why := exchanged(seen):
        return unknown(name, want, why, *records)
    if ours:
        return decided(name, False, want, f"notice {listed(map(notice_of, ours))}", *records)
    if unexplained := [path for path in new if not explained(seen, path)]:
        said = f"new, and nothing tells what it is: notice {listed(map(notice_of, unexplained))}"
        return unknown(name, want, said, *records)
    if gone := [one for before, after in whole for one in before.names if one not in after.names]:
        return unknown(name, want, f"no longer there, so the lane is not the one it was: {listed(gone)}", *records)
    return decided(name, True, want, f"{len(new)} new notices, none of this request", *records)


def explained(seen: Seen, path: str) -> bool:
    """A notice in the peer lane by the audit log; one of the mail lane, of which no log tells, by its subject."""
    if os.path.dirname(path) == seen.mail_before.path:
        return subject_of(path, seen.arrived) is not None
    return notice_of(path) in {one.notice_id for one in placements(seen.log_after)}
