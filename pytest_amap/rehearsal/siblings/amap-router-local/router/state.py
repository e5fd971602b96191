"""The router-private state of one instance, `state_dir/<name>/`: everything 0600, nothing an agent can reach."""

from __future__ import annotations

import json
import os
from typing import Any

from . import safefs
from .documents import encode, now


class State:
    """Reads and writes of one instance's private files."""

    def __init__(self, state_dir: str, name: str) -> None:
        self.name = name
        self._state_dir = state_dir

    def path(self, *parts: str) -> str:
        """The absolute path of a private file."""
        return os.path.join(self._state_dir, self.name, *parts)

    def read(self, *parts: str) -> dict[str, Any] | None:
        """A private JSON object, or None."""
        return safefs.read_object(self.path(*parts))

    def write(self, data: bytes, *parts: str) -> None:
        """Put a private file in place, making its directories."""
        with safefs.directory(self._state_dir, self.name, *parts[:-1], create=True) as fd:
            safefs.write_bytes(fd, parts[-1], data)

    def result(self, req_id: str) -> dict[str, Any] | None:
        """The anchor of a request that was judged: {"digest": hex or null, "result": document}."""
        return self.read("results", f"{req_id}.json")

    def keep_result(self, req_id: str, digest: str | None, document: dict[str, Any]) -> None:
        """Anchor a verdict; the file in the outbox is only its copy."""
        self.write(encode({"digest": digest, "result": document}), "results", f"{req_id}.json")

    def delivered(self, notice_id: str) -> dict[str, Any] | None:
        """The ledger record of a notice placed in this instance's tree."""
        return self.read("delivered", f"notice-{notice_id}.json")

    def first_seen(self) -> dict[str, Any] | None:
        """The snapshot of the first encounter, or None before it."""
        return self.read("first-seen.json")

    def audit(self, event: str, **fields: Any) -> None:
        """Append one line to this instance's audit log."""
        line = json.dumps({"ts": now(), "event": event, "instance": self.name, **fields}, sort_keys=True)
        with safefs.directory(self._state_dir, self.name, "audit", create=True) as fd:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            log = os.open("log.jsonl", flags, 0o600, dir_fd=fd)
            try:
                os.write(log, line.encode() + b"\n")
            finally:
                os.close(log)
