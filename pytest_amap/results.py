"""What a run established, for every writer of a report: the catalogue LEFT JOIN results. Pure.

Whatever has no PASS record is UNKNOWN: a check that did not end, was skipped, or was not selected.
"""

from __future__ import annotations

from dataclasses import dataclass

from pytest_amap.catalogue import Check, Suite
from pytest_amap.verdicts import PASS, Outcome, Part

BROKEN = ("failed", "refused")
"""Outcomes of a step after which nothing that needs it can stand."""


@dataclass(frozen=True)
class StepResult:
    """How one step fixture ended: `outcome` is done, already, failed, refused or not-run."""

    step: int
    name: str
    outcome: str
    reason: str = ""
    seconds: float = 0.0
    records: tuple[str, ...] = ()


@dataclass(frozen=True)
class Earlier:
    """The last earlier outcome of a check that was not selected now: information, not a verdict."""

    outcome: Outcome
    run: str
    identity: str
    """"same identity", or what has changed since, in words."""


@dataclass(frozen=True)
class CheckResult:
    """One check's outcome. `selected` is False where this run was not asked about it."""

    check: Check
    outcome: Outcome
    reason: str
    parts: tuple[Part, ...] = ()
    records: tuple[str, ...] = ()
    selected: bool = True
    seconds: float = 0.0
    earlier: Earlier | None = None


@dataclass(frozen=True)
class Declared:
    """What the operator declared, before the run, as not covered here, and why."""

    what: str
    reason: str


@dataclass(frozen=True)
class Fact:
    """One measured fact of the run, or "not measured: why"."""

    name: str
    value: str


@dataclass(frozen=True)
class Wait:
    """One wait worth telling: what for, how long it took, in seconds."""

    what: str
    seconds: float


@dataclass(frozen=True)
class NotCheckedRow:
    """One item of the spec's NOT CHECKED HERE list; `proposal` is "" or "<column>: <check that bears on it>"."""

    item: str
    proposal: str = ""


@dataclass(frozen=True)
class RunResult:
    """Everything the reports of one run say."""

    suite: Suite
    host: str
    """live or rehearsal."""
    run: str
    started: str
    ended: str
    steps: tuple[StepResult, ...]
    checks: tuple[CheckResult, ...]
    """All of the catalogue, in report order."""
    facts: tuple[Fact, ...] = ()
    declared: tuple[Declared, ...] = ()
    not_checked: tuple[NotCheckedRow, ...] = ()
    not_checked_problem: str = ""
    """Why the spec's list could not be read, when it could not."""
    posture: str = ""
    """The operator's statement of what files cannot show, or "not stated"."""
    left: tuple[str, ...] = ()
    """What the run altered or left behind, one sentence each."""
    waits: tuple[Wait, ...] = ()
    records: int = 0
    head: str = ""
    """SHA-256 of the last record of the chain."""
    interrupted: str = ""
    """The signal that ended the run, or ""."""
    replay_of: str = ""
    """In a replay: "live run <id>" or "rehearsal run <id>"."""

    @property
    def selected(self) -> tuple[CheckResult, ...]:
        return tuple(check for check in self.checks if check.selected)

    @property
    def complete(self) -> bool:
        """Whether every check of the catalogue was selected."""
        return all(check.selected for check in self.checks)

    @property
    def all_pass(self) -> bool:
        """Whether nothing of the catalogue is short of PASS and every step completed."""
        return self.complete and self.steps_ok and all(check.outcome is PASS for check in self.checks)

    @property
    def steps_ok(self) -> bool:
        return all(step.outcome not in BROKEN for step in self.steps)

    def counts(self) -> dict[Outcome, int]:
        """How many selected checks have each outcome."""
        return {outcome: sum(check.outcome is outcome for check in self.selected) for outcome in Outcome}
