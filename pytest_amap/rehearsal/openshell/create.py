"""`openshell sandbox create`."""

from __future__ import annotations

import json
import os
import re
import sys
import time
import uuid
from pathlib import Path

from .. import oslog, sandboxes, settings, store
from ..boxes.start import StartFailed
from ..images import library
from . import driverconfig, policies, policyfile, providers, view
from .arguments import Arguments, pairs
from .errors import CliError, UsageError, refused
from .gateways import needed

_LONGEST_NAME = 19
_LABEL = re.compile(r"[a-z0-9-]+")


def check_name(name: str) -> None:
    if len(name) > _LONGEST_NAME:
        raise refused("InvalidArgument", f"name exceeds maximum length ({len(name)} > {_LONGEST_NAME})")
    if not _LABEL.fullmatch(name):
        raise refused("InvalidArgument", "name must contain only lowercase alphanumeric characters or hyphens")
    if name.startswith("-") or name.endswith("-"):
        raise refused("InvalidArgument", "name must not start or end with a hyphen")
    if "--" in name:
        raise refused("InvalidArgument", "name must not contain consecutive hyphens")


def create(arguments: Arguments) -> int:
    driver_config = driverconfig.parse(arguments.last("driver-config-json"))
    environment = pairs(arguments.all("env"), "--env")
    labels = pairs(arguments.all("label"), "--label")
    policy_file = arguments.last("policy")
    policy = policyfile.read(Path(policy_file)) if policy_file else None
    if arguments.has("restart-policy") and settings.current().version < (0, 1, 3):
        raise UsageError("unexpected argument '--restart-policy' found")
    needed(arguments)
    name = arguments.get("name", f"sandbox-{uuid.uuid4().hex[:8]}")
    workspace = arguments.get("workspace", "default")
    ensure_providers(arguments, workspace)
    check_name(name)
    if policy is not None:
        policies.admit(policy)
    driverconfig.admit(driver_config)
    with store.locked():
        record = admit(arguments, workspace, name)
        record.update(policy=policy, driver_config=driver_config, environment=environment, labels=labels)
        sandboxes.directory(record["id"]).mkdir(mode=0o700)
        store.save(sandboxes.path(record["id"]), record)
    as_json = arguments.last("output") == "json"
    if as_json:
        print("Provisioning sandbox (structured output on stdout)...", file=sys.stderr)
    else:
        print(f"\nCreated sandbox: {name}\n\n  [0.0s] Requesting compute...", flush=True)
    provision(record)
    if as_json:
        print(json.dumps(view.full(sandboxes.find(workspace, name) or record), indent=2, sort_keys=True))
    if arguments.trailing and not arguments.has("detach"):
        return foreground(record)
    return 0


def admit(arguments: Arguments, workspace: str, name: str) -> store.Record:
    """A new sandbox's record, unless its name is taken or its image is not here."""
    if sandboxes.find(workspace, name) is not None:
        raise CliError(
            f"sandbox '{name}' already exists",
            hint="hint: delete it first with: openshell sandbox delete <name>\n      or use a different name",
        )
    image = arguments.get("from", "openshell/sandbox-base")
    try:
        found = library.find(image)
    except library.NoSuchImage as error:
        raise refused("FailedPrecondition", f"image {error} is not available and cannot be pulled") from None
    return {
        "id": str(uuid.uuid4()),
        "name": name,
        "workspace": workspace,
        "created_at": time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime()),
        "phase": "Provisioning",
        "exit_code": None,
        "started_at": None,
        "image": found.id,
        "providers": arguments.all("provider"),
        "command": arguments.trailing or ["/bin/bash"],
        "terminal": arguments.has("tty") or (not arguments.has("no-tty") and os.isatty(1)),
        "restart_policy": arguments.get("restart-policy", "never"),
    }


def ensure_providers(arguments: Arguments, workspace: str) -> None:
    for name in arguments.all("provider"):
        if providers.provider(name) is not None:
            continue
        if not arguments.has("auto-providers"):
            raise CliError(f"missing required provider '{name}'; use --auto-providers to create it from local state")
        print(f"Missing provider: {name}", file=sys.stderr)
        providers.create_provider(name, name, providers.discover(name, os.environ), workspace)
        print(f"✓ Created provider {name} ({name}) from existing local state", file=sys.stderr)


def provision(record: store.Record) -> None:
    """Start it; after a failure the sandbox remains, in phase Error."""
    own = sandboxes.directory(record["id"])
    oslog.write(own, "INFO", "openshell_server::sandbox", f"sandbox created name={record['name']}", "gateway")
    try:
        sandboxes.run(record)
    except (StartFailed, OSError) as error:
        store.update(sandboxes.path(record["id"]), phase="Error")
        raise CliError(
            f"sandbox entered error phase while provisioning: ContainerExited: {' '.join(str(error).split())}"
        ) from None


def foreground(record: store.Record) -> int:
    """Without --detach the command waits for the main process and returns its code."""
    while True:
        now = store.load(sandboxes.path(record["id"]))
        if now is None:
            return 1
        if now["exit_code"] is not None and now["phase"] in ("Completed", "Error"):
            return int(now["exit_code"])
        time.sleep(0.02)
