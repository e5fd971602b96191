"""Step 2: the gateway's posture, observed by one fixture and enforced by another."""

from __future__ import annotations

import pytest

from pytest_amap.checks import unknown_6
from pytest_amap.evidence import chain
from pytest_amap.failures import StepRefused
from pytest_amap.host.lab import Lab
from pytest_amap.observations import Ran
from pytest_amap.parsers import Unreadable, units
from pytest_amap.verdicts import PASS


@pytest.fixture(scope="session")
def posture(prerequisites: Lab) -> unknown_6.Seen:
    """Step 2: what files, the gateway, its listener and its sandboxes show. Never fails: unknown_6 judges it."""
    seen = unknown_6.collect(prerequisites)
    text = seen.files.toml.text
    digest = f"sha256 {chain.digest(text.encode())}" if text is not None else f"not read ({seen.files.toml.problem})"
    prerequisites.run.facts["gateway_file"] = f"{digest}; {seen.files.how}"
    prerequisites.run.facts["gateway_service"] = service(seen.unit)
    return seen


def service(ran: Ran) -> str:
    """What systemd says of the gateway's service; nothing is started or restarted to find out (field report A16)."""
    if units.without_bus(ran.stderr):
        return "not measured: this session has no user bus (XDG_RUNTIME_DIR); log in as that user, not by su or sudo"
    found = ran.parsed(units.unit)
    if isinstance(found, Unreadable):
        return f"not measured: {found.why}"
    return f"{found.state} since {found.active_since}" if found.active_since else found.state


@pytest.fixture(scope="session")
def gateway(posture: unknown_6.Seen) -> unknown_6.Seen:
    """Step 2's gate: no step from 3 on acts on a gateway whose posture does not hold."""
    broken = [
        part for part in unknown_6.judge(posture) if part.outcome is not PASS and part.name != unknown_6.STATEMENT
    ]
    if broken:
        raise StepRefused("refusing to go on: " + "; ".join(part.reason for part in broken))
    return posture
