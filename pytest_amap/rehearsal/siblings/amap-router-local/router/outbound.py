"""The drain of one outbox: judge every request once, place what may travel, answer, archive."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
from dataclasses import dataclass
from typing import Any

from . import attachments, documents, policy, safefs
from .config import LANE_OUTBOX, Config
from .discovery import Instance
from .documents import Answer, Letter, encode, rejected
from .placement import place
from .request import FILE_NAME, MAX_BYTES, Refused, Request, parse
from .state import State

log = logging.getLogger("amap_router_local.outbound")
first_sight_log = logging.getLogger("amap_router_local.firstsight")

COUNTERS = (
    "first_sight", "outbound_seen", "outbound_skipped_bad_name", "outbound_resumed", "outbound_req_id_reused",
    "outbound_errored", "drained", "accepted", "rejected", "queued_for_human", "quarantined",
)  # fmt: skip


@dataclass
class Drain:
    """One pass over one instance's outbox; `summary` counts what happened."""

    config: Config
    instance: Instance
    admitted: dict[str, Instance]
    summary: dict[str, Any]

    def __post_init__(self) -> None:
        self.state = State(self.config.state_dir, self.instance.name)
        self.quarantined: set[str] = set()

    def run(self) -> None:
        """Snapshot at the first encounter, then every request in the order of its name."""
        with safefs.directory(self.instance.root, LANE_OUTBOX) as outbox:
            names = self._requests(outbox)
            self._first_sight(outbox)
            for name in names:
                self.summary["outbound_seen"] += 1
                try:
                    self._one(outbox, name)
                except OSError as error:
                    self.summary["outbound_errored"] += 1
                    log.error("instance %r: %s: %s", self.instance.name, name, error)

    def _requests(self, outbox: int) -> list[str]:
        names = []
        for name, is_link in safefs.regular_names(outbox):
            if is_link or not FILE_NAME.fullmatch(name):
                self.summary["outbound_skipped_bad_name"] += 1
                why = "is a symbolic link" if is_link else "does not match the request pattern"
                log.warning("instance %r: %r %s: skipped, never opened", self.instance.name, name, why)
            else:
                names.append(name)
        return names

    def _first_sight(self, outbox: int) -> None:
        seen = self.state.first_seen()
        if seen is None:
            # By name whatever the type: a link or a FIFO of that name today is no way in tomorrow.
            snapshot = [_snapshot(outbox, name) for name in sorted(os.listdir(outbox)) if FILE_NAME.fullmatch(name)]
            seen = {
                "schema": 1,
                "instance": self.instance.name,
                "first_seen_ts": documents.now(),
                "mode": self.instance.mode,
                "declared_root": self.instance.root,
                "outbox_snapshot": snapshot,
            }
            self.state.write(encode(seen), "first-seen.json")
            self.summary["first_sight"] = 1
            first_sight_log.warning(
                "instance %r: FIRST SIGHT. %d request(s) already in the outbox are quarantined by name",
                self.instance.name, len(snapshot),
            )  # fmt: skip
        self.quarantined = {entry["filename"] for entry in seen.get("outbox_snapshot", [])}

    def _one(self, outbox: int, name: str) -> None:
        req_id = name[len("req-") : -len(".json")]
        raw, unsafe = self._read(outbox, name)
        digest = hashlib.sha256(raw).hexdigest() if raw is not None else None
        anchor = self.state.result(req_id)
        if anchor is not None:
            self._again(outbox, name, req_id, anchor, digest)
            return
        if name in self.quarantined:
            self._quarantine(req_id, raw)
            self._finish(outbox, name, req_id, None, rejected("quarantined_pre_approval"))
            return
        if raw is None:
            self._finish(outbox, name, req_id, None, rejected("malformed_request", f"the file {unsafe}"))
            return
        try:
            answer = self._judge(outbox, raw, req_id)
        except Refused as refusal:
            answer = refusal.answer
        if answer.outcome == "queued_for_human":
            self.state.write(raw, "held", name)
        self._finish(outbox, name, req_id, digest, answer)

    def _read(self, outbox: int, name: str) -> tuple[bytes | None, str]:
        try:
            return safefs.read_bytes(outbox, name, MAX_BYTES), ""
        except safefs.Unsafe as error:
            return None, str(error.strerror)

    def _judge(self, outbox: int, raw: bytes, req_id: str) -> Answer:
        request = parse(raw, req_id, self.instance.name)
        blobs = attachments.ingest(outbox, request, self.config.limits)
        route = policy.decide(request, self.instance.name, self.config, self.admitted, self.state)
        return self._place(request, route, blobs)

    def _place(self, request: Request, route: policy.Route, blobs: list[bytes]) -> Answer:
        placed: list[tuple[str, str]] = []
        causes: list[BaseException] = []
        for recipient in route.recipients:
            letter = self._letter(request, route, recipient)
            try:
                place(
                    letter, recipient, State(self.config.state_dir, recipient.name), origin=self.instance.name,
                    req_id=request.req_id, reply_basis=route.reply_basis, blobs=blobs,
                )  # fmt: skip
                placed.append((letter.to, letter.notice_id))
            except OSError as error:
                log.error("delivery to %r failed: %s", recipient.name, type(error).__name__)
                causes.append(error)
        if not placed:
            return policy.failed(route.recipients, causes)
        return Answer(
            "accepted",
            "partial_delivery" if causes else route.reason,
            recipients=[address for address, _notice in placed],
            message_id=placed[0][1],
            attachments=attachments.accepted(request.attachments),
        )

    def _letter(self, request: Request, route: policy.Route, recipient: Instance) -> Letter:
        notice_id = documents.new_notice_id()
        router = self.config.address("amap.router")
        window = self.config.limits["sender_exposure_window_seconds"]
        return Letter(
            notice_id=notice_id,
            tree=route.tree,
            ts=documents.now(),
            sender=self.config.address(self.instance.name),
            to=self.config.address(recipient.name),
            subject=request.subject,
            body=request.body,
            in_reply_to=route.in_reply_to,
            attachments=attachments.descriptors(notice_id, request.attachments),
            exposure=documents.exposure(router, window) if route.tree == "peer" else None,
        )

    def _quarantine(self, req_id: str, raw: bytes | None) -> None:
        self.summary["quarantined"] += 1
        meta = {"req_id": req_id, "quarantined_ts": documents.now(), "reason": "quarantined_pre_approval"}
        self.state.write(raw or b"", "quarantine", f"req-{req_id}.json")
        self.state.write(encode(meta), "quarantine", f"req-{req_id}.meta.json")

    def _again(self, outbox: int, name: str, req_id: str, anchor: dict[str, Any], digest: str | None) -> None:
        """A judged id came back: the same bytes get the same answer; others are refused, the anchor stays."""
        if anchor.get("digest") in (None, digest):
            self.summary["outbound_resumed"] += 1
            self._publish(outbox, name, req_id, anchor["result"])
            return
        self.summary["outbound_req_id_reused"] += 1
        self.summary["rejected"] += 1
        self._publish(outbox, name, req_id, rejected("req_id_reused").document(req_id))

    def _finish(self, outbox: int, name: str, req_id: str, digest: str | None, answer: Answer) -> None:
        document = answer.document(req_id)
        self.state.keep_result(req_id, digest, document)
        self.summary[answer.outcome] += 1
        self._publish(outbox, name, req_id, document)
        self.summary["drained"] += 1

    def _publish(self, outbox: int, name: str, req_id: str, document: dict[str, Any]) -> None:
        """Copy the verdict to the outbox and archive the request; where the agent broke those, just remove it."""
        root = self.instance.root
        try:
            with safefs.directory(root, LANE_OUTBOX, "results", create=True) as results:
                safefs.write_bytes(results, f"{req_id}.json", encode(document))
        except OSError as error:
            log.warning("instance %r: results/ cannot be written: %s", self.instance.name, error.strerror)
        try:
            with safefs.directory(root, LANE_OUTBOX, "processed", create=True) as processed:
                os.rename(name, name, src_dir_fd=outbox, dst_dir_fd=processed)
        except OSError as error:
            log.warning("instance %r: processed/ cannot be written: %s", self.instance.name, error.strerror)
            with contextlib.suppress(OSError):
                os.unlink(name, dir_fd=outbox)
        safefs.remove_tree(outbox, attachments.sidecar(req_id))


def _snapshot(outbox: int, name: str) -> dict[str, Any]:
    try:
        raw = safefs.read_bytes(outbox, name, MAX_BYTES)
    except OSError:
        return {"filename": name, "sha256": None, "size": None}
    return {"filename": name, "sha256": hashlib.sha256(raw).hexdigest(), "size": len(raw)}
