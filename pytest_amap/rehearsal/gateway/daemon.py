"""The gateway daemon: it listens, so that `ss` and the CLI find it. Sandboxes keep running without it."""

from __future__ import annotations

import os
import signal
import socket
import sys

from . import config


def listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    server = socket.socket(family)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind((host, port))
    server.listen(64)
    return server


def start() -> None:
    """In the background; returns once the port answers. Raises ConfigError or OSError."""
    config.read(config.location())
    server = listen(*config.bind_address())
    if os.fork() == 0:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        serve(server)
    server.close()


def serve(server: socket.socket) -> None:
    """Accept and close for ever: whoever connects has seen that the gateway is there."""
    signal.signal(signal.SIGTERM, lambda number, frame: os._exit(0))
    while True:
        connection, _ = server.accept()
        connection.close()


def run(path: str | None) -> int:
    """In the foreground, as a service manager starts it."""
    if path:
        os.environ["OPENSHELL_GATEWAY_CONFIG"] = path
    try:
        config.read(config.location())
        server = listen(*config.bind_address())
    except (config.ConfigError, OSError) as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    serve(server)
    return 0
