"""Sandboxes of the gateway: their records on the disk, what their boxes are made of, and their life."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import landlock, layout, oslog, settings, store
from .boxes import client, start
from .boxes.spec import BoxSpec, Endpoint, Mount, Network, Rules
from .images import library
from .openshell import policies, providers
from .sabotage import boxes as sabotage
from .sabotage import host as strangers
from .store import Record

PLACEHOLDER = "openshell:resolve:env:"
CHANNEL = "/.openshell/channel"
WORKSPACE = "/sandbox"
_PATH = "/usr/local/bin:/usr/bin:/bin"
_PROXY = "http://127.0.0.1:3128"
_COMPATIBILITY = {"hard_requirement": "HardRequirement", "best_effort": "BestEffort"}


def directory(identity: str) -> Path:
    return layout.SANDBOXES / identity


def path(identity: str) -> Path:
    return directory(identity) / "sandbox.json"


def control(identity: str) -> str:
    return str(layout.CONTROL / f"{identity[:13]}.sock")


def everything() -> list[Record]:
    found = [*map(store.load, layout.SANDBOXES.glob("*/sandbox.json")), *strangers.strangers()]
    return sorted((item for item in found if item), key=lambda item: (item["workspace"], item["name"]))


def find(workspace: str, name: str) -> Record | None:
    return next((item for item in everything() if (item["workspace"], item["name"]) == (workspace, name)), None)


def effective_policy(record: Record) -> dict[str, Any]:
    """The submitted policy with the attached providers' rules."""
    layers = dict(filter(None, (providers.layer(item) for item in attached_providers(record))))
    root = library.root_of(record["image"])
    present = frozenset(item for item in policies.baseline_paths() if item != "/app" or os.path.exists(f"{root}/app"))
    return sabotage.rewrite(policies.effective(record["policy"] or {"version": 1}, layers, present))


def attached_providers(record: Record) -> list[Record]:
    return [item for item in providers.providers() if item["name"] in record["providers"]]


def spec_path(identity: str) -> Path:
    return directory(identity) / "spec.json"


def mounted(record: Record) -> BoxSpec | None:
    """What the sandbox was last really started with."""
    kept = store.load(spec_path(record["id"]))
    return BoxSpec.from_json(kept) if kept else None


def plan(record: Record) -> BoxSpec:
    """The box of a sandbox, with whatever fault of this rehearsal concerns it."""
    image = library.find(record["image"])
    policy = effective_policy(record)
    process = policy.get("process") or {}
    user, _, group = image.config.user.partition(":")
    uid = int(process.get("run_as_user") or (user if user.isdigit() else 1000))
    gid = int(process.get("run_as_group") or (group if group.isdigit() else uid))
    own = directory(record["id"])
    network = _network(policy)
    ambient = {**_ambient(record, network), **_placeholders(record)}
    channel = Mount(str(own / "channel"), CHANNEL, False, "volume", f"openshell-channel-{record['id'][:8]}")
    binds = [
        Mount(item["source"], item["target"], item.get("read_only", True))
        for item in record["driver_config"].get("docker", {}).get("mounts", [])
    ]
    spec = BoxSpec(
        name=record["name"],
        directory=str(own),
        control=control(record["id"]),
        uid=uid,
        gid=gid,
        image_root=image.root,
        command=tuple(record["command"]),
        workdir=WORKSPACE,
        environment={
            **ambient,
            "TERM": "xterm-256color" if record["terminal"] else "dumb",
            **record["environment"],
        },
        exec_environment={**ambient, "TERM": "dumb"},
        mounts=(*binds, channel),
        etc={"amap-rehearsal/receipt-window": "0.5\n"},
        terminal=record["terminal"],
        workspace=True,
        restart=record["restart_policy"],
        rules=_rules(policy),
        network=network,
    )
    return sabotage.reshape(spec)


def _rules(policy: dict[str, Any]) -> Rules | None:
    """No path listed, no ruleset: so OpenShell 0.1.x has it in both compatibility modes."""
    files = policy.get("filesystem_policy") or {}
    read_only, read_write = list(files.get("read_only") or ()), list(files.get("read_write") or ())
    if not read_only and not read_write:
        return None
    if files.get("include_workdir"):
        read_write.append(WORKSPACE)
    compatibility = (policy.get("landlock") or {}).get("compatibility", "best_effort")
    return Rules(tuple(read_only), tuple(read_write), landlock.V3, compatibility)


def _ambient(record: Record, network: Network) -> dict[str, str]:
    proxied = {name: _PROXY for name in ("HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy")}
    return {
        "HOME": "/sandbox",
        "USER": "agent",
        "SHELL": "/bin/bash",
        "PATH": _PATH,
        "OPENSHELL_SANDBOX": record["name"],
        **(proxied if network.style == "proxy" else {}),
    }


def _placeholders(record: Record) -> dict[str, str]:
    """The real value never enters a sandbox."""
    names = [name for item in attached_providers(record) for name in item["credentials"]]
    return {name: f"{PLACEHOLDER}{name}" for name in names}


def _network(policy: dict[str, Any]) -> Network:
    endpoints = []
    for name, rule in (policy.get("network_policies") or {}).items():
        binaries = tuple(item["path"] for item in rule.get("binaries") or [])
        for item in rule.get("endpoints") or []:
            ports = tuple(item.get("ports") or [item.get("port", 443)])
            endpoints.append(Endpoint(item["host"].lower(), ports, name, binaries))
    return Network(tuple(endpoints), settings.current().denial)


def run(record: Record) -> None:
    """Start the sandbox's box and say Ready; raises start.StartFailed and leaves the phase as it was."""
    spec = plan(record)
    own = directory(record["id"])
    for name, mode in (("sandbox", 0o700), ("tmp", 0o1777), ("channel", 0o700)):
        (own / name).mkdir(exist_ok=True)
        (own / name).chmod(mode)
    sabotage.before_start(record, own)
    store.save(spec_path(record["id"]), spec.to_json())
    _log_start(spec)
    start.detached(spec, _start_of(record["id"]), _end_of(record["id"]))
    sabotage.after_start(spec)
    oslog.event(own, f"PROC:LAUNCH [INFO] {spec.command[0]}(2) [engine:rehearsal]")


def _log_start(spec: BoxSpec) -> None:
    rules = spec.rules
    if rules is None:
        return
    listed = [*rules.read_only, *rules.read_write]
    targets = [mount.target for mount in spec.mounts]
    found = [item for item in listed if item in targets or os.path.exists(item) or item == "/sandbox"]
    compatibility = _COMPATIBILITY.get(rules.compatibility, "BestEffort")
    counts = f"ro:{len(rules.read_only)} rw:{len(rules.read_write)}"
    oslog.event(spec.directory, "CONFIG:LOADED [INFO] policy version:1 [engine:rehearsal]")
    oslog.event(
        spec.directory,
        f"CONFIG:ENABLED [INFO] Applying Landlock filesystem sandbox "
        f"[abi:V3 compat:{compatibility} {counts}] [engine:rehearsal]",
    )
    skipped = len(listed) - len(found)
    oslog.event(
        spec.directory,
        f"CONFIG:BUILT [INFO] Landlock ruleset built [rules_applied:{len(found)} skipped:{skipped}] [engine:rehearsal]",
    )


def _start_of(identity: str) -> Callable[[], object]:
    return lambda: store.update(path(identity), phase="Ready", exit_code=None, started_at=store.now())


def _end_of(identity: str) -> Callable[[int], None]:
    def ended(code: int) -> None:
        record = store.load(path(identity))
        if record is None:
            return
        if record["phase"] == "Stopping":
            store.update(path(identity), phase="Stopped", exit_code=code)
        else:
            store.update(path(identity), phase="Completed" if code == 0 else "Error", exit_code=code)

    return ended


def stop(record: Record) -> None:
    """Idempotent; the workspace and the identity stay."""
    if record["phase"] == "Stopped":
        return
    store.update(path(record["id"]), phase="Stopping")
    client.stop(control(record["id"]))
    store.update(path(record["id"]), phase="Stopped")


def delete(record: Record) -> None:
    store.update(path(record["id"]), phase="Deleting")
    client.stop(control(record["id"]))
    shutil.rmtree(directory(record["id"]), ignore_errors=True)
