"""Faults in the gateway's service: its drop-ins, the user manager's environment, and the bus that tells of both."""

from __future__ import annotations

import shutil
from pathlib import Path

from .. import layout, planted, store

_OTHER = layout.CONFIG / "other.toml"
_OPEN = "OPENSHELL_METRICS_BIND_ADDRESS=0.0.0.0:17672"

DROP_INS = {
    "service-other-config": f"ExecStart=\nExecStart={layout.BIN}/openshell-gateway --config {_OTHER}",
    "service-drop-in-open": f"Environment={_OPEN}",
    "service-wrapped": f"ExecStart=\nExecStart=/bin/sh -c 'exec {layout.BIN}/openshell-gateway'",
    "service-undecided": f"ExecStart=\nExecStart={layout.BIN}/openshell-gateway --config %y/gateway.toml",
}
ENVIRONMENT_D = {"service-environment-d": _OPEN}
SET_ENVIRONMENT = {"service-set-environment": _OPEN}

WITHOUT_BUS = ("no-user-bus", "service-drop-in-open", "service-undecided", "service-environment-d")
ELSEWHERE = ("no-user-bus", "service-manager-silent")


def restore() -> None:
    """Take back what an earlier world's faults wrote."""
    shutil.rmtree(layout.DROP_INS, ignore_errors=True)
    shutil.rmtree(layout.ENVIRONMENT_D, ignore_errors=True)
    _OTHER.unlink(missing_ok=True)


def edit(gateway_toml: str) -> None:
    """Once, when a command is first asked."""
    for name in planted.among(DROP_INS):
        _write(layout.DROP_INS / f"{name}.conf", f"[Service]\n{DROP_INS[name]}\n")
    for name in planted.among(ENVIRONMENT_D):
        _write(layout.ENVIRONMENT_D / f"{name}.conf", f"{ENVIRONMENT_D[name]}\n")
    if "service-other-config" in planted.everything():
        oidc = '[openshell.gateway.oidc]\nissuer = "https://login.example.org"'
        store.text(_OTHER, f"{gateway_toml}\n{oidc}\n", 0o600)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    store.text(path, text, 0o600)


def without_bus() -> bool:
    return bool(planted.among(WITHOUT_BUS))


def manager_is_silent() -> bool:
    return "service-manager-silent" in planted.everything()


def manager_environment() -> dict[str, str]:
    """What somebody gave every service of this user by `set-environment`."""
    return dict(SET_ENVIRONMENT[name].split("=", 1) for name in planted.among(SET_ENVIRONMENT))
