"""What the evidence of a run rests on: which sandboxes, and which configuration the router reads."""

from __future__ import annotations

import os

from kit import membership
from pytest_amap.evidence import chain
from pytest_amap.host import files
from pytest_amap.host.lab import Lab

UNRECORDED = "not measured: not every member is recorded"
UNWRITTEN = "not measured: not written yet"


def recorded(lab: Lab) -> dict[str, str]:
    """Member to sandbox id as membership.json has them; raises the kit's Refused where it cannot be read."""
    found = {one.name: one.id for one in membership.load(lab.home.membership) or ()}
    return {name: found[name] for name in lab.fleet.members if name in found}


def router_config(lab: Lab) -> str:
    """The digest of the configuration the router is started with, or "" while there is none."""
    text = files.read(os.fspath(lab.home.router)).text
    return chain.digest(text.encode()) if text is not None else ""


def facts(lab: Lab) -> dict[str, str]:
    """Both as facts of the run, as far as they are known by now."""
    complete = all(name in lab.ids for name in lab.fleet.members)
    ids = ", ".join(f"{name} {lab.ids[name]}" for name in lab.fleet.members) if complete else UNRECORDED
    digest = router_config(lab)
    return {"sandboxes": ids, "router_config": f"sha256 {digest}" if digest else UNWRITTEN}
