"""One run a host: a lock below the home, and one per gateway endpoint and user."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import stat
import struct
import sys
import time
from pathlib import Path

from pytest_amap.foreign import one_line
from pytest_amap.host.files import stamp

LOCK = ".amap.lock"


class Held(Exception):
    """Another run holds it; the text says who."""


def endpoint(port: int) -> socket.socket:
    """Hold the gateway endpoint for this user: an abstract AF_UNIX name, which each network namespace has of its own.

    It leaves nothing on any disk and ends with this process. Raises Held.
    """
    name = f"\0pytest-amap/127.0.0.1:{port}/{os.getuid()}"
    held = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        held.bind(name)
        held.listen(8)
    except OSError:
        held.close()
        raise Held(f"the gateway on port {port} is in use by {holder(name)}") from None
    return held


def holder(name: str) -> str:
    """Who listens on an abstract name, as far as the kernel tells."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
        try:
            peer.settimeout(1)
            peer.connect(name)
            pid, _, _ = struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        except OSError:
            return "another run"
    return described(pid)


def described(pid: int) -> str:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        started = stamp(os.stat(f"/proc/{pid}").st_mtime)
    except OSError:
        return f"pid {pid}"
    return one_line(f"pid {pid}, started {started}: {command[:200]}")


class HomeLock:
    """The lock below the home; a dead holder's is taken over, and `note` says so.

    `pid` is the holder's as the person knows it.
    """

    def __init__(self, home: Path, pid: int) -> None:
        import fcntl  # not on every system, and a replay needs none

        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        self.note = ""
        self._file = os.open(home / LOCK, flags, 0o600)
        info = os.fstat(self._file)
        if not stat.S_ISREG(info.st_mode) or info.st_nlink != 1:
            os.close(self._file)
            raise Held(f"{home / LOCK} is no lock of ours, but a pipe or a second name of a file: move it away")
        before = os.pread(self._file, 4096, 0)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._file)
            raise Held(f"{home} is in use by {': '.join(who(before))}") from None
        if before:
            self.note = f"the lock of {who(before)[0]}, which is gone, was taken over"
        os.ftruncate(self._file, 0)
        about = {"pid": pid, "started": stamp(time.time()), "command": " ".join(sys.argv)[:300]}
        os.pwrite(self._file, json.dumps(about).encode(), 0)

    def close(self) -> None:
        """Let go, and leave nothing that a later run could take for a dead holder's."""
        with contextlib.suppress(OSError):
            os.ftruncate(self._file, 0)
            os.close(self._file)


def who(content: bytes) -> tuple[str, str]:
    """Process and command of a holder, as it wrote them."""
    with contextlib.suppress(ValueError, KeyError, TypeError, RecursionError):
        about = json.loads(content)
        return one_line(f"pid {about['pid']}, started {about['started']}"), one_line(str(about["command"]))
    return "another run", "its command is not known"
