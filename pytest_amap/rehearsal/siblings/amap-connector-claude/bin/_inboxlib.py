"""What the delivery daemon stands on: claims, guarded reads, whole writes, process identity, the wire.

Loaded by path from beside `inbox-delivery`; not a program and not a package.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

NOTICE_CAP = 256 << 10
_SOCKET_SECONDS = 5.0


class ClaimError(Exception):
    """The notice directory already has a living consumer, or the claim cannot be written."""


@dataclass
class Claim:
    """A held claim; `release` removes the file if it is still ours."""

    path: str
    content: bytes

    def release(self) -> None:
        """Give the notice directory up; a claim that somebody else wrote meanwhile stays."""
        with contextlib.suppress(OSError), open(self.path, "rb") as stream:
            ours = stream.read() == self.content
            if ours:
                os.unlink(self.path)


def acquire_consumer_claim(
    claim_path: str, notice_dir: str, consumer: str, log: Callable[[str], None] = lambda text: None
) -> Claim:
    """Become the one consumer of `notice_dir`; ClaimError where another process that still lives is."""
    body = {
        "consumer": consumer,
        "pid": os.getpid(),
        "proc_start": process_start(os.getpid()),
        "notice_dir": notice_dir,
        "started_at": zulu(),
    }
    content = json.dumps(body, sort_keys=True).encode()
    for _attempt in range(2):
        try:
            os.makedirs(os.path.dirname(claim_path), mode=0o700, exist_ok=True)
            fd = os.open(claim_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            _clear_stale(claim_path, log)
            continue
        except OSError as error:
            raise ClaimError(f"claim {claim_path} cannot be written: {error.strerror}") from error
        with os.fdopen(fd, "wb") as stream:
            stream.write(content)
        return Claim(claim_path, content)
    raise ClaimError(f"claim {claim_path} is contended")


def _clear_stale(claim_path: str, log: Callable[[str], None]) -> None:
    try:
        with open(claim_path, "rb") as stream:
            held = json.loads(stream.read(NOTICE_CAP))
        pid, start = held["pid"], held["proc_start"]
    except FileNotFoundError:
        return
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ClaimError(f"claim {claim_path} cannot be read, so its holder may live") from error
    if isinstance(pid, int) and start is not None and process_start(pid) == start:
        raise ClaimError(f"claim {claim_path} is held by process {pid}")
    log(f"claim {claim_path}: its holder {pid} is gone, taken over")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(claim_path)


def process_stat(pid: int) -> tuple[int, str] | None:
    """(parent pid, start time) of a living process; None when it is gone or a zombie."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stream:
            fields = stream.read().rpartition(")")[2].split()
    except OSError:
        return None
    if len(fields) < 20 or fields[0] in "ZX":
        return None
    return int(fields[1]), fields[19]


def process_start(pid: int) -> str | None:
    """The start time that tells a process from a later one of the same pid."""
    found = process_stat(pid)
    return found[1] if found else None


def is_ancestor(pid: int) -> bool:
    """Whether `pid` is a living ancestor of this process."""
    current = os.getpid()
    for _step in range(64):
        found = process_stat(current)
        if found is None or found[0] <= 0:
            return False
        current = found[0]
        if current == pid:
            return True
    return False


def read_object(path: str, cap: int = NOTICE_CAP) -> dict[str, Any]:
    """A JSON object from one regular, unlinked-to file of at most `cap` bytes; ValueError says what it is not."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise ValueError(f"unreadable: {error.strerror}") from error
    with os.fdopen(fd, "rb") as stream:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise ValueError("not a regular file")
        data = stream.read(cap + 1)
    if len(data) > cap:
        raise ValueError(f"larger than {cap} bytes")
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ValueError("not JSON") from error
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value


def write_whole(path: str, document: dict[str, Any], temporary: str, mode: int) -> None:
    """Write a JSON file by way of `temporary` in the same directory, synced, then renamed."""
    directory = os.path.dirname(path)
    staged = os.path.join(directory, temporary)
    fd = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    with os.fdopen(fd, "w", encoding="utf-8") as stream:
        json.dump(document, stream, sort_keys=True)
        stream.flush()
        os.fchmod(fd, mode)
        os.fsync(fd)
    os.rename(staged, path)


def zulu() -> str:
    """This moment, UTC, whole seconds, ending in Z."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


@dataclass(frozen=True)
class Session:
    """One row of the lister."""

    pid: str
    socket: str
    key_file: str


class Injection:
    """One message on the wire: the frame goes out, a receipt may come in on a socket of our own."""

    def __init__(self, session: Session, text: str) -> None:
        self._session = session
        self._text = text
        self.reply_path = os.path.join(os.path.dirname(session.socket), f"{secrets.token_hex(8)}.sock")
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)

    def send(self) -> None:
        """Bind the reply socket, then send; OSError or ValueError where either cannot be done."""
        if self._session.pid.isdigit() and is_ancestor(int(self._session.pid)):
            raise ValueError("the session is an ancestor of this daemon")
        token = self._token()
        self._listener.bind(self.reply_path)
        os.chmod(self.reply_path, 0o600)
        self._listener.listen(4)
        frames = (
            {"type": "auth", "token": token},
            {
                "type": "user",
                "from": f"uds:{self.reply_path}",
                "msg_id": secrets.token_hex(16),
                "message": {"role": "user", "content": self._text},
            },
        )
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as wire:
            wire.settimeout(_SOCKET_SECONDS)
            wire.connect(self._session.socket)
            wire.sendall("".join(json.dumps(frame) + "\n" for frame in frames).encode())

    def _token(self) -> str:
        try:
            token = read_object(self._session.key_file, 64 << 10).get("peerToken")
        except ValueError:
            token = None
        if not isinstance(token, str) or not token:
            raise ValueError(f"key file {self._session.key_file} unreadable or has no peerToken")
        return token

    def receipt(self, seconds: float) -> dict[str, Any] | None:
        """The next status the session sends, or None after so many seconds of silence."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self._listener.settimeout(left)
            try:
                peer, _address = self._listener.accept()
            except OSError:
                return None
            with peer:
                peer.settimeout(_SOCKET_SECONDS)
                frame = _frame(peer)
            if frame.get("action") == "peer_message_status":
                return frame
        return None

    def close(self) -> None:
        """Stop listening and remove the reply socket."""
        self._listener.close()
        with contextlib.suppress(OSError):
            os.unlink(self.reply_path)


def _frame(peer: socket.socket) -> dict[str, Any]:
    data = b""
    with contextlib.suppress(OSError):
        while b"\n" not in data and len(data) < 64 << 10 and (chunk := peer.recv(4096)):
            data += chunk
    try:
        frame = json.loads(data.split(b"\n")[0])
    except ValueError:
        return {}
    return frame if isinstance(frame, dict) else {}
