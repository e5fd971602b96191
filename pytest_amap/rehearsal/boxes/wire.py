"""What a caller and a box's supervisor say to each other: length-prefixed JSON, descriptors beside the first bytes."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Sequence
from typing import Any

_LENGTH = struct.Struct("!I")


def send(connection: socket.socket, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
    body = json.dumps(message).encode()
    socket.send_fds(connection, [_LENGTH.pack(len(body))], list(descriptors))
    connection.sendall(body)


def receive(connection: socket.socket) -> tuple[dict[str, Any] | None, list[int]]:
    """The next message and its descriptors; None at end of file."""
    head, descriptors, _, _ = socket.recv_fds(connection, _LENGTH.size, 4)
    if not head:
        return None, []
    head += _exactly(connection, _LENGTH.size - len(head))
    body = _exactly(connection, _LENGTH.unpack(head)[0])
    return json.loads(body), descriptors


def _exactly(connection: socket.socket, count: int) -> bytes:
    chunks = []
    while count:
        chunk = connection.recv(min(count, 1 << 16))
        if not chunk:
            raise ConnectionError("the other side went away in the middle of a message")
        chunks.append(chunk)
        count -= len(chunk)
    return b"".join(chunks)
