"""Talk to a running box by its control socket."""

from __future__ import annotations

import os
import select
import socket
import time
from collections.abc import Sequence

from . import wire

TIMED_OUT = 124
_LONGEST_STOP = 10.0


class NotRunning(Exception):
    """No supervisor answers at the box's control socket."""


def connect(control: str) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(control)
    except OSError as error:
        connection.close()
        raise NotRunning(control) from error
    return connection


def execute(
    control: str,
    argv: Sequence[str],
    environment: dict[str, str],
    workdir: str | None,
    timeout: float | None,
    descriptors: Sequence[int] = (0, 1, 2),
) -> int:
    """Run `argv` in the box on the caller's own descriptors; its exit code, 124 after `timeout` seconds."""
    with connect(control) as connection:
        request = {"op": "exec", "argv": list(argv), "environment": environment, "workdir": workdir}
        wire.send(connection, request, descriptors)
        ready, _, _ = select.select([connection], [], [], timeout)
        if not ready:
            return TIMED_OUT  # closing the connection makes the supervisor kill the process group
        answer, _ = wire.receive(connection)
    if answer is None:
        raise NotRunning(control)
    return answer["exit"]


def stop(control: str) -> None:
    """Ask the main process to end, and wait until the box's keeper has noted that it is gone."""
    try:
        with connect(control) as connection:
            wire.send(connection, {"op": "stop"})
    except (NotRunning, OSError):
        return
    deadline = time.monotonic() + _LONGEST_STOP
    while os.path.exists(control) and time.monotonic() < deadline:
        time.sleep(0.005)


def attach(control: str) -> socket.socket:
    """A connection that yields the main process's screen so far, then what it writes, and takes keys."""
    connection = connect(control)
    wire.send(connection, {"op": "attach"})
    return connection
