"""Containers that `docker run` made: their records on the disk, their boxes, logs and restarts."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import layout, store
from .boxes import client, start
from .boxes.spec import BoxSpec, Mount
from .images import library
from .sabotage import runtime as sabotage
from .store import Record

_FIRST_BACKOFF, _LONGEST_BACKOFF, _SETTLED = 0.1, 60.0, 10.0
DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class NameTaken(Exception):
    """Another container, which the text names by id, has that name."""


@dataclass(frozen=True)
class Wish:
    """What a `docker run` asks for; empty values mean the image's own."""

    image: str
    command: tuple[str, ...] = ()
    name: str = ""
    user: str = ""
    workdir: str = ""
    entrypoint: str | None = None
    environment: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    binds: tuple[str, ...] = ()
    network: str = "bridge"
    restart: str = "no"
    remove: bool = False


def directory(identity: str) -> Path:
    return layout.CONTAINERS / identity


def path(identity: str) -> Path:
    return directory(identity) / "container.json"


def everything() -> list[Record]:
    found = [store.load(item) for item in layout.CONTAINERS.glob("*/container.json")]
    return sorted((item for item in found if item), key=lambda item: item["created"], reverse=True)


def create(wish: Wish) -> Record:
    """Raises library.NoSuchImage and NameTaken."""
    image = library.find(wish.image)
    identity = os.urandom(32).hex()
    with store.locked():
        for other in everything():
            if other["name"] == wish.name:
                raise NameTaken(other["id"])
        entrypoint = [wish.entrypoint] if wish.entrypoint else image.config.entrypoint
        command = list(wish.command) or ([] if wish.entrypoint else image.config.command)
        record: Record = {
            "id": identity,
            "name": wish.name or f"rehearsal_{identity[:8]}",
            "image": wish.image,
            "image_id": image.id,
            "created": store.now(),
            "user": wish.user or image.config.user,
            "workdir": wish.workdir or image.config.workdir,
            "entrypoint": entrypoint,
            "command": command,
            "environment": {"PATH": DEFAULT_PATH, **image.config.environment, **wish.environment},
            "labels": {**image.config.labels, **wish.labels},
            "mounts": [_mount(text) for text in wish.binds],
            "binds": list(wish.binds),
            "network": wish.network,
            "restart": wish.restart,
            "remove": wish.remove,
            "status": "created",
            "exit_code": 0,
            "started_at": "0001-01-01T00:00:00Z",
            "finished_at": "0001-01-01T00:00:00Z",
            "restarts": 0,
        }
        record = sabotage.refit(record)
        directory(identity).mkdir(mode=0o700)
        store.save(path(identity), record)
    return record


def _mount(text: str) -> dict[str, Any]:
    """`source:target[:mode]`; a source that is missing is made, as the daemon does for -v."""
    source, target, *mode = text.split(":")
    if not os.path.exists(source):
        os.makedirs(source)
    return {"source": source, "target": target, "read_only": "ro" in ",".join(mode).split(",")}


def plan(record: Record) -> BoxSpec:
    image = library.find(record["image_id"])
    uid, gid = identity_of(record["user"], image.root)
    mounts = sorted(sabotage.configure(record, directory(record["id"])), key=lambda item: item["target"].count("/"))
    return BoxSpec(
        name=record["id"][:12],
        directory=str(directory(record["id"])),
        control=str(layout.CONTROL / f"{record['id'][:12]}.sock"),
        uid=uid,
        gid=gid,
        image_root=image.root,
        command=(*record["entrypoint"], *record["command"]),
        workdir=record["workdir"],
        environment={"HOME": "/root" if uid == 0 else "/", **record["environment"]},
        mounts=tuple(Mount(item["source"], item["target"], item["read_only"]) for item in mounts),
    )


def identity_of(user: str, root: str) -> tuple[int, int]:
    """uid and gid of `--user` or USER: numbers, or names of the image's own passwd and group."""
    name, _, group = user.partition(":")
    uid = gid = 0
    if re.fullmatch(r"\d+", name):
        uid = int(name)
        gid = _column(f"{root}/etc/passwd", 2, name, 3) or 0
    elif name:
        uid = _column(f"{root}/etc/passwd", 0, name, 2) or 0
        gid = _column(f"{root}/etc/passwd", 0, name, 3) or 0
    if group:
        gid = int(group) if group.isdigit() else _column(f"{root}/etc/group", 0, group, 2) or 0
    return uid, gid


def _column(table: str, key: int, value: str, wanted: int) -> int | None:
    with open(table) as stream:
        for line in stream:
            columns = line.rstrip("\n").split(":")
            if columns[key] == value:
                return int(columns[wanted])
    return None


def attached(record: Record) -> int:
    """Run it on the caller's own descriptors; its exit code."""
    store.update(path(record["id"]), status="running", started_at=store.now())
    try:
        code = start.attached(plan(record), (0, 1, 2))
    finally:
        if record["remove"]:
            shutil.rmtree(directory(record["id"]), ignore_errors=True)
    store.update(path(record["id"]), status="exited", exit_code=code, finished_at=store.now())
    return code


def detached(record: Record) -> None:
    """Run it in the background, with logs and restarts; returns once its first process runs."""
    told, tell = os.pipe()
    if os.fork() == 0:
        os.close(told)
        start.become_daemon()
        _keep(record, tell)
        os._exit(0)
    os.close(tell)
    with os.fdopen(told, "rb") as stream:
        if stream.read(1) != b"1":
            raise start.StartFailed(start.last_words(plan(record)))


def _keep(record: Record, tell: int) -> None:
    own = path(record["id"])
    backoff = _FIRST_BACKOFF
    log = _Log(record["id"])
    while True:
        begun = time.monotonic()
        store.update(own, status="running", started_at=store.now())
        try:
            code = start.logged(plan(record), tell, log.write)
        except (start.StartFailed, library.NoSuchImage, OSError):
            code = 125
            with contextlib.suppress(OSError):
                os.close(tell)  # who waits for the start must not wait for ever
        tell = -1
        now = store.load(own)
        if now is None:
            return
        wanted = now["restart"] in ("always", "unless-stopped") or (now["restart"].startswith("on-failure") and code)
        if now["status"] == "stopping" or not wanted:
            store.update(own, status="exited", exit_code=code, finished_at=store.now())
            if now["remove"]:
                shutil.rmtree(directory(record["id"]), ignore_errors=True)
            return
        restarts = now["restarts"] + 1
        store.update(own, status="restarting", exit_code=code, finished_at=store.now(), restarts=restarts)
        if time.monotonic() - begun > _SETTLED:
            backoff = _FIRST_BACKOFF
        time.sleep(backoff)
        backoff = min(backoff * 2, _LONGEST_BACKOFF)


class _Log:
    """What the container wrote, line by line, each with its stream and moment."""

    def __init__(self, identity: str) -> None:
        self.path = directory(identity) / "log.jsonl"
        self.pending = {"stdout": b"", "stderr": b""}

    def write(self, stream: str, data: bytes) -> None:
        """Empty `data` is the stream's end: what has no newline yet is a line too."""
        lines = (self.pending[stream] + data).split(b"\n")
        self.pending[stream] = lines.pop() if data else b""
        lines = [line for line in lines if data or line]
        if lines:
            entries = [[store.now(), stream, line.decode(errors="replace")] for line in lines]
            with open(self.path, "a") as log:
                log.writelines(json.dumps(entry) + "\n" for entry in entries)


def logs(identity: str) -> list[tuple[str, str, str]]:
    """Lines as (moment, stream, text)."""
    try:
        content = (directory(identity) / "log.jsonl").read_text()
    except FileNotFoundError:
        return []
    return [tuple(json.loads(line)) for line in content.splitlines()]


def stop(record: Record) -> None:
    if record["status"] in ("running", "restarting"):
        store.update(path(record["id"]), status="stopping", stopped_by_hand=True)
        client.stop(plan(record).control)


def remove(record: Record) -> None:
    stop(record)
    shutil.rmtree(directory(record["id"]), ignore_errors=True)


def bring_back_all() -> None:
    """After a boot: `unless-stopped` and `always` come back, whatever else had run is exited."""
    for record in everything():
        if record["status"] == "exited":
            continue
        if record["restart"] in ("unless-stopped", "always") and not record.get("stopped_by_hand"):
            try:
                detached(record)
                continue
            except start.StartFailed:
                pass
        store.update(path(record["id"]), status="exited", exit_code=137, finished_at=store.now())
