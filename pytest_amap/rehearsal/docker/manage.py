"""`docker start|stop|restart|rm`: for the operator's hands; the suite never uses them."""

from __future__ import annotations

from .. import containers, store
from . import flags
from .errors import DockerError, no_such_container


def _record(name: str) -> store.Record:
    for item in containers.everything():
        if item["name"] == name.removeprefix("/") or (len(name) >= 4 and item["id"].startswith(name)):
            return item
    raise no_such_container(name)


def start(words: list[str]) -> int:
    for name in words:
        record = _record(name)
        if record["status"] not in ("running", "restarting"):
            store.update(containers.path(record["id"]), stopped_by_hand=False)
            containers.detached(record)
        print(name)
    return 0


def stop(words: list[str]) -> int:
    for name in flags.read(words, "t/time timeout s/signal", "").words:
        containers.stop(_record(name))
        print(name)
    return 0


def restart(words: list[str]) -> int:
    for name in flags.read(words, "t/time timeout s/signal", "").words:
        record = _record(name)
        containers.stop(record)
        store.update(containers.path(record["id"]), stopped_by_hand=False)
        containers.detached(record)
        print(name)
    return 0


def remove(words: list[str]) -> int:
    found = flags.read(words, "", "f/force v/volumes")
    for name in found.words:
        record = _record(name)
        if record["status"] in ("running", "restarting") and not found.has("force"):
            raise DockerError(
                f'Error response from daemon: cannot remove container "{name}": container is running: '
                "stop the container before removing or force remove"
            )
        containers.remove(record)
        print(name)
    return 0
