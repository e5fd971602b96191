"""The provider's endpoint as the rehearsal has it: plain HTTP/1.1, one request a connection. Keeps no header."""

from __future__ import annotations

import json
import socket

_HEAD_LIMIT = 65536
_BODY_LIMIT = 8 << 20


def answer(connection: socket.socket) -> None:
    """200 with a small JSON body for any request."""
    read = _request(connection)
    if read is None:
        return
    method = read[0].split(b" ", 1)[0]
    body = json.dumps({"type": "message", "role": "assistant", "content": [{"type": "text", "text": "ok"}]}).encode()
    _respond(connection, b"200 OK", b"" if method == b"HEAD" else body)


def refuse_key(connection: socket.socket) -> None:
    """401 for any request."""
    if _request(connection) is not None:
        error = {"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}}
        _respond(connection, b"401 Unauthorized", json.dumps(error).encode())


def forbid(connection: socket.socket, host: str, port: int) -> None:
    detail = f"{host}:{port} is not in any policy"
    body = json.dumps({"error": "policy_denied", "detail": detail, "reason": "no matching policy"})
    _respond(connection, b"403 Forbidden", body.encode())


def connect_target(connection: socket.socket) -> tuple[str, int] | None:
    """Host and port of a proxy request, CONNECT or absolute-form."""
    read = _request(connection)
    if read is None:
        return None
    words = read[0].decode("latin-1").split(" ")
    if len(words) != 3:
        return None
    target, default = words[1], "443"
    if words[0] != "CONNECT":
        target, default = target.removeprefix("http://").split("/", 1)[0], "80"
    host, _, port = target.partition(":")
    return (host.lower(), int(port or default)) if (port or default).isdigit() else None


def _request(connection: socket.socket) -> tuple[bytes, bytes] | None:
    """Request line and body of one request; None when the other side sends none."""
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = connection.recv(65536)
        if not chunk or len(data) > _HEAD_LIMIT:
            return None
        data += chunk
    head, _, body = data.partition(b"\r\n\r\n")
    first, *headers = head.split(b"\r\n")
    length = 0
    for header in headers:
        name, _, value = header.partition(b":")
        if name.strip().lower() == b"content-length" and value.strip().isdigit():
            length = int(value)
    while len(body) < min(length, _BODY_LIMIT):
        chunk = connection.recv(65536)
        if not chunk:
            break
        body += chunk
    return first, body


def _respond(connection: socket.socket, status: bytes, body: bytes) -> None:
    connection.sendall(
        b"HTTP/1.1 "
        + status
        + b"\r\nContent-Type: application/json\r\nContent-Length: "
        + str(len(body)).encode()
        + b"\r\nConnection: close\r\n\r\n"
        + body
    )
