"""What one session of live checks has established so far. Everything absent is UNKNOWN."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from pytest_amap.catalogue import Suite
from pytest_amap.evidence.store import Evidence
from pytest_amap.host.files import stamp
from pytest_amap.host.host import Host
from pytest_amap.options import Options
from pytest_amap.report import proposals
from pytest_amap.results import BROKEN, CheckResult, Declared, Earlier, Fact, RunResult, StepResult
from pytest_amap.verdicts import FAIL, UNKNOWN, Outcome, Part, verdict


class Left(dict[str, str]):
    """What a run altered or left behind, one sentence each."""

    def tell(self, sentence: str, about: str = "") -> None:
        """Each sentence once; a later one about the same takes the place of an earlier one."""
        self.pop(about, None)
        self[about or sentence] = sentence


@dataclass
class Run:
    """The session's one mutable object: steps, settled parts, spoiled phases, and what is left to report."""

    suite: Suite
    options: Options
    selected: tuple[str, ...]
    evidence: Evidence | None = None
    host: Host | None = None
    kind: str = "live"
    replay_of: str = ""
    started: str = field(default_factory=lambda: stamp(time.time()))
    steps: dict[str, StepResult] = field(default_factory=dict)
    settled: dict[str, tuple[Part, ...]] = field(default_factory=dict)
    spoiled: dict[str, str] = field(default_factory=dict)
    """Check id to why setup, call or teardown did not pass."""
    ended: set[str] = field(default_factory=set)
    seconds: dict[str, float] = field(default_factory=dict)
    observed: dict[str, list[str]] = field(default_factory=dict)
    """Check id to the records made while it ran."""
    facts: dict[str, str] = field(default_factory=dict)
    declared: tuple[Declared, ...] = ()
    not_checked_items: tuple[str, ...] = ()
    not_checked_problem: str = ""
    left: Left = field(default_factory=Left)
    earlier: dict[str, Earlier] = field(default_factory=dict)
    interrupted: str = ""
    head: str = ""
    cleanup: ExitStack = field(default_factory=ExitStack)
    already: dict[str, str] = field(default_factory=dict)
    """Step fixture to why it had nothing to do."""
    concluded: dict[str, BaseException] = field(default_factory=dict)
    """Check id to the exception by which `settle` ended its test."""
    say: Callable[[str], None] = print
    places: dict[str, str] = field(default_factory=dict)
    """Host path to the name it has in reports."""

    @property
    def steps_failed(self) -> bool:
        return any(step.outcome in BROKEN for step in self.steps.values())

    @property
    def folder(self) -> Path | None:
        return self.evidence.folder if self.evidence else None

    def step(self, number: int, name: str, outcome: str, reason: str = "", seconds: float = 0.0) -> None:
        self.steps[name] = StepResult(number, name, outcome, reason, round(seconds, 3))

    def settle(self, check: str, parts: Sequence[Part]) -> tuple[Outcome, str]:
        """Settle a check, once; a second time spoils it, and takes no FAIL back."""
        if check in self.settled:
            self.spoiled.setdefault(check, "settled more than once")
        self.settled[check] = (*self.settled.get(check, ()), *parts)
        outcome, reason = verdict(self.settled[check])
        spoiled = outcome is not FAIL and check in self.spoiled
        return (UNKNOWN, self.spoiled[check]) if spoiled else (outcome, reason)

    def result_of(self, check: str) -> CheckResult:
        """PASS needs setup, call and teardown to have passed; a settled FAIL stands whatever came after it."""
        parts = self.settled.get(check, ())
        outcome, reason = verdict(parts)
        if outcome is not FAIL:
            if check in self.spoiled:
                outcome, reason = UNKNOWN, self.spoiled[check]
            elif self.selected.count(check) > 1:
                outcome, reason = UNKNOWN, "collected more than once, where each check is asked once a run"
            elif check not in self.ended:
                outcome, reason = UNKNOWN, "did not run to its end"
            elif check not in self.settled:
                outcome, reason = UNKNOWN, "its test ended without settling it"
        records = tuple(dict.fromkeys([*(r for p in parts for r in p.records if r), *self.observed.get(check, [])]))
        return CheckResult(self.suite.check(check), outcome, reason, parts, records, True, self.seconds.get(check, 0.0))

    def outcomes(self) -> list[Outcome]:
        return [self.result_of(check).outcome for check in self.selected]

    def result(self) -> RunResult:
        """Everything the reports say, as of now."""
        checks = tuple(
            self.result_of(one.id)
            if one.id in self.selected
            else CheckResult(one, UNKNOWN, "not selected", selected=False, earlier=self.earlier.get(one.id))
            for one in self.suite.checks
        )
        return RunResult(
            suite=self.suite,
            host=self.kind,
            run=self.evidence.run if self.evidence else "",
            started=self.started,
            ended=stamp(time.time()),
            steps=self.steps_in_order(),
            checks=checks,
            facts=tuple(Fact(name, value) for name, value in self.facts.items()),
            declared=self.declared,
            not_checked=proposals.rows(self.not_checked_items, [row for row in checks if row.selected]),
            not_checked_problem=self.not_checked_problem,
            posture=self.options.posture_accepted or "not stated",
            left=tuple(self.left.values()),
            waits=tuple(sorted(self.host.waits, key=lambda w: -w.seconds)) if self.host else (),
            records=self.evidence.count if self.evidence else 0,
            head=self.head,
            interrupted=self.interrupted,
            replay_of=self.replay_of,
        )

    def steps_in_order(self) -> tuple[StepResult, ...]:
        known = [self.steps.get(s.fixture, StepResult(s.number, s.fixture, "not-run")) for s in self.suite.steps]
        return tuple(known) + tuple(self.steps[name] for name in ("cleanup", "report") if name in self.steps)
