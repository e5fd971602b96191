"""`openshell sandbox get|list|exec|connect|stop|start|delete`, and `logs`."""

from __future__ import annotations

import json
import os
import select
import shlex
import socket
import sys
import termios
import time
import tty
from collections.abc import Iterator
from contextlib import contextmanager

from .. import oslog, sandboxes, settings, store
from ..boxes import client
from ..boxes.start import StartFailed
from . import policies, view
from .arguments import Arguments, pairs
from .errors import CliError, UsageError, refused
from .gateways import needed

_DETACH = b"\x10\x11"  # Ctrl-P Ctrl-Q


def workspace(arguments: Arguments) -> str:
    return arguments.get("workspace", "default")


def named(arguments: Arguments) -> store.Record:
    """The sandbox the command line names. CliError when the gateway has none of that name."""
    needed(arguments)
    name = arguments.last("name") or (arguments.positionals or [""])[0]
    if not name:
        raise UsageError("the following required arguments were not provided:\n  <NAME>")
    record = sandboxes.find(workspace(arguments), name)
    if record is None:
        raise refused("NotFound", f"sandbox '{name}' not found")
    return record


def get(arguments: Arguments) -> int:
    record = named(arguments)
    if arguments.has("policy-only"):
        print(policies.emit(sandboxes.effective_policy(record)), end="")
    elif arguments.last("output") == "json":
        print(json.dumps(view.full(record), indent=2, sort_keys=True))
    else:
        print("Sandbox:\n")
        rows = {
            "Id": record["id"],
            "Name": record["name"],
            "Phase": view.paint(record["phase"]),
            "Resource version": "1",
            "Workspace": record["workspace"],
            "Policy source": "sandbox",
            "Revision": "1",
        }
        for label, value in rows.items():
            print(f"  {label}: {value}")
        print("\nPolicy:\n")
        print("".join(f"  {line}\n" for line in policies.emit(sandboxes.effective_policy(record)).splitlines()), end="")
    return 0


def list_(arguments: Arguments) -> int:
    needed(arguments)
    everywhere = arguments.has("all-workspaces")
    found = [item for item in sandboxes.everything() if everywhere or item["workspace"] == workspace(arguments)]
    selectors = pairs(arguments.all("selector"), "--selector")
    found = [item for item in found if selectors.items() <= item["labels"].items()]
    if arguments.last("output") == "json":
        rows = [view.short(item) for item in found]
        envelope = {"sandboxes": rows, "next_page_token": ""} if settings.current().list_envelope else rows
        print(json.dumps(envelope, indent=2))
    elif arguments.has("names") or arguments.has("ids"):
        for item in found:
            text = item["id"] if arguments.has("ids") else item["name"]
            print(f"{item['workspace']}/{text}" if everywhere and arguments.has("names") else text)
    elif not found:
        print("No sandboxes found.")
    else:
        head = [*(["WORKSPACE"] if everywhere else []), "NAME", "CREATED", "PHASE"]
        rows_ = [
            [*([item["workspace"]] if everywhere else []), item["name"], item["created_at"], view.paint(item["phase"])]
            for item in found
        ]
        print(view.table([head, *rows_]))
    return 0


def execute(arguments: Arguments) -> int:
    record = named(arguments)
    if not arguments.trailing:
        raise UsageError("the following required arguments were not provided:\n  <COMMAND>...")
    if record["phase"] != "Ready":
        raise CliError(
            f"sandbox '{record['name']}' is not ready (phase: {record['phase']}); wait for it to reach Ready state"
        )
    environment = pairs(arguments.all("env"), "--env")
    login = [] if arguments.has("no-login-shell") else ["-l"]
    argv = ["/bin/bash", *login, "-c", shlex.join(arguments.trailing)]
    timeout = arguments.number("timeout", 0)
    try:
        return client.execute(
            sandboxes.control(record["id"]), argv, environment, arguments.last("workdir"), timeout or None
        )
    except client.NotRunning:
        raise CliError(
            f"sandbox '{record['name']}' is not reachable", ["supervisor session is not connected"]
        ) from None


def connect(arguments: Arguments) -> int:
    """Replay the main process's screen, then stay until the detach keys or the end of either side."""
    record = named(arguments)
    if record["phase"] != "Ready":
        raise CliError(f"sandbox '{record['name']}' is not ready (phase: {record['phase']})")
    try:
        connection = client.attach(sandboxes.control(record["id"]))
    except client.NotRunning:
        raise CliError(f"sandbox '{record['name']}' is not reachable") from None
    with connection, _raw_terminal():
        held = b""
        while True:
            sources: list[socket.socket | int] = [connection, 0]
            readable, _, _ = select.select(sources, [], [])
            if connection in readable:
                shown = connection.recv(65536)
                if not shown:
                    return 0
                os.write(1, shown)
            if 0 in readable:
                keys = os.read(0, 4096)
                if not keys:
                    _rest(connection)
                    return 0
                held += keys
                if _DETACH in held:
                    return 0
                keep = 1 if held.endswith(_DETACH[:1]) else 0
                connection.sendall(held[: len(held) - keep])
                held = held[len(held) - keep :]


def _rest(connection: socket.socket) -> None:
    """The replay may still be on its way when standard input was empty from the start."""
    while select.select([connection], [], [], 0.1)[0]:
        shown = connection.recv(65536)
        if not shown:
            return
        os.write(1, shown)


@contextmanager
def _raw_terminal() -> Iterator[None]:
    if not os.isatty(0):
        yield
        return
    before = termios.tcgetattr(0)
    tty.setraw(0)
    try:
        yield
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)


def stop(arguments: Arguments) -> int:
    record = named(arguments)
    sandboxes.stop(record)
    print(f"✓ Stopped sandbox {record['name']}")
    return 0


def start(arguments: Arguments) -> int:
    record = named(arguments)
    if record["phase"] != "Ready":
        store.update(sandboxes.path(record["id"]), phase="Starting")
        try:
            sandboxes.run(record)
        except (StartFailed, OSError) as error:
            store.update(sandboxes.path(record["id"]), phase="Error")
            raise CliError(f"sandbox entered error phase while starting: {error}") from None
    print(f"✓ Started sandbox {record['name']}")
    return 0


def delete(arguments: Arguments) -> int:
    needed(arguments)
    names = arguments.positionals
    if arguments.has("all"):
        names = [item["name"] for item in sandboxes.everything() if item["workspace"] == workspace(arguments)]
        if not names:
            print("No sandboxes to delete.")
    elif not names:
        raise UsageError("the following required arguments were not provided:\n  <NAME>...")
    for name in names:
        record = sandboxes.find(workspace(arguments), name)
        if record is None:
            print(f"Sandbox {name} is already deleted")
            continue
        sandboxes.delete(record)
        print(f"✓ Deleted sandbox {name}")
    return 0


def logs(arguments: Arguments) -> int:
    record = named(arguments)
    level = arguments.get("level", "trace").upper()
    allowed = {"OCSF"} if level in ("INFO", "DEBUG", "TRACE") else set()
    allowed |= set(oslog.LEVELS[: oslog.LEVELS.index(level) + 1])
    sources = set(arguments.all("source")) or {"all"}
    since = _since(arguments.last("since"))
    shown: set[oslog.Line] = set()
    count = arguments.number("lines", 200)
    while True:
        lines = [
            line
            for line in oslog.read(sandboxes.directory(record["id"]))
            if line.level in allowed
            and ("all" in sources or line.source in sources)
            and line.when >= since
            and line not in shown
        ]
        for line in lines[-count:] if not shown else lines:
            print(line)
        shown.update(lines)
        if not arguments.has("tail"):
            return 0
        sys.stdout.flush()
        time.sleep(0.1)


def _since(text: str | None) -> float:
    """`30s`, `5m`, `2h`: the moment from which lines are shown."""
    if text is None:
        return 0.0
    units = {"s": 1, "m": 60, "h": 3600, "d": 86400}
    if text[-1:] not in units or not text[:-1].isdigit():
        raise UsageError(f"invalid value '{text}' for '--since <DURATION>'")
    return time.time() - int(text[:-1]) * units[text[-1]]
