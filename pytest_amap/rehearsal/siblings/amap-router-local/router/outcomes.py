"""Outcome files of the delivery daemon: consumed, recorded once, and unlinked; they are claims, never proof."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
from typing import Any

from . import documents, safefs
from .config import LANE_OUTBOX, Config
from .discovery import Instance
from .documents import Letter, encode
from .placement import place
from .state import State

log = logging.getLogger("amap_router_local.outcomes")

OUTCOMES = ("delivered", "held", "denied", "refused", "ambiguous_target", "inject_failed")
COUNTERS = (
    "peer_outcomes_seen", *(f"peer_{outcome}" for outcome in OUTCOMES),
    "peer_outcome_discarded", "peer_outcome_errored", "peer_dsn_sent", "peer_dsn_failed",
)  # fmt: skip
_FILE_NAME = re.compile(r"peer-([a-f0-9]{32})\.json")
_MAX_BYTES = 64 << 10
_PER_POLL = 1000
_REQUIRED = {"outcome", "ts", "tree", "notice_id"}
_ALERTING = ("held", "refused", "ambiguous_target")
_REPORTED = ("denied", "refused")


def consume(config: Config, instance: Instance, admitted: dict[str, Instance], summary: dict[str, Any]) -> None:
    """Take every outcome file of one recipient that can be read; each is gone afterwards whatever it said."""
    state = State(config.state_dir, instance.name)
    for outcome_id in config.outcome_ids:
        try:
            with safefs.directory(instance.root, LANE_OUTBOX, "ext", outcome_id, "outcomes") as fd:
                names = [name for name in sorted(os.listdir(fd)) if _FILE_NAME.fullmatch(name)]
                for name in names[:_PER_POLL]:
                    _take(fd, name, config, state, admitted, summary)
        except FileNotFoundError:
            continue
        except OSError as error:
            log.warning("instance %r: outcomes of %s cannot be read: %s", instance.name, outcome_id, error.strerror)


def _take(
    fd: int, name: str, config: Config, state: State, admitted: dict[str, Instance], summary: dict[str, Any]
) -> None:
    summary["peer_outcomes_seen"] += 1
    try:
        raw = safefs.read_bytes(fd, name, _MAX_BYTES)
    except OSError as error:
        summary["peer_outcome_errored"] += 1
        log.warning("instance %r: outcome file %s left in place: %s", state.name, name, error.strerror)
        return
    match = _FILE_NAME.fullmatch(name)
    notice_id = match.group(1) if match else ""
    cause, document = _check(raw, notice_id, state)
    if cause is None:
        _record(document, notice_id, config, state, admitted, summary)
    else:
        summary["peer_outcome_discarded"] += 1
        detail = document.get("outcome") if cause == "duplicate" else None
        state.audit("outcome_discarded", tree="peer", notice_id=notice_id, cause=cause, detail=detail)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name, dir_fd=fd)


def _check(raw: bytes, notice_id: str, state: State) -> tuple[str | None, dict[str, Any]]:
    """The cause to discard a file, or None and its document."""
    try:
        document = json.loads(raw)
    except (ValueError, RecursionError):
        return "malformed", {}
    if not isinstance(document, dict) or not _REQUIRED <= set(document) <= _REQUIRED | {"detail"}:
        return "malformed", {}
    strings = all(isinstance(value, str) for value in document.values())
    if not strings or document["outcome"] not in OUTCOMES or document["tree"] != "peer":
        return "malformed", {}
    if document["notice_id"] != notice_id:
        return "malformed", {}
    ledger = state.delivered(notice_id)
    if ledger is None or ledger.get("tree") != "peer":
        return "unknown_notice_id", document
    if os.path.exists(state.path("outcomes", f"peer-{notice_id}.{document['outcome']}.json")):
        return "duplicate", document
    return None, document


def _record(
    document: dict[str, Any],
    notice_id: str,
    config: Config,
    state: State,
    admitted: dict[str, Instance],
    summary: dict[str, Any],
) -> None:
    ledger = state.delivered(notice_id) or {}
    outcome, detail = document["outcome"], document.get("detail")
    common = {
        "tree": "peer",
        "notice_id": notice_id,
        "outcome": outcome,
        "outcome_ts": document["ts"],
        "detail": detail,
        "from_instance": ledger.get("from_instance"),
        "to_instance": state.name,
    }
    record = {**common, "recorded_ts": documents.now(), "req_id": ledger.get("req_id")}
    state.write(encode(record), "outcomes", f"peer-{notice_id}.{outcome}.json")
    state.audit("outcome_consumed", **common)
    summary[f"peer_{outcome}"] += 1
    about = {"notice_id": notice_id, "outcome": outcome, "from_instance": ledger.get("from_instance")}
    if outcome in _ALERTING:
        summary["peer_alerts"].append(about)
    if outcome == "denied":
        summary["peer_placed_denied"].append(about)
    if outcome in _REPORTED:
        _report(ledger, outcome, config, state.name, admitted, summary)


def _report(
    ledger: dict[str, Any],
    outcome: str,
    config: Config,
    recipient: str,
    admitted: dict[str, Instance],
    summary: dict[str, Any],
) -> None:
    """Tell the sender in its inbox; the daemon's own words are not passed on."""
    informed = admitted.get(str(ledger.get("from_instance")))
    if informed is None:
        summary["peer_dsn_failed"] += 1
        return
    state = State(config.state_dir, informed.name)
    peer_address = config.address(recipient)
    letter = Letter(
        notice_id=documents.new_notice_id(),
        tree="inbox",
        ts=documents.now(),
        sender=config.address("amap.router"),
        to=config.address(informed.name),
        subject=f"Not delivered: {outcome}",
        body=f"Your message {ledger['notice_id']} to {peer_address} was not delivered: {outcome}.",
        in_reply_to=ledger["notice_id"],
    )
    try:
        place(letter, informed, state, origin=None, req_id=None)
    except OSError as error:
        summary["peer_dsn_failed"] += 1
        log.error("report to %r failed: %s", informed.name, type(error).__name__)
        return
    summary["peer_dsn_sent"] += 1
    fields = {
        "notice_id": letter.notice_id,
        "tree": "inbox",
        "from": letter.sender,
        "to": letter.to,
        "to_instance": informed.name,
        "in_reply_to": letter.in_reply_to,
        "subject": letter.subject,
        "outcome": outcome,
        "peer_notice_id": ledger["notice_id"],
        "peer_recipient": peer_address,
    }
    state.audit("dsn_sent", **fields)
