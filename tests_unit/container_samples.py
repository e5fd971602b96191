"""Made-up containers and sandboxes, for the judges that look at one from outside."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from request_samples import ran

from pytest_amap.checks.boxes import Boxes
from pytest_amap.observations import Ran

STARTED = "2026-11-29T11:00:00.123456789Z"


def bind(source: str, destination: str, *, rw: bool = False, kind: str = "bind") -> dict[str, Any]:
    return {"Type": kind, "Source": source, "Destination": destination, "RW": rw}


def container(
    sandbox_id: str = "id-1",
    mounts: Iterable[dict[str, Any]] = (),
    *,
    role: str = "sandbox",
    started: str = STARTED,
    status: str = "running",
) -> dict[str, Any]:
    labels = {"openshell.ai/sandbox-id": sandbox_id} | ({"openshell.ai/isolation-role": role} if role else {})
    return {
        "Id": "c1",
        "Name": f"/openshell-default--alpha-{sandbox_id}",
        "Config": {"User": "1000:1000", "Labels": labels},
        "Image": "sha256:1",
        "State": {"Status": status, "StartedAt": started, "ExitCode": 0},
        "HostConfig": {"NetworkMode": "none", "RestartPolicy": {"Name": "no"}},
        "Mounts": list(mounts),
    }


def inspected(found: dict[str, Any]) -> Ran:
    return ran(json.dumps([found]))


def boxes(*found: dict[str, Any]) -> Boxes:
    """These containers bear the id that was asked for."""
    return Boxes(ran("".join(f"c{number}\n" for number in range(len(found)))), tuple(map(inspected, found)))


def sandbox(phase: str = "Ready", name: str = "alpha", identity: str = "id-1", workspace: str = "default") -> Ran:
    return ran(json.dumps(box(name, identity, workspace, phase)))


def box(name: str, identity: str, workspace: str = "default", phase: str = "Ready") -> dict[str, str]:
    return {"id": identity, "name": name, "workspace": workspace, "phase": phase}
