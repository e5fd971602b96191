"""Made-up observations of requests and notices, for the tests of judges."""

from __future__ import annotations

import json
from typing import Any

from pytest_amap.observations import Ran, Read

ALPHA, BETA = "alpha@openshell.test.internal", "beta@openshell.test.internal"
N1, N2, N3 = ("a" * 31 + digit for digit in "123")
AT = "2026-11-29T12:00:00.000Z"


def ran(stdout: str = "", *, exit: int | None = 0, stderr: str = "", ended: str = AT) -> Ran:
    return Ran(("program",), exit, stdout, stderr, AT, ended, record="step-8/ran.json")


def read(content: object, path: str = "/home/file", mtime: str = AT) -> Read:
    """A file that holds `content`: text as it is, anything else as JSON."""
    text = content if isinstance(content, str) else json.dumps(content)
    return Read(path, text, mtime=mtime, record="step-8/read.json")


def unread(problem: str = "ENOENT") -> Read:
    return Read("/home/file", None, problem, record="step-8/unread.json")


def private(outcome: str, reason: str, message: str | None = None, request: str = "00000001") -> dict[str, Any]:
    return {"digest": None, "result": result(outcome, reason, message, request)}


def result(outcome: str, reason: str, message: str | None = None, request: str = "00000001") -> dict[str, Any]:
    return {"req_id": request, "outcome": outcome, "reason_code": reason, "message_id": message, "detail": None}


def placed(notice: str, sender: str, recipient: str, request: str, reply_to: str | None = None) -> str:
    line = {"ts": AT, "event": "peer_notice_placed", "instance": recipient, "notice_id": notice, "req_id": request}
    return json.dumps({**line, "from_instance": sender, "to_instance": recipient, "in_reply_to": reply_to}) + "\n"


def outcome(notice: str, word: str, detail: str | None = None) -> str:
    line = {"ts": AT, "event": "outcome_consumed", "instance": "beta", "tree": "peer", "notice_id": notice}
    return json.dumps({**line, "outcome": word, "detail": detail}) + "\n"
