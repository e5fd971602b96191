"""Containers as `docker inspect` describes them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from . import Unreadable, documents, shown


@dataclass(frozen=True)
class Mount:
    """One mount; `source` is a host path for a bind, the driver's own place for a volume."""

    kind: str
    source: str
    destination: str
    rw: bool


@dataclass(frozen=True)
class Container:
    """One container; `status` is a word such as running, `started_at` is RFC 3339."""

    name: str
    labels: dict[str, str]
    status: str
    started_at: str
    mounts: tuple[Mount, ...]

    def mount(self, destination: str) -> Mount | None:
        """The mount at exactly `destination`; of several the last, which hides the others."""
        return next((mount for mount in reversed(self.mounts) if mount.destination == destination), None)


def containers(stdout: str) -> tuple[Container, ...] | Unreadable:
    """`docker inspect ID...`: a JSON array, or the one object of `--format {{json .}}`."""
    read = documents.value(stdout, limit=32 * 1024 * 1024)
    if isinstance(read, Unreadable):
        return read
    found = []
    for item in read if isinstance(read, list) else [read]:
        container = _container(item)
        if isinstance(container, Unreadable):
            return container
        found.append(container)
    return tuple(found)


def workloads(found: Iterable[Container], sandbox_id: str, prefix: str = "openshell.ai/") -> tuple[Container, ...]:
    """The containers of one sandbox that run its programs, not those that supervise or stage.

    An older OpenShell has one container a sandbox and gives it no role.
    """
    return tuple(
        container
        for container in found
        if container.labels.get(f"{prefix}sandbox-id") == sandbox_id
        and container.labels.get(f"{prefix}isolation-role", "sandbox") == "sandbox"
    )


def _container(item: object) -> Container | Unreadable:
    mounts = item.get("Mounts") if isinstance(item, dict) else None
    if not isinstance(item, dict) or not isinstance(mounts, list):
        return Unreadable(f"expected a container's description, saw {shown(item)}")
    read = [_mount(mount) for mount in mounts]
    for mount in read:
        if isinstance(mount, Unreadable):
            return mount
    labels = _at(item, "Config", "Labels")
    labels = {} if labels is None else labels
    texts = [_at(item, *path) for path in (("Name",), ("State", "Status"), ("State", "StartedAt"))]
    if not isinstance(labels, dict):
        return Unreadable(f"expected a container's description, saw {shown(item)}")
    if not all(isinstance(text, str) for text in (*texts, *labels.values())):
        return Unreadable(f"expected a container's description, saw {shown(item)}")
    name, status, started_at = texts
    found = tuple(mount for mount in read if isinstance(mount, Mount))
    return Container(name.removeprefix("/"), labels, status, started_at, found)


def _mount(item: object) -> Mount | Unreadable:
    if not isinstance(item, dict):
        return Unreadable(f"expected a mount, saw {shown(item)}")
    kind, source, destination, rw = (item.get(key) for key in ("Type", "Source", "Destination", "RW"))
    if not (isinstance(kind, str) and isinstance(source, (str, type(None))) and isinstance(destination, str)):
        return Unreadable(f"expected a mount, saw {shown(item)}")
    if not isinstance(rw, bool):
        return Unreadable(f"expected RW of the mount at {shown(destination)} to be true or false, saw {shown(rw)}")
    return Mount(kind, source or "", destination, rw)


def _at(item: Any, *path: str) -> Any:
    for key in path:
        item = item.get(key) if isinstance(item, dict) else None
    return item
