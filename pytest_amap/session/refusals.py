"""Mixes of options that would break the contract, each refused with what to do instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_amap.catalogue import L1
from pytest_amap.options import Options
from pytest_amap.report import earlier
from pytest_amap.verdicts import PASS

REFUSED_WITH_A_RUN: tuple[tuple[str, object, str], ...] = (
    ("numprocesses", None, "-n/--dist/--tx: the checks share one host and run in order; drop it"),
    ("dist", "no", "-n/--dist/--tx: the checks share one host and run in order; drop it"),
    ("tx", [], "-n/--dist/--tx: the checks share one host and run in order; drop it"),
    ("looponfail", False, "--looponfail: a run is started by a person; drop it"),
    ("forked", False, "--forked: the checks share session fixtures; drop it"),
    ("reruns", None, "--reruns: a rerun hides a FAIL; drop it and run again with -k"),
    ("count", None, "--count: each check is asked once a run; drop it"),
    (
        "ignore_unknown_dependency",
        False,
        "--ignore-unknown-dependency: it would run a check whose premise is unknown; drop it",
    ),
)

FORGETFUL = ("lf", "stepwise", "stepwise_skip", "stepwise_reset")
"""The last two turn --sw on by themselves, and only later."""


def looks_only(config: pytest.Config) -> bool:
    """Whether pytest was asked to tell about itself, so that no session of ours runs."""
    names = (
        "help",
        "version",
        "collectonly",
        "markers",
        "showfixtures",
        "show_fixtures_per_test",
        "setupplan",
        "cacheshow",
    )
    return any(getattr(config.option, name, False) for name in names)


def settings_of_elsewhere(config: pytest.Config) -> bool:
    """Whether pytest took an option's value for a path, before any plugin was loaded, and its settings from there."""
    here, named = config.invocation_params.dir, config.args_source is config.ArgsSource.ARGS
    lost = config.args_source is config.ArgsSource.INVOCATION_DIR and (here / "tests_live").is_dir()
    return not named and (lost or not here.is_relative_to(config.rootpath))


def refuse(config: pytest.Config, options: Options) -> None:
    """UsageError for what would break the contract; each message says what to do instead."""
    if (options.apply or options.rehearsal or options.replay) and settings_of_elsewhere(config):
        raise pytest.UsageError(
            f"pytest looked for its settings in {config.rootpath}, which it took for the path of tests: "
            "name tests_live before the options, or write --replay=DIR and --amap-home=DIR"
        )
    exclusive(options)
    if not (options.apply or options.replay) or looks_only(config):
        return
    for name, harmless, way_out in REFUSED_WITH_A_RUN:
        value = getattr(config.option, name, harmless)
        if value not in (harmless, None, False, 0, 1 if name == "count" else None):
            raise pytest.UsageError(f"{'--apply' if options.apply else '--replay'} refuses {way_out}")
    if options.apply:
        needed(config.pluginmanager)
        if any(getattr(config.option, name, False) for name in FORGETFUL):
            raise pytest.UsageError(
                f"--apply refuses --lf and --sw: they forget a check that is UNKNOWN; {selecting_not_pass(options)}"
            )


def exclusive(options: Options) -> None:
    """UsageError for options of ours that say two things."""
    if options.rehearsal and options.replay:
        raise pytest.UsageError("--rehearsal runs a host and --replay has none: give one of them")
    if options.faults and not options.rehearsal:
        raise pytest.UsageError("--fault plants a defect in the rehearsal host: add --rehearsal")
    if options.apply and options.replay:
        raise pytest.UsageError("--apply runs commands and --replay runs none: give one of them")
    if options.from_step is not None and options.only_step is not None:
        raise pytest.UsageError("--from-step and --only-step exclude each other: give one of them")
    if options.replay and (options.from_step is not None or options.only_step is not None):
        raise pytest.UsageError("--replay runs no step: drop --from-step and --only-step; -k selects checks")


def needed(manager: pytest.PytestPluginManager) -> None:
    """UsageError where a plugin that a run rests on is blocked or missing."""
    for plugin, mark in (("pytest_dependency", "dependency"), ("pytest_timeout", "timeout")):
        blocked = manager.is_blocked(mark) or manager.is_blocked(plugin)
        if blocked or not (manager.has_plugin(mark) or manager.has_plugin(plugin)):
            raise pytest.UsageError(
                f"--apply needs pytest-{mark}, and -p no:{mark} (or its absence) takes it away: load it again"
            )


def selecting_not_pass(options: Options) -> str:
    """For --lf: the -k that selects what was not PASS in the newest run of this home."""
    try:
        newest = next(earlier.finished(Path(options.home) / "evidence", L1), None) if options.home else None
    except OSError:
        newest = None
    if newest is None:
        return "select with -k instead"
    names = [result.check.id for result in newest.checks if result.outcome is not PASS]
    return f"give -k '{' or '.join(names)}' instead" if names else "nothing of the newest run is short of PASS"
