"""`--replay DIR`: the same tests and judges over a recorded run, without a host.

Nothing is run, nothing is written, and of the host nothing but DIR is read. Only registered with --replay.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_amap.catalogue import L1, Suite
from pytest_amap.evidence import recollect, verify
from pytest_amap.evidence.recorded import EvidenceError, read_run
from pytest_amap.foreign import one_line
from pytest_amap.host.run import Run
from pytest_amap.options import Options
from pytest_amap.report import places
from pytest_amap.results import BROKEN, RunResult, StepResult
from pytest_amap.session import selection
from pytest_amap.verdicts import FAIL

STEPS = "pytest_amap.steps."
"""Fixtures of these modules act on a host, so a stand-in takes their place."""


class NoHost(Exception):
    """A test reached for the host in a replay."""


class StandIn:
    """What a step fixture is in a replay: nothing to look at, only a name to pass on."""

    def __init__(self, fixture: str) -> None:
        self.__fixture = fixture

    def __getattr__(self, name: str) -> Any:
        raise NoHost(f"{self.__fixture}.{name}: a replay has no host, and judges what was observed alone")


class Replay:
    """The recorded run that this session judges again."""

    def __init__(self, directory: Path) -> None:
        """Raises UsageError when `directory` holds nothing that can be judged again."""
        try:
            self._recorded = read_run(directory)
            self._then = recollect.result_of(self._recorded, L1)
        except EvidenceError as error:
            raise pytest.UsageError(f"--replay: {error}") from None
        if self._then is not None and not self._then.selected:
            raise pytest.UsageError(f"--replay: run {self._recorded.run} judged no check; name a run that did")
        self._directory = directory
        self._problems = verify.problems(directory)
        self._observations = recollect.Observations(self._recorded)
        self._kept: list[str] = []
        self._run: Run | None = None

    @property
    def name(self) -> str:
        return f"{self._recorded.host or 'unmarked'} run {self._recorded.run}"

    def pytest_report_header(self) -> list[str]:
        return [f"amap: replay of {self.name} in {self._directory}", one_line(f"amap: {self._whole()}")]

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Checks that the recorded run was not asked about, and observed nothing of, are not asked now."""
        if self._then is None:
            return
        asked = {result.check.id for result in self._then.selected}
        asked |= {check for check in L1.ids if self._observations.has(check)}
        selection.leave_out(config, items, lambda item: selection.check_id(item, L1) in set(L1.ids) - asked)

    def open(self, suite: Suite, options: Options, selected: tuple[str, ...]) -> Run:
        """The run of this session; what is no judge's to say is taken over from the recorded one."""
        kind = self._recorded.host or "live"
        run = self._run = Run(suite, options, selected, kind=kind, replay_of=self.name)
        if self._then is None:
            run.spoiled |= dict.fromkeys(selected, recollect.CUT_OFF)
            return run
        self._take_over(run, self._then)
        return run

    def _take_over(self, run: Run, then: RunResult) -> None:
        run.head, run.declared, run.interrupted = then.head, then.declared, then.interrupted
        run.places = places.recorded(self._recorded.results or {})
        run.facts = {fact.name: fact.value for fact in then.facts}
        for step in then.steps:
            if step.name in ("cleanup", "report"):
                run.steps[step.name] = step
        for result in then.checks:
            name = result.check.id
            run.observed[name] = list(result.records)
            if recollect.spoiled(result):
                run.spoiled[name] = result.reason
            elif not self._observations.has(name):
                run.spoiled[name] = f"recorded {result.outcome}, but no observation of it was recorded"

    @pytest.hookimpl(tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: pytest.FixtureRequest) -> Any:
        """A stand-in for each step fixture; a step that failed then fails now, with its own words."""
        if not fixturedef.func.__module__.startswith(STEPS):
            return None
        key = fixturedef.cache_key(request)
        step = self._step(fixturedef.argname)
        if step is not None and self._run is not None:
            self._run.steps[step.name] = step
            if step.outcome in BROKEN:
                error = pytest.fail.Exception(one_line(f"step {step.step} ({step.name}): {step.reason}"), pytrace=False)
                fixturedef.cached_result = (None, key, (error, None))
                raise error
        value = StandIn(fixturedef.argname)
        fixturedef.cached_result = (value, key, None)
        return value

    def _step(self, fixture: str) -> StepResult | None:
        return next((step for step in self._then.steps if step.name == fixture), None) if self._then else None

    def seen(self, check: str, kind: Any) -> Any:
        """What the judge of `check` was given; ends the test where that cannot be had."""
        assert self._run is not None
        seen = None
        try:
            seen = self._observations.of(check, kind)
        except recollect.Unseen as reason:
            pytest.skip(str(reason))
        except recollect.Cut as record:
            self._doubt(self._run, check)
            self._keep(self._run, check, str(record))
        self._doubt(self._run, check)
        return seen

    def _doubt(self, run: Run, check: str) -> None:
        """What was changed after it was sealed may show a contradiction, and never a PASS."""
        if changed := self._observations.unproved():
            run.spoiled.setdefault(check, f"it rests on {changed[0]}, which is not as it was sealed")

    def _keep(self, run: Run, check: str, record: str) -> None:
        """The judge saw a whole output of which the record has head and tail: its parts stand as recorded."""
        then = next((result for result in self._then.checks if result.check.id == check), None) if self._then else None
        if then is None or not then.parts:
            pytest.skip(f"the output in {record} was cut, and no parts were recorded")
        self._kept.append(f"{check}: kept as recorded, since {record} holds only head and tail of what was judged")
        outcome, reason = run.settle(check, then.parts)
        end = pytest.fail.Exception(reason, pytrace=False) if outcome is FAIL else pytest.skip.Exception(self._kept[-1])
        run.concluded[check] = end
        raise end

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Whether this judgement is the recorded one, and where it is not."""
        if self._run is None:
            return
        terminalreporter.section(f"replay of {self.name}", sep="=")
        for line in self._told(self._run):
            terminalreporter.line(one_line(f"replay: {line}"))

    def _told(self, run: Run) -> list[str]:
        if self._then is None:
            return [self._whole(), recollect.CUT_OFF]
        lines = [self._whole(), *self._kept]
        if self._recorded.results and self._recorded.results["results"]["extra"].get("catalogue") != run.suite.digest:
            lines.append("the catalogue of the recorded run is another than this suite's")
        found = list(recollect.changes(self._then, run.result()))
        return [*lines, *(found or ["every outcome, reason and part is as recorded"])]

    def _whole(self) -> str:
        if not self._problems:
            head = self._then.head if self._then else ""
            return f"the evidence is whole{f', head {head}' if head else ''}"
        more = f"; amap verify tells {len(self._problems) - 1} more" if self._problems[1:] else ""
        return f"the evidence is NOT whole: {self._problems[0]}{more}"
