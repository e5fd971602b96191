"""Which gateway the CLI talks to: registrations under the configuration folder, and whether it answers."""

from __future__ import annotations

import json
import os
import socket
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from .. import settings, store
from .arguments import Arguments
from .errors import CliError

_MTLS = ("ca.crt", "tls.crt", "tls.key")


@dataclass(frozen=True)
class Gateway:
    """A registration: its name and where it listens."""

    name: str
    endpoint: str


def folder() -> Path:
    config = os.environ.get("XDG_CONFIG_HOME") or f"{os.environ.get('HOME', '')}/.config"
    return Path(config) / "openshell"


def registered() -> list[Gateway]:
    found = []
    for path in sorted((folder() / "gateways").glob("*/metadata.json")):
        record = store.load(path)
        if record:
            found.append(Gateway(record["name"], record["gateway_endpoint"]))
    return found


def active_name() -> str | None:
    try:
        return (folder() / "active_gateway").read_text().strip() or None
    except FileNotFoundError:
        return None


def select_active(name: str) -> None:
    store.text(folder() / "active_gateway", f"{name}\n", 0o600)


def chosen(arguments: Arguments) -> Gateway | None:
    """Endpoint before name before the active registration; None when nothing is registered."""
    endpoint = arguments.last("gateway-endpoint")
    if endpoint:
        return Gateway(arguments.get("gateway", "direct"), endpoint)
    name = arguments.last("gateway") or active_name()
    if name is None:
        return None
    found = next((item for item in registered() if item.name == name), None)
    if found is None:
        raise CliError(
            f"Unknown gateway '{name}'.",
            hint=f"Register it first: openshell gateway add <endpoint> --name {name}\n"
            "Or list available gateways: openshell gateway list",
        )
    return found


def needed(arguments: Arguments) -> Gateway:
    """The gateway, which must answer. CliError otherwise."""
    gateway = chosen(arguments)
    if gateway is None:
        raise CliError(
            "No active gateway.",
            hint="Set one with: openshell gateway select <name>\nOr add one with: openshell gateway add <endpoint>",
        )
    reach(gateway)
    return gateway


def reach(gateway: Gateway) -> None:
    address = urlsplit(gateway.endpoint)
    if address.scheme == "https":
        for name in _MTLS:
            path = folder() / "gateways" / gateway.name / "mtls" / name
            if not path.exists():
                raise CliError(f"mTLS material for gateway '{gateway.name}' is missing: {path}")
    try:
        socket.create_connection((address.hostname or "", address.port or 443), 5).close()
    except OSError as error:
        detail = f"{os.strerror(error.errno)} (os error {error.errno})" if error.errno else str(error)
        raise CliError(
            f"failed to connect to gateway '{gateway.name}' at {gateway.endpoint}",
            ["transport error", "tcp connect error", detail],
        ) from None


def add(arguments: Arguments) -> int:
    endpoint = arguments.positionals[0]
    name = arguments.get("name", "openshell")
    if any(item.name == name for item in registered()):
        raise CliError(f"gateway '{name}' already exists. Remove it first with: openshell gateway remove {name}")
    own = folder() / "gateways" / name
    if endpoint.startswith("https://") and arguments.has("local"):
        source = Path(
            os.environ.get("OPENSHELL_LOCAL_TLS_DIR") or f"{os.environ.get('XDG_STATE_HOME', '')}/openshell/tls"
        )
        if not all((source / item).exists() for item in _MTLS):
            raise CliError(f"mTLS certificates for gateway '{name}' were not found in {source}")
        (own / "mtls").mkdir(parents=True, mode=0o700)
        for item in _MTLS:
            store.text(own / "mtls" / item, (source / item).read_text(), 0o600)
    own.mkdir(parents=True, mode=0o700, exist_ok=True)
    record = {
        "name": name,
        "gateway_endpoint": endpoint,
        "is_remote": False,
        "gateway_port": urlsplit(endpoint).port or 443,
        "auth_mode": "mtls" if endpoint.startswith("https://") else "none",
    }
    store.save(own / "metadata.json", record)
    select_active(name)
    kind = "local" if arguments.has("local") else "remote"
    print(f"✓ Gateway '{name}' added and set as active", file=sys.stderr)
    print(f"  Endpoint: {endpoint}\n  Type: {kind}\n  Auth: {record['auth_mode']}", file=sys.stderr)
    return 0


def list_(arguments: Arguments) -> int:
    active = active_name()
    rows = [
        {
            "active": item.name == active,
            "auth": "mtls" if item.endpoint.startswith("https") else "none",
            "endpoint": item.endpoint,
            "is_remote": False,
            "name": item.name,
            "remote_host": None,
            "resolved_host": None,
            "source": "user",
            "type": "local",
        }
        for item in registered()
    ]
    if arguments.last("output") == "json":
        print(json.dumps(rows, indent=2))
        return 0
    print("  NAME       ENDPOINT")
    for row in rows:
        print(f"{'*' if row['active'] else ' '} {row['name']:<10} {row['endpoint']}")
    return 0


def select(arguments: Arguments) -> int:
    name = arguments.positionals[0]
    if not any(item.name == name for item in registered()):
        raise CliError(f"Unknown gateway '{name}'.", hint="Or list available gateways: openshell gateway list")
    select_active(name)
    print(f"✓ Active gateway set to '{name}'")
    return 0


def info(arguments: Arguments) -> int:
    gateway = needed(arguments)
    answer = {
        "auth": {"mode": "mtls", "status": "authenticated"},
        "compute_drivers": [
            {
                "capabilities": {"driver_name": "docker", "driver_version": settings.current().docker},
                "name": "docker",
            }
        ],
        "gateway": gateway.name,
        "server": gateway.endpoint,
        "status": "connected",
        "version": settings.version_text(),
    }
    if arguments.last("output") == "json":
        print(json.dumps(answer, indent=2))
    else:
        print(
            f"Gateway: {gateway.name}\nServer: {gateway.endpoint}\nCompute driver: docker\nVersion: {answer['version']}"
        )
    return 0


def status(arguments: Arguments) -> int:
    gateway = chosen(arguments)
    as_json = arguments.last("output") == "json"
    if gateway is None:
        print(json.dumps({"status": "not_configured"}) if as_json else "Gateway Status\n\n  No gateway configured")
        return 0
    reach(gateway)
    mode = "mTLS" if gateway.endpoint.startswith("https") else "Not required"
    version = settings.version_text()
    if as_json:
        answer = {
            "authentication": {"mode": mode, "status": "gateway"},
            "gateway": gateway.name,
            "server": gateway.endpoint,
            "status": "connected",
            "version": version,
        }
        print(json.dumps(answer, indent=2))
        return 0
    print(f"Server Status\n\n  Gateway: {gateway.name}\n  Server: {gateway.endpoint}")
    print(f"  Status: Connected\n  Authentication: {mode} (gateway)\n  Version: {version}")
    return 0
