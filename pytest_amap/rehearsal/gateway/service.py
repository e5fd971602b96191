"""`systemctl --user`, as far as the gateway's service is looked at: `show UNIT -p NAMES` and `show-environment`.

The unit is a file of this host, with the drop-ins beside it; nothing is started or stopped from here.
"""

from __future__ import annotations

import os
import shlex
import socket
import sys
from datetime import UTC, datetime

from .. import layout
from ..sabotage import service as sabotage

UNIT = f"""\
[Unit]
Description=OpenShell gateway, in a rehearsal

[Service]
Type=simple
Environment=OPENSHELL_LOCAL_TLS_DIR={layout.TLS}
EnvironmentFile=-%E/openshell/gateway.env
ExecStart={layout.BIN}/openshell-gateway
"""
_NO_BUS = "Failed to connect to bus: No medium found"


def main(argv: list[str]) -> int:
    if argv == ["--version"]:
        print("systemd 257 (REHEARSAL)")
        return 0
    match argv:
        case ["--user", *_] if sabotage.without_bus():
            return _fail(_NO_BUS)
        case ["--user", "show", unit, "-p", names] if unit.removesuffix(".service") == "openshell-gateway":
            shown = _properties()
            print("\n".join(line for name in names.split(",") for line in shown.get(name, [])))
            return 0
        case ["--user", "show-environment"] if sabotage.manager_is_silent():
            return _fail("Failed to get environment: Connection timed out")
        case ["--user", "show-environment"]:
            places = ("HOME", "PATH", "XDG_CONFIG_HOME", "XDG_STATE_HOME")
            given = {name: os.environ[name] for name in places if name in os.environ} | sabotage.manager_environment()
            print("\n".join(f"{name}={value}" for name, value in sorted(given.items())))
            return 0
    return _fail(f"a rehearsal's systemctl only shows its gateway, asked: {shlex.join(argv)}")


def _fail(sentence: str) -> int:
    print(sentence, file=sys.stderr)
    return 1


def _properties() -> dict[str, list[str]]:
    drop_ins = sorted(layout.DROP_INS.glob("*.conf"))
    argv, environment, files = "", [], []
    for path in (layout.UNIT, *drop_ins):
        for line in path.read_text().splitlines():
            name, _, value = line.partition("=")
            if name == "ExecStart":
                argv = value or argv
            elif name == "Environment":
                environment.append(value)
            elif name == "EnvironmentFile":
                plain = value.removeprefix("-").replace("%E", str(layout.CONFIG.parent))
                files.append(f"{plain} (ignore_errors={'yes' if value.startswith('-') else 'no'})")
    command = f"path={argv.partition(' ')[0]} ; argv[]={argv} ; ignore_errors=no ; start_time=[{_since()}]"
    return {
        "ExecStart": [f"ExecStart={{ {command} ; stop_time=[n/a] ; pid=0 ; code=(null) ; status=0/0 }}"],
        "Environment": [f"Environment={' '.join(environment)}"],
        "EnvironmentFiles": [f"EnvironmentFiles={line}" for line in files],
        "UnsetEnvironment": ["UnsetEnvironment="],
        "DropInPaths": [f"DropInPaths={' '.join(map(str, drop_ins))}"],
        "ActiveState": [f"ActiveState={'active' if _answers() else 'failed'}"],
        "ActiveEnterTimestamp": [f"ActiveEnterTimestamp={_since()}"],
    }


def _answers() -> bool:
    try:
        socket.create_connection(("127.0.0.1", layout.GATEWAY_PORT), 1).close()
    except OSError:
        return False
    return True


def _since() -> str:
    """When the gateway started; empty where it did not."""
    if not layout.STARTED.exists():
        return ""
    return datetime.fromtimestamp(layout.STARTED.stat().st_mtime, UTC).strftime("%a %Y-%m-%d %H:%M:%S UTC")
