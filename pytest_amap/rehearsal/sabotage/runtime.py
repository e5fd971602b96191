"""Faults in what `docker` answers about sandboxes, and in the router's container."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .. import planted
from ..store import Record
from . import watch

Run = Callable[[], int]
Config = dict[str, Any]
_STALE = "roster-stale"
_LABEL = "label=openshell.ai/"
_ROUTER = "amap-router-local"
_REFUSALS = (
    "router.poll: config reload FAILED: peer_senders names gamma, which is no instance",
    "router.poll: gamma: SKIPPED, NO VERDICT in selected.json",
    "router.poll: roster: skipped gamma",
    "router.poll: delta: FIRST SIGHT. 3 requests in its outbox are older than this router and are not answered",
)
"""About members that no check asks for."""


def guard(words: list[str], run: Run) -> int:
    """Run a `docker` command, through the planted faults that concern it."""
    for name in planted.among(ANSWERS):
        run = functools.partial(ANSWERS[name], words, run)
    return run()


def _about_sandboxes(words: list[str]) -> bool:
    return words[0] == "ps" and any(_LABEL in word for word in words)


def _fail(words: list[str], run: Run) -> int:
    if not _about_sandboxes(words):
        return run()
    print("Cannot connect to the Docker daemon at unix:///var/run/docker.sock.", file=sys.stderr)
    return 1


def _nothing(words: list[str], run: Run) -> int:
    return 0 if _about_sandboxes(words) else run()


def _inspecting(change: Callable[[list[Config]], str]) -> Callable[[list[str], Run], int]:
    """Changes the description of a sandbox's containers; the router's stays as it is."""

    def answer(words: list[str], run: Run) -> int:
        if words[0] != "inspect" or _ROUTER in words or any("format" in word for word in words):
            return run()
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            code = run()
        sys.stdout.write(change(json.loads(printed.getvalue())))
        return code

    return answer


def _doubled(found: list[Config]) -> str:
    twin = [{**item, "Id": item["Id"][::-1], "Name": f"{item['Name']}-old"} for item in found]
    return json.dumps([*found, *twin])


def _rewritten(found: list[Config]) -> str:
    for item in found:
        for mount in item["Mounts"]:
            mount["Source"] = f"/home/operator/snap/docker/179{mount['Source']}"
    return json.dumps(found)


def _noisy(words: list[str], run: Run) -> int:
    if words[0] == "logs" and _ROUTER in words:
        for line in _REFUSALS:
            print(f"2026-11-29 09:00:00,000 WARNING {line}", file=sys.stderr)
    return run()


def _inspect_fails(words: list[str], run: Run) -> int:
    """The question for the user alone: the router's state is still told."""
    if words[0] != "inspect" or _ROUTER not in words or not any(".Config.User" in word for word in words):
        return run()
    print("Error response from daemon: context deadline exceeded", file=sys.stderr)
    return 1


ANSWERS: dict[str, Callable[[list[str], Run], int]] = {
    "docker-failing": _fail,
    "container-missing": _nothing,
    "two-lane-containers": _inspecting(_doubled),
    "inspect-garbled": _inspecting(lambda found: "<html>502 Bad Gateway</html>\n"),
    "source-rewritten": _inspecting(_rewritten),
    "router-log-refusals": _noisy,
    "router-inspect-failing": _inspect_fails,
}


def refit(record: Record) -> Record:
    """The router's container as the planted faults have it, at its making."""
    if record["name"] == _ROUTER and "router-user" in planted.everything():
        return {**record, "user": "1234:1234"}
    return record


def configure(record: Record, directory: Path) -> list[dict[str, Any]]:
    """The container's mounts; under a fault the router's are others than it was given."""
    names = planted.among(CONFIGS)
    mounts = []
    for mount in record["mounts"]:
        if _STALE in planted.everything() and record["name"] == _ROUTER and mount["target"].endswith("/roster"):
            mount = {**mount, "read_only": True}
        if names and record["name"] == _ROUTER and mount["target"].endswith("/router.json"):
            text = Path(mount["source"]).read_text()
            for name in names:
                text = CONFIGS[name](text)
            (directory / "router.json").write_text(text)
            mount = {**mount, "source": str(directory / "router.json")}
        mounts.append(mount)
    return [*mounts, *(watch.withheld() if record["name"] == _ROUTER else ())]


def _everyone(text: str) -> str:
    config = json.loads(text)
    granted = config["peer_senders"]
    names = sorted({*granted, *(name for senders in granted.values() for name in senders)})
    config["peer_senders"] = {name: [other for other in names if other != name] for name in names}
    config.pop("peers", None)
    return json.dumps(config)


def _other_domain(text: str) -> str:
    return json.dumps({**json.loads(text), "fleet_domain": "other.example.net"})


CONFIGS: dict[str, Callable[[str], str]] = {
    "reverse-granted": _everyone,
    "other-domain": _other_domain,
    "router-restarting": lambda text: "{not JSON",
}

# Planted by `refit` and `configure`.
ELSEWHERE = ("router-user", _STALE)
