"""The pytest hooks: each reads pytest, asks a module that knows, and writes back."""

from __future__ import annotations

import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from pytest_amap.catalogue import L1
from pytest_amap.host.run import Run
from pytest_amap.report import terminal
from pytest_amap.session import (
    check,
    dryrun,
    finish,
    live,
    needed,
    page_plugin,
    phases,
    refusals,
    rehearse,
    selection,
    settings,
    skipped_files,
)
from pytest_amap.session.interrupts import Interrupts
from pytest_amap.verdicts import PASS, exit_code

run_key = live.run_key
interrupts_key = pytest.StashKey[Interrupts]()
collected_key = pytest.StashKey[int]()

INTERRUPTED = 2


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    settings.add(parser)
    page_plugin.settings(parser, pluginmanager)
    pluginmanager.register(rehearse, rehearse.__name__)
    pluginmanager.register(check, check.__name__)
    pluginmanager.register(skipped_files, skipped_files.__name__)


def pytest_plugin_registered(plugin_name: str, manager: pytest.PytestPluginManager) -> None:
    """A conftest.py comes after every -p and every entry point: what is missing then stays missing."""
    if plugin_name.endswith("conftest.py"):
        needed.load(manager)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> Generator[None, Any, int]:
    """The exit code, outside everything, also of what fails in configure and unconfigure."""
    try:
        with live.key_kept_apart(config):
            status = int((yield) or 0)
    except KeyboardInterrupt:
        if interrupts_key not in config.stash:
            raise
        status = INTERRUPTED
    if config.stash.get(rehearse.relayed_key, False):
        return status
    interrupts = config.stash.get(interrupts_key, None)
    if interrupts is not None and interrupts.first and status in (0, 1, 3, 6):
        return INTERRUPTED  # it came when every check had ended: cleanup and reports are whole
    run = config.stash.get(run_key, None)
    if run is None:
        judging = config.option.apply or config.option.replay
        return 1 if status == 3 and judging and not refusals.looks_only(config) else status
    return exit_code(status, run.steps_failed, run.outcomes() if run.selected else [live.STEP_DONE])


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "criterion: a pass criterion of the runbook (added to the live checks)")
    config.addinivalue_line("markers", "unknown: an unknown of the runbook (added to the live checks)")
    chosen = config.stash[settings.options_key] = settings.resolve(config)
    live.narrow_arguments(config, chosen)
    config.pluginmanager.register(Finish(), "amap-finish")
    if chosen.replay is not None and not refusals.looks_only(config):
        from pytest_amap.session.replay import Replay

        config.pluginmanager.register(Replay(chosen.replay), "amap-replay")
    if (chosen.apply or chosen.replay) and not refusals.looks_only(config):
        page_plugin.hooks(config, lambda: config.stash.get(run_key, None))
    if chosen.apply and not refusals.looks_only(config):
        live.hide_secrets(config, chosen)
        interrupts = config.stash[interrupts_key] = Interrupts()
        interrupts.install()
        config.add_cleanup(interrupts.restore)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return live.ignored(collection_path, config.stash[settings.options_key])


def pytest_itemcollected(item: pytest.Item) -> None:
    if selection.check_id(item, L1):
        selection.mark(item, L1)
        item.config.stash[collected_key] = item.config.stash.get(collected_key, 0) + 1
    elif selection.is_step_test(item):
        item.add_marker(pytest.mark.timeout(0))  # each command and wait of a step has a deadline of its own
        item.config.stash[collected_key] = item.config.stash.get(collected_key, 0) + 1


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    chosen = config.stash[settings.options_key]
    if (chosen.apply or chosen.replay) and not config.stash.get(collected_key, 0) and not config.option.collectonly:
        raise pytest.UsageError(
            "--apply and --replay judge live checks, and none was collected: give tests_live as the path"
        )
    selection.leave_out(config, items, lambda item: live.unasked(item, chosen))
    selection.resolve_dependencies(items, L1)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    selection.in_run_order(session.items, L1)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Open the run, or show the plan of a dry run and leave the other items to pytest."""
    config = session.config
    if refusals.looks_only(config) or (session.testsfailed and not config.option.continue_on_collection_errors):
        return None
    mine = [item for item in session.items if selection.check_id(item, L1) or selection.is_step_test(item)]
    if not mine:
        return None
    chosen = config.stash[settings.options_key]
    if chosen.replay is not None:
        live.open_replay(config, mine)
    elif chosen.apply and chosen.only_step == live.REPORT_STEP:
        return live.draw_again(session)
    elif chosen.apply:
        live.open_run(session, mine)
    else:
        dryrun.show(config, mine)
        session.items[:] = [item for item in session.items if item not in mine]
        return None if session.items else True
    return None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_fixture_setup(fixturedef: Any, request: pytest.FixtureRequest) -> Generator[None, Any, Any]:
    run = request.config.stash.get(run_key, None)
    step = live.step_of(fixturedef.argname) if run is not None else None
    if run is None or step is None or run.replay_of:
        return (yield)
    with live.doing(run, step):
        return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    interrupts = item.config.stash.get(interrupts_key, None)
    if interrupts is not None:
        interrupts.again()
    run = item.config.stash.get(run_key, None)
    if run is not None:
        live.skip_after_failure(run, item)
        live.skip_without_premise(run, item)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    run, name = item.config.stash.get(run_key, None), selection.check_id(item, L1)
    if run is None or not name:
        return (yield)
    begun = time.monotonic()
    with live.judging(run, name):
        try:
            return (yield)
        finally:
            run.seconds[name] = round(time.monotonic() - begun, 3)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    run = item.config.stash.get(run_key, None)
    if run is not None:
        phases.note(run, item, call, report)
    return report


def pytest_report_teststatus(report: pytest.TestReport, config: pytest.Config) -> Any:
    """U for a check that is UNKNOWN; a failed one keeps pytest's own words and its traceback."""
    outcome = getattr(report, "amap_shown", None)
    return terminal.status(outcome) if outcome is not None and outcome is not PASS else None


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fixtures are torn down, no page is written yet: the chain ends here."""
    run = session.config.stash.get(run_key, None)
    if run is not None and not run.replay_of:
        finish.close(run)


def pytest_report_header(config: pytest.Config) -> list[str]:
    return live.header(config)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    run = config.stash.get(run_key, None)
    if run is not None:
        finish.summarise(run, terminalreporter)


class Finish:
    """Inside every other wrapper and around every plain hook: all files, in one place."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, Any, Any]:
        """The last check is over, or the run was stopped: what follows is cleanup and reports, and nothing cuts it."""
        try:
            return (yield)
        finally:
            if interrupts := session.config.stash.get(interrupts_key, None):
                interrupts.hold()

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, Any, Any]:
        run: Run | None = session.config.stash.get(run_key, None)
        interrupts = session.config.stash.get(interrupts_key, None)
        if run is None:
            return (yield)
        try:
            return (yield)
        except BaseException as error:
            finish.cleanup_failed(run, error)
            return None
        finally:
            run.interrupted = interrupts.first if interrupts else ""
            finish.write(run, session.config)
