"""Where everything of the rehearsal host lies. These neutral paths alone appear in what it prints and keeps."""

from __future__ import annotations

import os
from pathlib import Path

RUN = Path(os.environ.get("AMAP_REHEARSAL_RUN", "/run/amap"))
"""Of one world: an empty tmpfs at each start, with the binds named below."""

HOME = RUN / "home"
REPOSITORY = RUN / "pytest-amap"
ENGINE = RUN / "engine"
BIN = RUN / "bin"
CONTROL = RUN / "control"
FAULTS = RUN / "faults.json"
STARTED = RUN / "gateway-started"
SIBLINGS = ("amap-router-local", "amap-connector-claude", "amap-spec")

DISK = RUN / "host"
"""The host's disk: it outlives the world and lies beside the home."""

USER = DISK / "user"
CONFIG = DISK / "config" / "openshell"
UNIT = DISK / "config" / "systemd" / "user" / "openshell-gateway.service"
DROP_INS = UNIT.with_name("openshell-gateway.service.d")
ENVIRONMENT_D = DISK / "config" / "environment.d"
STATE = DISK / "state" / "openshell"
GATEWAY_TOML = CONFIG / "gateway.toml"
GATEWAY = STATE / "gateway"
TLS = STATE / "tls"
PROVIDERS = GATEWAY / "providers"
PROFILES = GATEWAY / "profiles"
SANDBOXES = GATEWAY / "sandboxes"
DOCKER = DISK / "docker"
IMAGES = DOCKER / "images"
CONTAINERS = DOCKER / "containers"
SETTINGS = DISK / "settings.json"

GATEWAY_PORT = 17670
HOSTNAME = "amap-rehearsal"


def boot_directories() -> tuple[tuple[Path, int], ...]:
    """Directories a host has before anything runs on it, with their modes."""
    private, public = 0o700, 0o755
    return (
        (USER, private),
        (CONFIG, private),
        (UNIT.parent, private),
        (STATE, private),
        (GATEWAY, private),
        (TLS, private),
        (PROVIDERS, private),
        (PROFILES, private),
        (SANDBOXES, private),
        (IMAGES, public),
        (CONTAINERS, private),
        (BIN, public),
        (CONTROL, private),
    )
