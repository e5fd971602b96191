"""The session of live checks: opening a run, its steps and checks as pytest works through them."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from kit.errors import Refused
from pytest_amap.catalogue import L1, Step
from pytest_amap.evidence.recorded import EvidenceError
from pytest_amap.failures import StepFailed, StepRefused
from pytest_amap.foreign import one_line
from pytest_amap.host import opening
from pytest_amap.host.host import Place
from pytest_amap.host.run import Run
from pytest_amap.host.survey import KEY
from pytest_amap.options import Options
from pytest_amap.results import BROKEN, StepResult
from pytest_amap.session import page_plugin, redraw, selection
from pytest_amap.session.redacted_reports import RedactedReports
from pytest_amap.session.refusals import looks_only
from pytest_amap.session.settings import options_key
from pytest_amap.steps.prerequisites import lab_key
from pytest_amap.verdicts import PASS

run_key = pytest.StashKey[Run]()
environ_key = pytest.StashKey[Mapping[str, str]]()

STEP_DONE = PASS
"""The outcome that --only-step contributes to the exit code where no check was selected."""

CHECK_STEP, REPORT_STEP = 8, 9
OWN_FLEET = "the home's own fleet.json, else examples/fleet.json"

LISTED = " | "
"""Between the details of a failed step; who depends on the step names the sentence before them alone."""


@contextmanager
def key_kept_apart(config: pytest.Config) -> Iterator[None]:
    """With --apply the API key is in nobody's environment while pytest runs: other plugins start programs, too."""
    config.stash[environ_key] = dict(os.environ)
    takes = config.option.apply and not looks_only(config)
    key = os.environ.pop(KEY, None) if takes else None
    try:
        yield
    finally:
        if key is not None:
            os.environ[KEY] = key


def environment(config: pytest.Config) -> Mapping[str, str]:
    """The environment as it was when pytest was started, the key included."""
    return config.stash.get(environ_key, os.environ)


def narrow_arguments(config: pytest.Config, chosen: Options) -> None:
    """With --apply, --rehearsal or --replay and no path, collect the live checks alone."""
    asked = chosen.apply or chosen.rehearsal or chosen.replay or chosen.only_step is not None
    if asked and config.args_source is config.ArgsSource.TESTPATHS:
        config.args[:] = [str(config.rootpath / "tests_live")]


def hide_secrets(config: pytest.Config, chosen: Options) -> None:
    """Before anything is collected, since a node id may hold a secret, too."""
    config.pluginmanager.register(RedactedReports(opening.redactor_of(chosen, environment(config))), "amap-redaction")


def ignored(path: Path, chosen: Options) -> bool | None:
    """--only-step collects the one test of that step and no check, but for 8; else that test does not exist."""
    if "tests_live" not in path.parts or not path.name.startswith("test_"):
        return None
    alone = chosen.only_step is not None and chosen.only_step != CHECK_STEP
    return True if (path.name == "test_step.py") is not alone else None


def unasked(item: pytest.Item, chosen: Options) -> bool:
    """What is ignored stays so where its file was named, which pytest then collects; and a declared check."""
    declared = () if chosen.replay else tuple(one.what for one in chosen.declared)
    return bool(ignored(item.path, chosen)) or selection.check_id(item, L1) in declared


def open_run(session: pytest.Session, items: Sequence[pytest.Item]) -> None:
    """Open the run: first everything that needs no program, and files only when all of that is good."""
    config = session.config
    chosen = config.stash[options_key]
    selected = tuple(name for item in items if (name := selection.check_id(item, L1)))
    run = config.stash[run_key] = Run(L1, chosen, selected, declared=chosen.declared)
    run.say = Speaker(config)
    lab = config.stash[lab_key] = opening.open_run(run, environment(config))
    config.add_cleanup(lab.ground.release)
    if run.evidence is None:
        return
    page_plugin.register(session, run, chosen.shown_home)


def draw_again(session: pytest.Session) -> bool:
    """--only-step 9 needs neither a run nor a host: its test is not run, and only a failure sets the exit code."""
    reporter = session.config.pluginmanager.getplugin("terminalreporter")
    say: Callable[..., None] = reporter.write_line if reporter else lambda line, **markup: print(line)
    session.items.clear()
    try:
        for line in redraw.redraw(session.config.stash[options_key]):
            say(f"amap: {line}")
    except EvidenceError as error:
        session.testsfailed = 1
        say(f"amap: {error}", red=True)
    return True


def open_replay(config: pytest.Config, items: Sequence[pytest.Item]) -> None:
    replay = config.pluginmanager.getplugin("amap-replay")
    selected = tuple(name for item in items if (name := selection.check_id(item, L1)))
    assert replay is not None
    config.stash[run_key] = replay.open(L1, config.stash[options_key], selected)


def step_of(fixture: str) -> Step | None:
    return next((step for step in L1.steps if step.fixture == fixture), None)


def fixtures_of(config: pytest.Config) -> list[str]:
    """The step fixtures of --only-step."""
    number = config.stash[options_key].only_step
    return [step.fixture for step in L1.steps if step.number == number]


@contextmanager
def doing(run: Run, step: Step) -> Iterator[None]:
    """One step fixture being set up: its records, its outcome, and one error block when it fails."""
    begun = time.monotonic()
    place: AbstractContextManager[Any] = run.host.at(Place(step.number)) if run.host else nullcontext()
    before = len(run.evidence.records) if run.evidence else 0

    def ended(outcome: str, reason: str = "") -> None:
        made = tuple(run.evidence.records[before:]) if run.evidence else ()
        took = round(time.monotonic() - begun, 3)
        run.steps[step.fixture] = StepResult(step.number, step.fixture, outcome, reason, took, made)
        why = f" ({reason})" if outcome == "already" else ""
        run.say(f"step {step.number} {step.fixture}: {outcome}{why}, {took:.1f} s")

    try:
        with place:
            yield
    except KeyboardInterrupt:
        ended("not-run", "interrupted")
        raise
    except (StepFailed, Refused, EvidenceError) as error:
        details = getattr(error, "details", ())
        outcome = "refused" if isinstance(error, StepRefused) else "failed"
        ended(outcome, f"{error}: {LISTED.join(details)}" if details else str(error))
        block = "\n  - ".join(map(one_line, (f"step {step.number} ({step.fixture}): {error}", *details)))
        failure = pytest.fail.Exception(block, pytrace=False)
        # The reason of the check that happened to ask first; it needs the details no more than the checks after it.
        failure.brief = in_one_line(run.steps[step.fixture])  # type: ignore[attr-defined]
        raise failure from None
    except BaseException as error:
        ended("failed", f"{type(error).__name__}: {error}")
        raise
    already = run.already.get(step.fixture, "")
    ended("already" if already else "done", already)


@contextmanager
def judging(run: Run, check: str) -> Iterator[None]:
    """One check from setup to teardown: the records made meanwhile are its own."""
    if run.host is None or run.evidence is None:
        yield
        return
    before = len(run.evidence.records)
    with run.host.at(Place(CHECK_STEP, check)):
        yield
    prefix = f"step-{CHECK_STEP}/"
    run.observed[check] = [record for record in run.evidence.records[before:] if record.startswith(prefix)]


def skip_after_failure(run: Run, item: pytest.Item) -> None:
    """A check that needs a failed step says which, in one line, and does not fail the same way again."""
    for step in run.suite.steps:
        result = run.steps.get(step.fixture)
        if result and result.outcome in BROKEN and step.fixture in getattr(item, "fixturenames", ()):
            pytest.skip(in_one_line(result))


def in_one_line(step: StepResult) -> str:
    """A failed step, without the details that its own row and pytest's block have."""
    reason = step.reason.partition(": ")[0] if LISTED in step.reason else step.reason
    return f"step {step.step} ({step.name}) {step.outcome}: {reason}"


def skip_without_premise(run: Run, item: pytest.Item) -> None:
    """Beside a premise that is no PASS nothing is judged; pytest-dependency goes on from an xpass."""
    own = item.get_closest_marker("dependency")
    for premise in own.kwargs.get("depends", ()) if own and selection.check_id(item, run.suite) else ():
        if (outcome := run.result_of(premise).outcome) is not PASS:
            pytest.skip(f"not judged: {premise} is {outcome}")


def header(config: pytest.Config) -> list[str]:
    """What this session will do and where; runs no command."""
    chosen = config.stash.get(options_key, None)
    if chosen is None or not chosen.apply:
        return []
    loaded = Path(sys.modules["pytest_amap"].__file__ or "").parent
    kind = "REHEARSAL host, proves the suite and never OpenShell" if chosen.rehearsal else "live host"
    key = "set" if environment(config).get(KEY, "").strip() else "not set"
    lines = [f"amap: {kind}; home {chosen.shown_home or 'not given'}; gateway 127.0.0.1:{chosen.port}; API key {key}"]
    lines.append(f"amap: fleet {chosen.fleet or OWN_FLEET}")
    if not loaded.is_relative_to(config.rootpath):
        lines.append(f"amap: plugin loaded from {loaded}, not from this checkout")
    return lines


class Speaker:
    """One line to the terminal from inside a fixture or a check; silent under -q."""

    def __init__(self, config: pytest.Config) -> None:
        self._reporter = config.pluginmanager.getplugin("terminalreporter")
        self._capture = config.pluginmanager.getplugin("capturemanager")
        self._quiet = config.get_verbosity() < 0

    def __call__(self, text: str) -> None:
        if self._reporter is None or self._quiet:
            return
        with self._capture.global_and_fixture_disabled() if self._capture else nullcontext():
            self._reporter.ensure_newline()
            self._reporter.write_line(one_line(f"amap: {text}"))
