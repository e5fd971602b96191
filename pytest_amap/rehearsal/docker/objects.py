"""Containers and images as `docker inspect` shows them: each derived from what was really mounted and started."""

from __future__ import annotations

import hashlib
from typing import Any

from .. import containers, sandboxes
from ..boxes.spec import BoxSpec
from ..images.library import Image
from ..store import Record

_RUNTIME = "/.openshell/runtime/openshell-sandbox"
_BOOTSTRAP = "/.openshell/channel/sandbox/bootstrap.json"
_ZERO = "0001-01-01T00:00:00Z"
_PREFIX = "openshell.ai"


def everything() -> list[dict[str, Any]]:
    """All containers, newest first: a workload and a supervisor for each sandbox, then what `docker run` made."""
    found = []
    for record in sandboxes.everything():
        spec = sandboxes.mounted(record)
        if spec is not None:
            found.append(workload(record, spec))
            if record["phase"] in ("Ready", "Stopping"):
                found.append(supervisor(record))
    found += [container(record) for record in containers.everything()]
    return sorted(found, key=lambda item: item["Created"], reverse=True)


def find(name: str) -> dict[str, Any] | None:
    for item in everything():
        if name.removeprefix("/") == item["Name"].removeprefix("/") or (len(name) >= 4 and item["Id"].startswith(name)):
            return item
    return None


def sandbox_container_name(record: Record) -> str:
    return f"openshell-{record['workspace']}--{record['name']}-{record['id']}"[:200]


def workload(record: Record, spec: BoxSpec) -> dict[str, Any]:
    running = record["phase"] in ("Ready", "Stopping")
    whole = _skeleton(
        identity=_derived(record["id"], "sandbox"),
        name=sandbox_container_name(record),
        created=record["started_at"] or f"{record['created_at'].replace(' ', 'T')}Z",
        image_id=record["image"],
        argv=[_RUNTIME, "--bootstrap", _BOOTSTRAP],
        state=_state("running" if running else "exited", record["exit_code"] or 0, record["started_at"] or _ZERO),
        mounts=[
            _mount(item.kind, item.source, item.target, item.read_only, item.name) for item in spec.mounts if item.shown
        ],
        labels=_labels(record, "sandbox"),
    )
    whole["Config"].update(Image=record["image"], User=f"{spec.uid}:{spec.gid}", WorkingDir="/", Hostname=spec.name)
    shown = [item for item in spec.mounts if item.kind == "bind" and item.shown]
    binds = [f"{item.source}:{item.target}{':ro' if item.read_only else ''}" for item in shown]
    whole["HostConfig"].update(
        Binds=binds, NetworkMode="none", Dns=["127.0.0.53"], CapDrop=["ALL"], SecurityOpt=["no-new-privileges"]
    )
    return whole


def supervisor(record: Record) -> dict[str, Any]:
    identity = _derived(record["id"], "supervisor")
    channel = str(sandboxes.directory(record["id"]) / "channel")
    whole = _skeleton(
        identity=identity,
        name=f"{sandbox_container_name(record)}-supervisor",
        created=record["started_at"] or _ZERO,
        image_id=f"sha256:{_derived('supervisor-image', 'image')}",
        argv=["/openshell-supervisor"],
        state=_state("running", 0, record["started_at"] or _ZERO),
        mounts=[_mount("volume", channel, sandboxes.CHANNEL, False, f"openshell-channel-{record['id'][:8]}")],
        labels=_labels(record, "supervisor"),
    )
    whole["Config"].update(Image="openshell/supervisor:0.1.2", User="65534:65534", Hostname=identity[:12])
    whole["HostConfig"].update(NetworkMode="host", ReadonlyRootfs=True)
    return whole


def container(record: Record) -> dict[str, Any]:
    argv = [*record["entrypoint"], *record["command"]]
    status = "running" if record["status"] == "stopping" else record["status"]
    whole = _skeleton(
        identity=record["id"],
        name=record["name"],
        created=record["created"],
        image_id=record["image_id"],
        argv=argv or [""],
        state=_state(status, record["exit_code"], record["started_at"], record["finished_at"]),
        mounts=[_mount("bind", item["source"], item["target"], item["read_only"]) for item in record["mounts"]],
        labels=record["labels"],
    )
    whole["RestartCount"] = record["restarts"]
    whole["Config"].update(
        Image=record["image"],
        User=record["user"],
        WorkingDir=record["workdir"],
        Hostname=record["id"][:12],
        Env=[f"{name}={value}" for name, value in record["environment"].items()],
        Entrypoint=record["entrypoint"] or None,
        Cmd=record["command"] or None,
    )
    policy, _, count = record["restart"].partition(":")
    whole["HostConfig"].update(
        Binds=record["binds"],
        NetworkMode=record["network"],
        RestartPolicy={"Name": policy, "MaximumRetryCount": int(count or 0)},
        AutoRemove=record["remove"],
    )
    return whole


def image(found: Image) -> dict[str, Any]:
    config = found.config
    return {
        "Id": found.id,
        "RepoTags": list(found.tags),
        "RepoDigests": [],
        "Created": found.created,
        "Config": {
            "User": config.user,
            "Env": [f"{name}={value}" for name, value in config.environment.items()],
            "Cmd": config.command or None,
            "Entrypoint": config.entrypoint or None,
            "WorkingDir": config.workdir,
            "Labels": config.labels or None,
        },
        "Architecture": "amd64",
        "Os": "linux",
        "Size": 0,
    }


def _skeleton(
    *,
    identity: str,
    name: str,
    created: str,
    image_id: str,
    argv: list[str],
    state: dict[str, Any],
    mounts: list[dict[str, Any]],
    labels: dict[str, str],
) -> dict[str, Any]:
    return {
        "Id": identity,
        "Created": created,
        "Path": argv[0],
        "Args": argv[1:],
        "State": state,
        "Image": image_id,
        "Name": f"/{name}",
        "RestartCount": 0,
        "Platform": "linux",
        "HostConfig": {
            "Binds": [],
            "NetworkMode": "none",
            "RestartPolicy": {"Name": "no", "MaximumRetryCount": 0},
            "AutoRemove": False,
            "Privileged": False,
            "ReadonlyRootfs": False,
            "CapDrop": None,
            "SecurityOpt": None,
        },
        "Mounts": mounts,
        "Config": {
            "Hostname": identity[:12],
            "User": "",
            "Env": [],
            "Cmd": None,
            "Image": "",
            "WorkingDir": "",
            "Entrypoint": None,
            "Labels": labels,
        },
        "NetworkSettings": {"Networks": {}},
    }


def _state(status: str, code: int, started: str, finished: str = _ZERO) -> dict[str, Any]:
    return {
        "Status": status,
        "Running": status in ("running", "restarting"),
        "Paused": False,
        "Restarting": status == "restarting",
        "OOMKilled": False,
        "Dead": False,
        "ExitCode": code,
        "Error": "",
        "StartedAt": started,
        "FinishedAt": finished,
    }


def _mount(kind: str, source: str, target: str, read_only: bool, name: str = "") -> dict[str, Any]:
    whole = {
        "Type": kind,
        "Source": source,
        "Destination": target,
        "Mode": "ro" if read_only else "",
        "RW": not read_only,
        "Propagation": "rprivate" if kind == "bind" else "",
    }
    return {**whole, "Name": name, "Driver": "local", "Mode": "z"} if kind == "volume" else whole


def _labels(record: Record, role: str) -> dict[str, str]:
    labels = {
        f"{_PREFIX}/managed-by": "openshell",
        f"{_PREFIX}/sandbox-id": record["id"],
        f"{_PREFIX}/sandbox-name": record["name"],
        f"{_PREFIX}/isolation-backend": "docker",
        f"{_PREFIX}/isolation-role": role,
    }
    return {**labels, f"{_PREFIX}/sandbox-workspace": record["workspace"]} if role == "sandbox" else labels


def _derived(identity: str, role: str) -> str:
    return hashlib.sha256(f"{identity} {role}".encode()).hexdigest()
