"""`--driver-config-json`: what the CLI takes, and what the gateway's Docker driver admits."""

from __future__ import annotations

import json
import os
from typing import Any

from ..gateway import config
from .errors import CliError, refused

_RESERVED = (
    "/opt/openshell",
    "/etc/openshell",
    "/etc/openshell-tls",
    "/run/openshell",
    "/run/openshell-sidecar",
    "/run/netns",
    "/.openshell",
)
_WORKSPACE = "/sandbox"
_MOUNT_KEYS = {"type", "source", "target", "read_only", "selinux_label"}


def parse(text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    try:
        document = json.loads(text)
    except ValueError as error:
        raise CliError("--driver-config-json must be valid JSON", [str(error)]) from None
    if not isinstance(document, dict):
        raise CliError("--driver-config-json must be a JSON object keyed by driver name")
    return document


def admit(document: dict[str, Any]) -> None:
    """Raises what the gateway would answer."""
    if not document:
        return
    settings = config.docker()
    if not settings.get("allow_driver_config", False):
        raise refused(
            "FailedPrecondition", "driver config requires allow_driver_config = true in [openshell.drivers.docker]"
        )
    for driver in document:
        if driver != "docker":
            raise refused("InvalidArgument", f"driver config for '{driver}', but the compute driver is docker")
    fields = document["docker"]
    if not isinstance(fields, dict) or set(fields) - {"mounts", "cdi_devices"}:
        raise refused("InvalidArgument", "unknown field in docker driver config, expected `mounts` or `cdi_devices`")
    mounts = fields.get("mounts", [])
    if mounts and not settings.get("enable_bind_mounts", False):
        raise refused(
            "FailedPrecondition", "docker bind mounts require enable_bind_mounts = true in [openshell.drivers.docker]"
        )
    if mounts and settings.get("resource_admission", {}).get("enabled", True):
        raise refused("FailedPrecondition", "resource admission rejected a host bind or image mount")
    targets: list[str] = []
    for mount in mounts:
        _admit_mount(mount, targets)


def _admit_mount(mount: Any, targets: list[str]) -> None:
    if not isinstance(mount, dict) or mount.get("type") != "bind":
        raise refused("InvalidArgument", 'the rehearsal\'s docker driver mounts only type "bind"')
    unknown = set(mount) - _MOUNT_KEYS
    if unknown:
        raise refused("InvalidArgument", f"unknown field `{sorted(unknown)[0]}` in a docker mount")
    source, target = str(mount.get("source", "")), str(mount.get("target", ""))
    if not source.startswith("/"):
        raise refused("InvalidArgument", f"bind source must be an absolute host path: {source}")
    if not os.path.exists(source):
        raise refused("FailedPrecondition", f"bind source path does not exist: {source}")
    if not target.startswith("/") or os.path.normpath(target) != target or target == "/":
        raise refused("InvalidArgument", f"mount target must be an absolute normalized path: {target}")
    if target in targets:
        raise refused("InvalidArgument", f"duplicate mount target: {target}")
    if any(_overlap(target, root) for root in _RESERVED):
        raise refused("InvalidArgument", f"mount target is reserved: {target}")
    if _within(_WORKSPACE, target):
        raise refused("InvalidArgument", f"mount target is reserved for the OpenShell workspace: {target}")
    targets.append(target)


def _within(path: str, root: str) -> bool:
    return path == root or path.startswith(f"{root}/")


def _overlap(one: str, other: str) -> bool:
    return _within(one, other) or _within(other, one)
