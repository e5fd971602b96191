"""Faults in the files that router, kit and daemon write: a process that changes them the moment they appear.

What the suite may read in that very moment the router writes elsewhere (WITHHELD), and it appears when it is changed.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .. import layout, planted
from .boxes import MIRRORS

_PERIOD = 0.003
_FORGED = "0123456789abcdef0123456789abcdef"
_NO_JSON = b"-- log rotated --\n"

HELD, RESULTS = "router-state/*/held/req-*.json", "router-state/*/results/*.json"
NOTICES = "instances/*/peer/notices/notice-*.json"
UNPUBLISHED = layout.RUN / "unpublished"
"""Where a withheld file lies, by its path below the home."""

Spoil = Callable[[], None]


def start() -> None:
    """In the background, where a planted fault needs it."""
    wanted = [SPOILERS[name]() for name in planted.among(SPOILERS)]
    if not wanted or os.fork():
        return
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    published: set[Path] = set()
    while True:
        spoilt, due = True, {path for pattern in _withheld() for path in UNPUBLISHED.glob(pattern)} - published
        for spoil in wanted:
            try:
                spoil()
            except (OSError, ValueError):
                spoilt = False  # the file went away, or is not whole yet: the next round will see
        for path in due if spoilt else ():
            _publish(path)
            published.add(path)
        time.sleep(_PERIOD)


def _withheld() -> Iterator[str]:
    return (pattern for pattern, names in WITHHELD.items() if planted.among(names))


def withheld() -> Iterator[dict[str, Any]]:
    """Mounts of the router's container, over the directories of what is withheld."""
    for pattern in _withheld():
        before, behind = pattern.rpartition("/")[0].split("*")
        for lanes in sorted(layout.HOME.glob("instances/*")):
            place = f"{before}{lanes.name}{behind}"
            for root in (layout.HOME, UNPUBLISHED):
                (root / place).mkdir(mode=0o700, parents=True, exist_ok=True)
            yield {"source": str(UNPUBLISHED / place), "target": str(layout.HOME / place), "read_only": False}


def _publish(path: Path) -> None:
    """Unless a fault removed it."""
    target = layout.HOME / path.relative_to(UNPUBLISHED)
    draft = target.with_name(f".{path.name}.spoilt")
    with contextlib.suppress(FileNotFoundError):
        draft.write_bytes(path.read_bytes())
        draft.chmod(path.stat().st_mode)
        draft.replace(target)


def _for_each_new(pattern: str, change: Callable[[Path], None], root: Path = layout.HOME) -> Callable[[], Spoil]:
    """Of the files below `root`, each that was not there before this world, and until it could be changed."""

    def prepare() -> Spoil:
        known = set(root.glob(pattern))

        def spoil() -> None:
            for path in root.glob(pattern):
                if path not in known:
                    change(path)
                    known.add(path)

        return spoil

    return prepare


def _replace(path: Path, document: Any) -> None:
    draft = path.with_name(f".{path.name}.spoilt")
    draft.write_text(json.dumps(document))
    draft.chmod(path.stat().st_mode if path.exists() else 0o600)
    draft.replace(path)


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _wrong_reason(path: Path) -> None:
    document = json.loads(path.read_bytes())
    if document["result"]["outcome"] == "queued_for_human":
        document["result"]["reason_code"] = "attachment_too_large"
        _replace(path, document)


def _recipient(held: Path) -> str:
    return str(json.loads(held.read_bytes())["draft"]["to"][0]).split("@")[0]


def _deliver_forged(held: Path, sender: str, subject: str, lane: str, kind: str) -> None:
    """A notice in a lane of the recipient of what the router holds."""
    message = {"from": sender, "id": _FORGED, "mailbox": lane, "subject": subject, "preview": ""}
    notice = {"contract_version": "2", "kind": kind, "message": message, "notice_id": _FORGED, "ts": _now()}
    lanes = layout.HOME / "instances" / _recipient(held)
    _replace(lanes / lane / "notices" / f"notice-{_FORGED}.json", notice)


def _deliver_held(lane: str, kind: str) -> Callable[[Path], None]:
    """Of the held request itself."""

    def deliver(held: Path) -> None:
        subject, sender = json.loads(held.read_bytes())["draft"]["subject"], held.parents[1].name
        _deliver_forged(held, sender, subject, lane, kind)

    return deliver


def _cut_log(held: Path) -> None:
    """The recipient's audit log begins anew."""
    (layout.HOME / "router-state" / _recipient(held) / "audit" / "log.jsonl").write_text("")


def _is_reply(path: Path) -> bool:
    return bool(json.loads(path.read_bytes())["message"].get("in_reply_to"))


def _remove_reply(path: Path) -> None:
    if _is_reply(path):
        path.unlink()


def _remove_task(path: Path) -> None:
    """Late enough for the daemon, which had it in its hands within a poll."""
    if not _is_reply(path):
        _when(lambda: _outcomes(path), path.unlink)


def _outcomes(path: Path) -> bool:
    """Whether the router has recorded an outcome of the notice at `path`."""
    notice = path.stem.removeprefix("notice-")
    return any(layout.HOME.glob(f"router-state/*/outcomes/peer-{notice}.*.json"))


def _when(condition: Callable[[], bool], act: Callable[[], None]) -> None:
    """In a process of its own, so that nothing else waits."""
    if os.fork():
        return
    while not condition():
        time.sleep(_PERIOD)
    act()
    os._exit(0)


def _remove_body(path: Path) -> None:
    body = path.parents[1] / "messages" / path.name
    if not _is_reply(path):
        _when(lambda: _outcomes(path), body.unlink)


def _claim(outcome: str) -> Callable[[Path], None]:
    """Write an outcome as the recipient's daemon would, for each task's notice."""

    def change(path: Path) -> None:
        if _is_reply(path):
            return
        notice = path.stem.removeprefix("notice-")
        folder = path.parents[2] / "outbox" / "ext" / "claude-code" / "outcomes"
        folder.mkdir(parents=True, exist_ok=True)
        claim = {"outcome": outcome, "ts": _now(), "tree": "peer", "notice_id": notice}
        _replace(folder / f"peer-{notice}.json", claim)

    return change


def _notice_of_nobody(held: Path) -> None:
    """Of no request that any log knows."""
    _deliver_forged(held, "nobody@example.net", "none", "peer", "peer")


def _misbind(path: Path) -> None:
    document = json.loads(path.read_bytes())
    if document["message"].get("in_reply_to") not in (None, _FORGED):
        _replace(path, {**document, "message": {**document["message"], "in_reply_to": _FORGED}})


def _garble(path: Path) -> None:
    path.write_text("{not JSON\n")


def _cut(path: Path) -> None:
    text = path.read_text()
    path.write_text(text[: len(text) // 2])


def _unknown_field(path: Path) -> None:
    _replace(path, {**json.loads(path.read_bytes()), "priority": "high"})


def _mirror(path: Path) -> None:
    """A notice appears in the sandbox's mirror of the lane, without its content."""
    (MIRRORS / path.relative_to(layout.HOME)).touch()


def _hide_from_all(path: Path) -> None:
    """Late enough for the daemon."""
    _when(lambda: _outcomes(path), lambda: path.chmod(0))


def _garble_logs() -> Spoil:
    def spoil() -> None:
        for path in layout.HOME.glob("router-state/*/audit/log.jsonl"):
            with open(path, "rb+") as log:
                if _NO_JSON not in log.read():
                    log.write(_NO_JSON)

    return spoil


def _mail() -> Spoil:
    """One mail notice for each member, as the router would place it."""

    def spoil() -> None:
        for notices in layout.HOME.glob("instances/*/inbox/notices"):
            path = notices / f"notice-{_FORGED}.json"
            if not path.exists():
                message = {"from": "ann@example.org", "id": _FORGED, "mailbox": "inbox", "subject": "", "preview": ""}
                document = {"contract_version": "2", "kind": "deliver", "message": message, "notice_id": _FORGED}
                _replace(path, {**document, "ts": _now()})

    return spoil


def _invalid_document(path: Path) -> None:
    """Beside the first notice: a message that no schema knows."""
    (path.parents[1] / "messages" / f"notice-{_FORGED}.json").write_text('{"kind": "peer"}')


def _inbound(value: str) -> Callable[[Path], None]:
    return lambda path: _replace(path, {**json.loads(path.read_bytes()), "crossSessionInbound": value})


SPOILERS: dict[str, Callable[[], Spoil]] = {
    "held-copy-removed": _for_each_new(HELD, Path.unlink),
    "held-reason-wrong": _for_each_new(RESULTS, _wrong_reason, UNPUBLISHED),
    "held-yet-delivered": _for_each_new(HELD, _deliver_held("peer", "peer")),
    "held-yet-mailed": _for_each_new(HELD, _deliver_held("inbox", "deliver")),
    "audit-log-cut": _for_each_new(HELD, _cut_log),
    "result-garbled": _for_each_new(RESULTS, _garble, UNPUBLISHED),
    "held-copy-garbled": _for_each_new(HELD, _garble),
    "notice-of-nobody": _for_each_new(HELD, _notice_of_nobody),
    "audit-garbled": _garble_logs,
    "reply-misbound": _for_each_new(NOTICES, _misbind, UNPUBLISHED),
    "document-cut": _for_each_new("instances/*/peer/messages/notice-*.json", _cut),
    "request-invalid": _for_each_new("instances/*/outbox/processed/req-*.json", _unknown_field),
    "document-unreadable": _for_each_new(NOTICES, _hide_from_all),
    "mail-arrives": _mail,
    "peer-notices-empty": _for_each_new(NOTICES, _mirror),
    "document-invalid": _for_each_new(NOTICES, _invalid_document),
    "reply-notice-missing": _for_each_new(NOTICES, _remove_reply, UNPUBLISHED),
    "body-missing": _for_each_new(NOTICES, _remove_body),
    "outcome-held-first": _for_each_new(NOTICES, _claim("held")),
    "outcome-failed-first": _for_each_new(NOTICES, _claim("inject_failed")),
    "notice-mode": _for_each_new(NOTICES, lambda path: path.chmod(0o644)),
    "notice-hidden": _for_each_new(NOTICES, _remove_task),
    "payload-holds": _for_each_new("payload/claude-settings.json", _inbound("hold")),
    "payload-refuses": _for_each_new("payload/claude-settings.json", _inbound("refuse")),
}

WITHHELD = {
    RESULTS: (
        "held-copy-removed", "held-reason-wrong", "held-yet-delivered", "held-yet-mailed", "audit-log-cut",
        "result-garbled", "held-copy-garbled", "notice-of-nobody",
    ),
    NOTICES: ("reply-misbound", "reply-notice-missing"),
}  # fmt: skip
"""Faults by what is withheld: itself to be changed, or the sign that something written before it is there."""
