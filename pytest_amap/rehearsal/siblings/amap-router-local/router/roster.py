"""The roster: who is admitted, published beside the verdict; a directory of addresses, never a permission."""

from __future__ import annotations

import json
import os

from . import safefs
from .config import ROUTER_NAME, Config
from .discovery import Discovery
from .documents import CONTRACT_VERSION, now

FILE_NAME = "roster.json"


def publish(config: Config, discovery: Discovery, interval: float) -> str:
    """Write roster/roster.json and return "written", or say why it was skipped."""
    if config.selected_json is None:
        return "skipped: instances are authored"
    if config.fleet_domain is None:
        return "skipped: no fleet_domain"
    if discovery.verdict_unavailable:
        return "skipped: the verdict is unavailable"
    parent = os.path.dirname(config.selected_json)
    document = {
        "contract_version": CONTRACT_VERSION,
        "router": config.address(ROUTER_NAME),
        "written_at": now(),
        "interval_s": int(interval) if interval == int(interval) else interval,
        "members": [
            {"address": address, "state": "admitted"} for address in sorted(map(config.address, discovery.names))
        ],
    }
    try:
        with safefs.directory(parent, "roster") as fd:
            safefs.write_bytes(fd, FILE_NAME, json.dumps(document, indent=2).encode() + b"\n", 0o644)
    except OSError as error:
        return f"skipped: {os.path.join(parent, 'roster')} is not a writable directory ({error.strerror})"
    return "written"
