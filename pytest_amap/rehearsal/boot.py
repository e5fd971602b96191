"""Boot the rehearsal host from its disk, in a fresh world, before anything else runs there.

usage: python -P boot.py PYTHON

Makes the disk's skeleton and the programs on the PATH, starts the gateway, and brings back what was there: a sandbox
that was Ready runs again under its old id, a half-made create is finished under its own, a Stopped one stays stopped,
and a container that restarts unless stopped comes back.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys

import yaml

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from pytest_amap.rehearsal import containers, layout, oslog, sandboxes, settings, store
from pytest_amap.rehearsal.boxes.start import StartFailed
from pytest_amap.rehearsal.gateway import config, daemon, service
from pytest_amap.rehearsal.images import library
from pytest_amap.rehearsal.sabotage import host as sabotage
from pytest_amap.rehearsal.sabotage import watch

PROGRAMS = {
    "openshell": "pytest_amap.rehearsal.openshell.main",
    "openshell-gateway": "pytest_amap.rehearsal.gateway.main",
    "docker": "pytest_amap.rehearsal.docker.main",
    "systemctl": "pytest_amap.rehearsal.gateway.service",
}
_LAUNCHER = """\
#!/bin/sh
exec {python} -I -S {engine}/run.py {module} "$@"
"""
_RUN = """\
import importlib
import sys

sys.path[:0], sys.path[len(sys.path):] = [__file__.rpartition("/")[0]], [{packages!r}]
sys.exit(importlib.import_module(sys.argv[1]).main(sys.argv[2:]))
"""
_MADE_UP = "Made up for a rehearsal: nothing in the rehearsal's world speaks TLS.\n"


def main(python: str) -> int:
    lay_out()
    write_programs(python)
    register_gateway()
    sabotage.bind_environment()
    if sabotage.gateway_runs():
        daemon.start()
        layout.STARTED.touch()
    sabotage.spoil()
    watch.start()
    for record in sandboxes.everything():
        if sandboxes.directory(record["id"]).exists():
            bring_back(record)
    containers.bring_back_all()
    return 0


def lay_out() -> None:
    for directory, mode in layout.boot_directories():
        directory.mkdir(parents=True, exist_ok=True)
        directory.chmod(mode)
    for scratch in layout.IMAGES.glob(f"{library.SCRATCH}*"):  # of a build that was killed
        shutil.rmtree(scratch, ignore_errors=True)
    settings.save_defaults()
    sabotage.restore()
    if not layout.GATEWAY_TOML.exists():
        store.text(layout.GATEWAY_TOML, config.RIGHT, 0o600)
    store.text(layout.UNIT, service.UNIT, 0o600)


def write_programs(python: str) -> None:
    # Without `site`, which takes longer than most of the programs; PyYAML is all they need of its packages.
    packages = os.path.dirname(os.path.dirname(yaml.__file__))
    store.text(layout.ENGINE / "run.py", _RUN.format(packages=packages), 0o644)
    for name, module in PROGRAMS.items():
        text = _LAUNCHER.format(python=shlex.quote(python), engine=layout.ENGINE, module=module)
        store.text(layout.BIN / name, text, 0o755)


def register_gateway() -> None:
    """As `openshell gateway add https://127.0.0.1:17670 --local --name openshell` leaves it."""
    own = layout.CONFIG / "gateways" / "openshell"
    for directory in (layout.TLS, own / "mtls"):
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        for name in ("ca.crt", "tls.crt", "tls.key"):
            if not (directory / name).exists():
                store.text(directory / name, _MADE_UP, 0o600)
    if not (own / "metadata.json").exists():
        record = {
            "name": "openshell",
            "gateway_endpoint": f"https://127.0.0.1:{layout.GATEWAY_PORT}",
            "is_remote": False,
            "gateway_port": layout.GATEWAY_PORT,
            "auth_mode": "mtls",
        }
        store.save(own / "metadata.json", record)
        store.text(layout.CONFIG / "active_gateway", "openshell\n", 0o600)


def bring_back(record: store.Record) -> None:
    """What did not end by itself or by request runs again."""
    if record["phase"] == "Stopping":
        store.update(sandboxes.path(record["id"]), phase="Stopped")
        return
    if record["phase"] == "Deleting":
        sandboxes.delete(record)
        return
    if record["phase"] not in ("Ready", "Provisioning", "Starting"):
        return
    try:
        sandboxes.run(record)
    except (StartFailed, OSError) as error:
        store.update(sandboxes.path(record["id"]), phase="Error")
        oslog.write(sandboxes.directory(record["id"]), "ERROR", "openshell_server::boot", str(error), "gateway")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
