"""The L1 suite as data: its checks, their order, its setup steps. Pure.

A catalogue belongs to a suite. Nothing here knows how a check is made.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Check:
    """One question the suite answers. `title` and `heading` are the runbook's report headings, and stay."""

    id: str
    heading: str
    title: str
    asks: str
    anchor: str
    seconds: float
    """Backstop for the test's body, above the sum of its commands' own deadlines."""

    @property
    def kind(self) -> str:
        return "criterion" if self.id.startswith("pass_criterion") else "unknown"


@dataclass(frozen=True)
class Step:
    """One setup step: the runbook's number, the session fixture that does it, and what it does."""

    number: int
    fixture: str
    title: str


@dataclass(frozen=True)
class Suite:
    """A catalogue: checks in report order, the order they run in, and the steps before them."""

    name: str
    checks: tuple[Check, ...]
    run_order: tuple[str, ...]
    steps: tuple[Step, ...]

    def check(self, check_id: str) -> Check:
        return next(check for check in self.checks if check.id == check_id)

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(check.id for check in self.checks)

    @property
    def digest(self) -> str:
        """SHA-256 of the catalogue, so that a reader of a statement can tell what "all checks" were."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()


STEPS = (
    Step(0, "prerequisites", "Before you start"),
    Step(1, "agent_image", "Build the image"),
    Step(2, "posture", "Observe the gateway's posture"),
    Step(2, "gateway", "Configure the gateway"),
    Step(3, "prepared_host", "Prepare the host"),
    Step(3, "provider_profile", "Import the provider profile"),
    Step(4, "sandboxes", "Create each sandbox"),
    Step(5, "membership", "Record each sandbox's ID"),
    Step(6, "router", "Start the router"),
    Step(7, "delegation", "Delegate from the sender to the receiver"),
)

CHECKS = (
    Check(
        "pass_criterion_1",
        "Pass criterion 1",
        "validate.py gates every document",
        "The spec's validator accepts every document the connector reads and writes, one class at a time.",
        "runbook step 8, Pass criterion 1",
        600,
    ),
    Check(
        "pass_criterion_2",
        "Pass criterion 2",
        "the connector's operational checks",
        "With read-only inbound lanes the connector relays, resolves bodies, submits, and sees exactly one session.",
        "runbook step 8, Pass criterion 2",
        900,
    ),
    Check(
        "pass_criterion_3",
        "Pass criterion 3",
        "a write to the inbox lane is denied at both layers",
        "A write to the inbox from inside the sandbox is denied, by the read-only mount and by the policy's entry.",
        "runbook step 8, Pass criterion 3",
        900,
    ),
    Check(
        "pass_criterion_4",
        "Pass criterion 4",
        "a network call to a mail API is denied and logged",
        "A direct call to a host that is no provider endpoint is denied, and the sandbox's log says so.",
        "runbook step 8, Pass criterion 4",
        900,
    ),
    Check(
        "pass_criterion_5",
        "Pass criterion 5",
        "beta tasking alpha is held at the router",
        "A new task on the edge that was never granted is held at the router and reaches nobody.",
        "runbook step 8, Pass criterion 5",
        1800,
    ),
    Check(
        "unknown_1",
        "Unknown 1",
        "router writes appear inside a running sandbox",
        "A notice the router wrote after the receiver started is seen from inside the receiver.",
        "runbook step 8, Unknown 1",
        600,
    ),
    Check(
        "unknown_2",
        "Unknown 2",
        "the errno of a write to the inbox lane",
        "The errno of an agent's write to the inbox is EROFS.",
        "runbook step 8, Unknown 2",
        600,
    ),
    Check(
        "unknown_3",
        "Unknown 3",
        "a lane mounted but missing from the policy",
        "A lane that is mounted but missing from the policy is unreadable.",
        "runbook step 8, Unknown 3",
        3600,
    ),
    Check(
        "unknown_4",
        "Unknown 4",
        "injection over AF_UNIX, and the refusing receiver",
        "A delegation becomes a turn over AF_UNIX, and a refusing receiver is never counted as delivered.",
        "runbook step 8, Unknown 4",
        9000,
    ),
    Check(
        "unknown_5",
        "Unknown 5",
        "where the cross-session receiver setting is fixed",
        "The receiver setting is fixed to accept in a place the agent cannot write.",
        "runbook step 8, Unknown 5",
        9000,
    ),
    Check(
        "unknown_6",
        "Unknown 6",
        "the accepted gateway posture",
        "The gateway is dedicated, on loopback only, has no OIDC and runs no other sandbox; "
        "the operator accepts the rest.",
        "runbook step 8, Unknown 6",
        600,
    ),
    Check(
        "unknown_7",
        "Unknown 7",
        "the shared uid holds end to end",
        "Router, lanes, policies and sandboxes are one uid and gid, and the agent can read a delivered 0600 notice.",
        "runbook step 8, Unknown 7",
        900,
    ),
)

RUN_ORDER = (
    "unknown_6",
    "pass_criterion_3",
    "unknown_2",
    "pass_criterion_4",
    "unknown_1",
    "unknown_7",
    "pass_criterion_2",
    "pass_criterion_5",
    "unknown_3",
    "unknown_4",
    "unknown_5",
    "pass_criterion_1",
)
"""Posture first; cheap reads before anything disruptive; unknown_4 restarts the receiver; documents last."""

L1 = Suite("l1", CHECKS, RUN_ORDER, STEPS)
