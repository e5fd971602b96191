"""Faults in the gateway's file, environment and listeners, in other people's sandboxes, and in `ss`."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

from .. import layout, planted, store
from ..gateway import daemon
from ..store import Record
from . import service

_IP_FREEBIND = 15  # an address no interface has, as the Docker bridge's would be here
_KEPT = layout.GATEWAY_TOML.with_name("gateway.toml.before-the-fault")
_ENVIRONMENT = layout.CONFIG / "gateway.env"

ADDRESSES = {"gateway-any-address": "0.0.0.0", "gateway-any-both": "[::]"}


def restore() -> None:
    """Take back what an earlier world's faults did to files that outlive it."""
    if _KEPT.exists():
        _KEPT.replace(layout.GATEWAY_TOML)
        _ENVIRONMENT.unlink(missing_ok=True)
    for path in layout.TLS.glob("*.key"):
        path.chmod(0o600)
    if layout.GATEWAY_TOML.exists():
        os.utime(layout.GATEWAY_TOML)  # before the gateway's start, whatever a fault made of it
    service.restore()


def gateway_runs() -> bool:
    return "gateway-daemon-down" not in planted.everything()


def spoil() -> None:
    """At boot, after the gateway has started."""
    for name in planted.among(EFFECTS):
        EFFECTS[name]()


def edit() -> None:
    """Once, when a command is first asked: the gateway runs, and whoever looked at its files before saw them right."""
    addresses, changes = planted.among(ADDRESSES), planted.among(FILES)
    if _KEPT.exists() or not (addresses or changes or planted.among((*service.DROP_INS, *service.ENVIRONMENT_D))):
        return
    text = layout.GATEWAY_TOML.read_text()
    service.edit(text)
    store.text(_KEPT, text, 0o600)
    for name in changes:
        text = FILES[name](text)
    store.text(layout.GATEWAY_TOML, text, 0o600)
    for name in addresses:
        store.text(_ENVIRONMENT, f"OPENSHELL_BIND_ADDRESS={ADDRESSES[name]}:{layout.GATEWAY_PORT}\n", 0o600)
    _date(layout.GATEWAY_TOML, _ENVIRONMENT)


def _date(*paths: Path) -> None:
    """The gateway shall seem to have read what a fault wrote, save where the fault is that it has not."""
    if layout.STARTED.exists():
        at = layout.STARTED.stat().st_mtime + (3600 if "gateway-file-newer" in planted.everything() else 0)
        for path in filter(Path.exists, paths):
            os.utime(path, (at, at))


def bind_environment() -> None:
    """Before the gateway starts: its environment overrules its file, and its service's file shows that later."""
    for name in planted.among(ADDRESSES):
        os.environ["OPENSHELL_BIND_ADDRESS"] = f"{ADDRESSES[name]}:{layout.GATEWAY_PORT}"


def strangers() -> list[Record]:
    """Sandboxes of somebody else on the same gateway."""
    if "foreign-sandbox" not in planted.everything():
        return []
    return [
        {
            "id": "5f0c1f0e-8a51-4a39-9c4a-5f1f6f6c2b11",
            "name": "experiment",
            "workspace": "somebody-else",
            "created_at": "2026-11-29 08:00:00",
            "phase": "Ready",
            "exit_code": None,
            "started_at": "2026-11-29T08:00:00.000000Z",
            "labels": {},
            "policy": None,
            "driver_config": {},
            "environment": {},
            "image": "sha256:0",
            "providers": [],
            "command": ["/bin/bash"],
            "terminal": False,
            "restart_policy": "never",
        }
    ]


def _append(lines: str) -> Callable[[str], str]:
    return lambda text: f"{text}\n{lines}\n"


def _replace(old: str, new: str) -> Callable[[str], str]:
    return lambda text: text.replace(old, new)


_GATEWAY_TABLE = '[openshell.gateway]\ncompute_driver = "docker"'

FILES: dict[str, Callable[[str], str]] = {
    "gateway-bind-in-file": _replace("127.0.0.1:17670", "0.0.0.0:17670"),
    "gateway-health-open": _replace(_GATEWAY_TABLE, f'{_GATEWAY_TABLE}\nhealth_bind_address = "0.0.0.0:17671"'),
    "gateway-oidc-table": _append('[openshell.gateway.oidc]\nissuer = "https://login.example.org"'),
    "gateway-oidc-dotted": _replace(_GATEWAY_TABLE, f'{_GATEWAY_TABLE}\noidc.issuer = "https://login.example.org"'),
    "gateway-oidc-inline": _replace(
        _GATEWAY_TABLE, f'{_GATEWAY_TABLE}\noidc = {{ issuer = "https://login.example.org" }}'
    ),
    "gateway-mtls-off": _append("[openshell.gateway.mtls_auth]\nenabled = false"),
    "gateway-reached-elsewhere": _replace(
        "enable_bind_mounts = true", 'enable_bind_mounts = true\ngrpc_endpoint = "https://gateway.example.org:17670"'
    ),
    "gateway-podman-socket": _replace(
        "enable_bind_mounts = true", 'enable_bind_mounts = true\nsocket_path = "/run/podman/podman.sock"'
    ),
    "gateway-file-newer": _append("# edited after the gateway had read it"),
    "gateway-other-setting": _replace(_GATEWAY_TABLE, f"{_GATEWAY_TABLE}\nenable_websocket_tunnel = true"),
    "gateway-unauthenticated": _append("[openshell.gateway.auth]\nallow_unauthenticated_users = true"),
    "gateway-setting-misplaced": lambda text: text.replace("enable_bind_mounts = true\n", "").replace(
        "enabled = false", "enabled = false\nenable_bind_mounts = true"
    ),
    "gateway-schema-string": _replace("version = 2", 'version = "2"'),
    "gateway-file-unreadable": _append("[openshell.gateway"),
    "gateway-podman": _replace('compute_driver = "docker"', 'compute_driver = "podman"'),
    "comments-that-look-wrong": lambda text: _replace(_GATEWAY_TABLE, f'{_GATEWAY_TABLE}\nserver_sans = ["oidc.lan"]')(
        f'# bind_address = "0.0.0.0:17670"\n# no oidc here\n{text}'
    ),
}


def _listen_also(address: str, family: socket.AddressFamily) -> None:
    server = socket.socket(family)
    if family == socket.AF_INET6:
        server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    else:
        server.setsockopt(socket.IPPROTO_IP, _IP_FREEBIND, 1)
    server.bind((address, layout.GATEWAY_PORT))
    server.listen()
    if os.fork() == 0:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        daemon.serve(server)
    server.close()


def _show_key() -> None:
    for path in layout.TLS.glob("*.key"):
        path.chmod(0o644)


def _ss(script: str) -> Callable[[], None]:
    return lambda: store.text(layout.BIN / "ss", f"#!/bin/sh\n{script}\n", 0o755)


def _preflight(script: str) -> Callable[[], None]:
    """The daemon runs already; only what is asked of the program from now on changes."""

    def plant() -> None:
        program = layout.BIN / "openshell-gateway"
        store.text(program, f'#!/bin/sh\n[ "$1" != config ] || {{ {script}; }}\n{_tail(program)}', 0o755)

    return plant


def _tail(program: Path) -> str:
    return program.read_text().partition("\n")[2]


_REAL_SS = 'real() { PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin ss "$@"; }\nreal "$@"'

EFFECTS: dict[str, Callable[[], None]] = {
    "gateway-bridge-listener": lambda: _listen_also("172.18.0.1", socket.AF_INET),
    "gateway-any-ipv6": lambda: _listen_also("::", socket.AF_INET6),
    "key-readable": _show_key,
    "preflight-red": _preflight(
        "echo 'Error: configuration preflight failed: unknown field `enable_bind_mounts`' >&2; exit 1"
    ),
    "preflight-missing": _preflight("echo 'exec format error' >&2; exit 126"),
    "ss-glued": _ss(f"{_REAL_SS} | sed 's/^LISTEN */LISTEN/'"),
    "ss-unparsable": _ss(f"{_REAL_SS} | sed 's/^LISTEN.*:17670.*/LISTEN<row of :17670 withheld>/'"),
    "ss-failing": _ss("echo 'Cannot open netlink socket: Protocol not supported' >&2; exit 1"),
}

# Planted by the functions above that look for them themselves.
ELSEWHERE = ("gateway-daemon-down", "foreign-sandbox")
