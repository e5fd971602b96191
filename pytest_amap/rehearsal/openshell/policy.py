"""`openshell policy get`."""

from __future__ import annotations

import hashlib
import json

from .. import sandboxes
from . import policies
from .arguments import Arguments
from .sandbox import named


def get(arguments: Arguments) -> int:
    record = named(arguments)
    base = arguments.has("base")
    policy = record["policy"] or {"version": 1}
    if not base:
        policy = sandboxes.effective_policy(record)
    digest = hashlib.sha256(policies.emit(policy).encode()).hexdigest()
    if arguments.last("output") == "json":
        answer = {
            "scope": "sandbox",
            "sandbox": record["name"],
            "version": 1,
            "active_version": 1,
            "hash": digest,
            "status": "effective",
            "config_revision": 1,
            "policy_source": "sandbox",
            "policy": policy,
        }
        print(json.dumps(answer, indent=2))
        return 0
    print(f"Version: 1\nHash: {digest}\nStatus: effective\nSource: sandbox\nConfig rev: 1")
    if base or arguments.has("full"):
        print("---\n" + policies.emit(policy), end="")
    return 0
