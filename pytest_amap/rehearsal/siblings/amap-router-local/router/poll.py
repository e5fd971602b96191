"""The poll loop: reload, look, drain, consume, then status and roster; one instance's trouble stays its own."""

from __future__ import annotations

import fcntl
import json
import logging
import os
import time
from typing import Any

from . import config as configuration
from . import documents, outbound, outcomes, roster, safefs
from .config import Config, ConfigError
from .discovery import Discovery, Instance, look

log = logging.getLogger("amap_router_local")

STATUS = "status.json"
_KEPT_ALERTS = 50


class Locked(Exception):
    """Another router holds the state directory."""


def lock(state_dir: str) -> int:
    """Hold `.router.lock` for the life of this process; the descriptor keeps it."""
    os.makedirs(state_dir, mode=0o700, exist_ok=True)
    fd = os.open(os.path.join(state_dir, ".router.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(fd)
        raise Locked(f"another router holds {state_dir}") from error
    return fd


class Router:
    """One router process over one configuration file."""

    def __init__(self, path: str, interval: float | None) -> None:
        self._path = path
        self.config = configuration.load(path)
        self._interval = interval
        self._names: list[str] | None = None
        self._report: tuple[str, ...] = ()
        self._roster = ""
        self._status: dict[str, Any] = {
            "schema": 1,
            "pid": os.getpid(),
            "started_ts": documents.now(),
            "last_poll_ts": None,
            "polls": 0,
            "admitted": [],
            "interval_s": interval,
            "instances": {},
        }

    def poll(self) -> dict[str, dict[str, Any]]:
        """One pass over everything; returns the summary of each instance."""
        self._reload()
        discovery = look(self.config)
        self._tell_changes(discovery)
        admitted = {instance.name: instance for instance in discovery.instances}
        summaries = {name: self._serve(instance, admitted) for name, instance in admitted.items()}
        self._write_status(discovery, summaries)
        if self._interval is not None:
            self._publish(discovery, self._interval)
        return summaries

    def _reload(self) -> None:
        try:
            fresh: Config = configuration.load(self._path)
            if fresh.state_dir != self.config.state_dir:
                raise ConfigError("state_dir may not change while the router runs")
            self.config = fresh
        except ConfigError as error:
            log.error("config reload FAILED, the last good one stays: %s", error)

    def _tell_changes(self, discovery: Discovery) -> None:
        names = discovery.names
        if self._names is None:
            log.info("REHEARSAL: a stand-in for amap-router-local")
            log.info("router starting: interval=%ss, instances=%r", self._interval, names)
        elif names != self._names:
            added, removed = sorted(set(names) - set(self._names)), sorted(set(self._names) - set(names))
            log.info("instance set changed: instances=%r (added=%r removed=%r)", names, added, removed)
        self._names = names
        if discovery.report != self._report:
            log.warning("discovery:%s", "".join(f"\n  {line}" for line in discovery.report) or " nothing to report")
            self._report = discovery.report

    def _serve(self, instance: Instance, admitted: dict[str, Instance]) -> dict[str, Any]:
        summary: dict[str, Any] = dict.fromkeys(outbound.COUNTERS, 0)
        if self.config.fleet_domain is not None:
            summary.update(dict.fromkeys(outcomes.COUNTERS, 0), peer_alerts=[], peer_placed_denied=[])
        try:
            outbound.Drain(self.config, instance, admitted, summary).run()
            if self.config.fleet_domain is not None:
                outcomes.consume(self.config, instance, admitted, summary)
        except OSError as error:
            summary["instance_errored"] = 1
            log.error("instance %r failed: %s", instance.name, error)
        log.info("drained %s: %r", instance.name, summary)
        return summary

    def _write_status(self, discovery: Discovery, summaries: dict[str, dict[str, Any]]) -> None:
        status = self._status
        status["polls"] += 1
        status["last_poll_ts"] = documents.now()
        status["admitted"] = discovery.names
        for name, summary in summaries.items():
            _add(status["instances"].setdefault(name, _blank()), summary)
        with safefs.directory(self.config.state_dir) as fd:
            safefs.write_bytes(fd, STATUS, json.dumps(status, indent=2).encode() + b"\n")

    def _publish(self, discovery: Discovery, interval: float) -> None:
        said = roster.publish(self.config, discovery, interval)
        if said != self._roster:
            log.log(logging.INFO if said == "written" else logging.WARNING, "roster: %s", said)
            self._roster = said


def _blank() -> dict[str, Any]:
    return {"last_summary": {}, "totals": {}, "last_error_ts": None, "peer_alerts": [], "placed_but_denied": []}


def _add(entry: dict[str, Any], summary: dict[str, Any]) -> None:
    entry["last_summary"] = summary
    for key, value in summary.items():
        if isinstance(value, int):
            entry["totals"][key] = entry["totals"].get(key, 0) + value
    if summary.get("instance_errored") or summary["outbound_errored"]:
        entry["last_error_ts"] = documents.now()
    entry["peer_alerts"] = (entry["peer_alerts"] + summary.get("peer_alerts", []))[-_KEPT_ALERTS:]
    entry["placed_but_denied"] = (entry["placed_but_denied"] + summary.get("peer_placed_denied", []))[-_KEPT_ALERTS:]


def run(path: str, interval: float, stopping: list[int]) -> None:
    """Poll for ever, `interval` seconds apart, until `stopping` is no longer empty."""
    router = Router(path, interval)
    held = lock(router.config.state_dir)
    try:
        while not stopping:
            router.poll()
            deadline = time.monotonic() + interval
            while not stopping and (left := deadline - time.monotonic()) > 0:
                time.sleep(min(left, 0.2))
    finally:
        os.close(held)


def once(path: str) -> dict[str, dict[str, Any]]:
    """One poll without a roster."""
    router = Router(path, None)
    held = lock(router.config.state_dir)
    try:
        return router.poll()
    finally:
        os.close(held)
