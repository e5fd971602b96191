"""Pid 1 of a box: runs the main process, and other processes beside it for whoever asks on the control socket.

What it starts later is its own child, never the main process's: a lister that looks for its ancestors from
`sandbox exec` refuses here as it does in OpenShell (facts/openshell.md 1.7).
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import socket
import struct
import termios
import time
from typing import Any

from . import process, wire
from .spec import BoxSpec

_SCREEN_LIMIT = 1 << 20
_STOP_GRACE = 3.0
_LONGEST_BACKOFF = 60.0
_ROWS, _COLUMNS = 50, 160


class Supervisor:
    """One box's pid 1. `descriptors` are the main process's 0, 1 and 2 when it has no terminal."""

    def __init__(self, spec: BoxSpec, control: socket.socket, descriptors: tuple[int, int, int]) -> None:
        self.spec = spec
        self.control = control
        self.descriptors = descriptors
        self.screen = bytearray()
        self.terminal: int | None = None
        self.main = 0
        self.started = 0.0
        self.restart_at: float | None = None
        self.backoff = 1.0
        self.stopping_until: float | None = None
        self.clients: dict[int, socket.socket] = {}
        self.viewers: list[socket.socket] = []
        self.watched: list[socket.socket] = []

    def run(self, ready: int) -> int:
        """Start the main process, write one byte to `ready`, serve until it ends; its exit code."""
        wake, waker = os.pipe()
        for descriptor in (wake, waker):
            os.set_blocking(descriptor, False)
        signal.set_wakeup_fd(waker)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        self.start_main()
        with contextlib.suppress(BrokenPipeError):  # who asked for the box may be gone
            os.write(ready, b"1")
        os.close(ready)
        while True:
            code = self.step(wake)
            if code is not None:
                self.drain_terminal()
                return code

    def start_main(self) -> None:
        self.restart_at, self.started = None, time.monotonic()
        descriptors = self.descriptors
        inner = None
        if self.spec.terminal:
            outer, inner = os.openpty()
            fcntl.ioctl(outer, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
            if self.terminal is not None:
                os.close(self.terminal)
            self.terminal, descriptors = outer, (inner, inner, inner)
        self.main = process.spawn(
            self.spec, self.spec.command, self.spec.environment, descriptors, terminal=inner is not None
        )
        if inner is not None:
            os.close(inner)

    def step(self, wake: int) -> int | None:
        """Wait for one round of events; the box's exit code once it is over."""
        sources: list[Any] = [self.control, wake, *self.watched]
        if self.terminal is not None:
            sources.append(self.terminal)
        readable, _, _ = select.select(sources, [], [], self.patience())
        for source in readable:
            if source is self.control:
                self.accept()
            elif source == wake:
                os.read(wake, 4096)
            elif source == self.terminal:
                self.read_terminal()
            else:
                self.hear(source)
        code = self.reap()
        if code is not None:
            return code
        now = time.monotonic()
        if self.stopping_until is not None and now > self.stopping_until:
            return 128 + signal.SIGKILL
        if self.restart_at is not None and now >= self.restart_at:
            self.start_main()
        return None

    def patience(self) -> float | None:
        moments = [moment for moment in (self.stopping_until, self.restart_at) if moment is not None]
        return max(0.0, min(moments) - time.monotonic()) if moments else None

    def accept(self) -> None:
        connection, _ = self.control.accept()
        connection.settimeout(10)
        try:
            request, descriptors = wire.receive(connection)
        except (OSError, ValueError):
            connection.close()
            return
        if request is None:  # somebody looked whether the socket answers
            connection.close()
            return
        try:
            self.serve(connection, request, descriptors)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    def serve(self, connection: socket.socket, request: dict[str, Any], descriptors: list[int]) -> None:
        if request["op"] == "exec":
            pid = process.spawn(
                self.spec,
                request["argv"],
                {**self.spec.exec_environment, **request["environment"]},
                descriptors,
                workdir=request["workdir"],
                confined=self.spec.exec_confined,
            )
            self.clients[pid] = connection
            self.watched.append(connection)
        elif request["op"] == "attach":
            connection.sendall(bytes(self.screen))
            self.viewers.append(connection)
            self.watched.append(connection)
        elif request["op"] == "stop":
            self.stopping_until = time.monotonic() + _STOP_GRACE
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.main, signal.SIGTERM)
            connection.close()

    def hear(self, connection: socket.socket) -> None:
        """Keys for the main process from a viewer; end of file from a caller that gave up."""
        try:
            data = connection.recv(4096)
        except OSError:
            data = b""
        if data:
            if connection in self.viewers and self.terminal is not None:
                os.write(self.terminal, data)
            return
        self.watched.remove(connection)
        if connection in self.viewers:
            self.viewers.remove(connection)
        for pid, client in list(self.clients.items()):
            if client is connection:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGKILL)
                del self.clients[pid]
        connection.close()

    def read_terminal(self) -> None:
        assert self.terminal is not None
        try:
            data = os.read(self.terminal, 65536)
        except OSError:  # EIO: nobody holds the other side any more
            data = b""
        if not data:
            os.close(self.terminal)
            self.terminal = None
            return
        self.screen += data
        del self.screen[:-_SCREEN_LIMIT]
        for viewer in self.viewers:
            with contextlib.suppress(OSError):
                viewer.sendall(data)

    def drain_terminal(self) -> None:
        """What the main process wrote last is still for its viewers."""
        while self.terminal is not None and select.select([self.terminal], [], [], 0)[0]:
            self.read_terminal()

    def reap(self) -> int | None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return None
            if not pid:
                return None
            code = os.waitstatus_to_exitcode(status)
            code = code if code >= 0 else 128 - code
            if pid == self.main and not self.will_restart(code):
                return code
            client = self.clients.pop(pid, None)
            if client is not None:
                self.watched.remove(client)
                with contextlib.suppress(OSError):
                    wire.send(client, {"exit": code})
                client.close()

    def will_restart(self, code: int) -> bool:
        """OpenShell 0.1.3 starts a main process again inside the running sandbox, with back-off."""
        wanted = self.spec.restart == "always" or (self.spec.restart == "on-failure" and code != 0)
        if not wanted or self.stopping_until is not None:
            return False
        if time.monotonic() - self.started > _LONGEST_BACKOFF:
            self.backoff = 1.0
        self.restart_at = time.monotonic() + self.backoff
        self.backoff = min(self.backoff * 2, _LONGEST_BACKOFF)
        return True
