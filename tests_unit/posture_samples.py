"""A made-up gateway whose posture is the accepted one."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from container_samples import box
from request_samples import ran, read

from kit.gateway import FRAGMENT
from pytest_amap.checks.unknown_6 import Seen
from pytest_amap.host.posture_files import GatewayFiles
from pytest_amap.observations import Ran, Read, Stat

HELP = """\
      --name <NAME>
      --from <IMAGE>
      --policy <FILE>
      --provider <NAME>
      --auto-providers
      --driver-config-json <JSON>
      --env <KEY=VALUE>
      --label <KEY=VALUE>
      --timeout <SECONDS>
      --detach
      --tty
      --no-tty
      --no-login-shell
  -o, --output <FORMAT>
      --policy-only
      --names
      --all-workspaces
      --page-token <TOKEN>
  -n, --lines <LINES>
      --source <SOURCE>
      --level <LEVEL>
  -f, --file <FILE>
"""
"""What `--help` lists, of every command in one."""

TOML = """\
[openshell]
version = 2
[openshell.gateway]
compute_driver = "docker"
[openshell.drivers.docker]
allow_driver_config = true
enable_bind_mounts = true
[openshell.drivers.docker.resource_admission]
enabled = false
"""
STATUS = """\
Server Status

  Gateway: openshell
  Server: https://127.0.0.1:17670
  Status: Connected
  Version: 0.1.2
"""
INFO = json.dumps({"compute_drivers": [{"name": "docker"}], "server": "https://127.0.0.1:17670", "version": "0.1.2"})
UNIT = """\
ExecStart={ path=/usr/bin/openshell-gateway ; argv[]=/usr/bin/openshell-gateway ; ignore_errors=no ; start_time=[n/a] }
Environment=OPENSHELL_LOCAL_TLS_DIR=/home/u/.local/state/openshell/tls
EnvironmentFiles=/home/u/.config/openshell/gateway.env (ignore_errors=yes)
DropInPaths=
ActiveState=active
ActiveEnterTimestamp=Sun 2026-11-29 11:00:00 UTC
"""
LISTENS = "LISTEN 0      128    127.0.0.1:17670    0.0.0.0:*\n"
KEY = Stat("/home/u/.config/openshell/gateways/openshell/mtls/tls.key", "file", "600", 1000, 1000)


BEFORE = "2026-11-29T10:00:00.000Z"
"""An hour before the gateway started."""


def gateway_toml(port: int) -> str:
    """A whole one as a person makes it of the kit's fragment."""
    settings = f'compute_driver = "docker"\nbind_address = "127.0.0.1:{port}"\n'
    return f"[openshell]\nversion = 2\n[openshell.gateway]\n{settings}{FRAGMENT}"


def toml(text: str, path: str = "/home/u/.config/openshell/gateway.toml") -> Read:
    return replace(read(text, path), mtime=BEFORE)


def listing(*boxes: dict[str, str], token: str = "") -> Ran:
    return ran(json.dumps({"sandboxes": list(boxes), "next_page_token": token}))


GOOD = Seen(
    files=GatewayFiles(toml(TOML), "the user's configuration folder"),
    unit=ran(UNIT),
    preflight=ran(),
    status=ran(STATUS),
    info=ran(INFO),
    listeners=ran(LISTENS),
    sandboxes=(listing(box("alpha", "id-1"), box("beta", "id-2")),),
    keys=(KEY,),
    uid=1000,
    port=17670,
    workspace="default",
    members={"alpha": "id-1", "beta": "id-2"},
    intents={},
    accepted="this gateway is for this fleet alone",
)


def but(**changes: Any) -> Seen:
    return replace(GOOD, **changes)


def with_toml(text: str, **overrides: str) -> Seen:
    return but(files=replace(GOOD.files, toml=toml(text), overrides=overrides))
