"""The plan of a dry run: every command as --apply would run it, and the host files it would read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import pytest

from pytest_amap.catalogue import L1
from pytest_amap.commands import Command, Look, Planned
from pytest_amap.options import Options
from pytest_amap.session import plans, redraw, selection
from pytest_amap.session.settings import options_key

LAST = "dry run: nothing was run or written; add --apply to run"


def show(config: pytest.Config, items: Sequence[pytest.Item]) -> None:
    """Print the plan of the selected checks; one line stands for it where nobody asked for the live checks."""
    reporter = config.pluginmanager.getplugin("terminalreporter")
    say: Callable[[str], None] = reporter.write_line if reporter else print
    if not asked_for(config):
        say(f"{len(items)} live checks not run: 'pytest tests_live' prints their plan, --apply runs them")
        return
    for line in lines(config.stash[options_key], items):
        say(line)


def asked_for(config: pytest.Config) -> bool:
    by_path = config.args_source is not config.ArgsSource.TESTPATHS
    return bool(by_path or config.option.keyword or config.option.markexpr or config.option.only_step is not None)


def lines(options: Options, items: Sequence[pytest.Item]) -> Iterable[str]:
    fixtures = {name for item in items for name in getattr(item, "fixturenames", ())}
    if options.only_step == 9:
        yield from ("", redraw.PLAN)
    elif options.only_step is not None and options.only_step < 8:
        fixtures |= {step.fixture for step in L1.steps if step.number == options.only_step}
    book = plans.Book.of(options)
    for step in L1.steps:
        if step.fixture in fixtures:
            yield from ("", f"step {step.number}: {step.title} ({step.fixture})")
            yield from shown(book.step(step.fixture))
    for item in items:
        if check := selection.check_id(item, L1):
            yield from ("", f"{check}: {L1.check(check).asks}")
            yield from shown(book.check(check))
    yield from ("", LAST)


def shown(planned: Iterable[Planned]) -> Iterable[str]:
    """One line what for and when, then the command (+), the kit's own work by hand (=), or the path that is read."""
    for one in planned:
        yield f"  # {one.label}{f' ({one.when})' if one.when else ''}"
        if isinstance(one, Look):
            yield f"  reads {one.path}"
        else:
            yield f"  {'+' if isinstance(one, Command) else '='} {one.shown()}"
