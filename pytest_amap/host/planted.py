"""The delegations that runs of ours planted, bound to what they rest on; and how one made by hand is told from them."""

from __future__ import annotations

import json
import os
import re
from typing import Any

from pytest_amap.delegations import Delegation
from pytest_amap.evidence import writeonce
from pytest_amap.host import delegating, files, identity
from pytest_amap.host.lab import Lab
from pytest_amap.parsers.audit import Placement

FILE = "planted.jsonl"
SUBJECT = "L1 delegation {run}: list your workspace"
_OURS = re.compile(r"L1 (delegation|negative case) \d{8}T\d{6}Z")


def remember(lab: Lab, task: Delegation) -> None:
    """Note a request below evidence/; raises EvidenceError when that cannot be done."""
    about = {"sender": task.sender, "receiver": task.receiver, "request": task.request, "earlier": task.earlier}
    entry = about | {"identity": of(lab)}
    path = lab.home.evidence / FILE
    with writeonce.explained(path):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "w") as file:
            # a line that a kill cut off must not swallow the next one
            file.write(f"\n{json.dumps(entry, sort_keys=True)}\n")


def of(lab: Lab) -> dict[str, str]:
    """What a delegation rests on, by the names of the run's facts."""
    return identity.facts(lab) | {"fleet": lab.run.facts.get("fleet", "")}


def entries(lab: Lab) -> list[dict[str, Any]]:
    """What was noted of this edge, oldest first, whatever it rests on; lines that cannot be read are left out."""
    found = []
    for line in (files.read(os.fspath(lab.home.evidence / FILE)).text or "").splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and (entry.get("sender"), entry.get("receiver")) == edge(lab):
            found.append(entry)
    return found


def edge(lab: Lab) -> tuple[str, str]:
    return lab.ground.sender, lab.ground.receiver


def newest(lab: Lab) -> Delegation | None:
    """The newest delegation that rests on what is there now, as far as it was noted."""
    same = [entry for entry in entries(lab) if entry.get("identity") == of(lab)]
    if not same:
        return None
    earlier = same[-1].get("earlier", 0)
    return Delegation(*edge(lab), str(same[-1]["request"]), earlier=earlier if isinstance(earlier, int) else 0)


def why_none(lab: Lab) -> str:
    """Why no earlier delegation counts, in words."""
    known = entries(lab)
    if not known:
        return "no earlier run of ours planted a delegation here"
    then, now = known[-1].get("identity") or {}, of(lab)
    words = ", ".join(name.replace("_", " ") for name in now if then.get(name) != now[name])
    return f"the newest delegation of an earlier run rests on another identity (changed since: {words})"


def is_ours(lab: Lab, placed: Placement) -> bool:
    """Whether a run of ours planted it: by its note, or, where a kill came before the note, by its subject."""
    if any(entry["request"] == placed.req_id and entry.get("identity") == of(lab) for entry in entries(lab)):
        return True
    text = files.read(os.fspath(delegating.message_file(lab, placed.recipient, placed.notice_id))).text
    try:
        return bool(_OURS.match(str(json.loads(text or "")["subject"])))
    except (ValueError, KeyError, TypeError, RecursionError):
        return False
