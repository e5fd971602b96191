"""A pytest-html page of our own for each run, beside whatever --html asks for."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from pytest_amap.host.run import Run
from pytest_amap.report import places
from pytest_amap.results import RunResult

NAME = "report.html"


def settings(parser: pytest.Parser, manager: pytest.PytestPluginManager) -> None:
    """pytest-html's setting in our pyproject.toml stays a known one without it (field report A47)."""
    if manager.is_blocked("html") or find_spec("pytest_html") is None:
        parser.addini("initial_sort", "order of the rows of pytest-html's page, which is off here")


def register(session: pytest.Session, run: Run, shown_home: str) -> None:
    """Let pytest-html write into the run's folder. It is told late: a run that is never opened leaves no folder."""
    config = session.config
    if not config.pluginmanager.has_plugin("html"):
        return
    from pytest_html import plugin as pytest_html  # type: ignore[import-untyped]

    assert run.evidence is not None
    folder = Path(shown_home) / "evidence" / "runs" / run.evidence.run
    before = (config.option.htmlpath, config.option.self_contained_html)
    known = set(config.pluginmanager.get_plugins())
    config.option.htmlpath, config.option.self_contained_html = os.fspath(folder / NAME), True
    try:
        pytest_html.pytest_configure(config)
    finally:
        config.option.htmlpath, config.option.self_contained_html = before
    for page in set(config.pluginmanager.get_plugins()) - known:
        if hasattr(page, "pytest_sessionstart") and type(page).__module__.startswith("pytest_html"):
            page.pytest_sessionstart(session)
            page.pytest_collection_finish(session)


def hooks(config: pytest.Config, get_run: Callable[[], Run | None]) -> None:
    """Register our rows and our summary, early: a page of --html's own needs the same columns from the start."""
    if not config.pluginmanager.has_plugin("html"):
        return
    from pytest_amap.report.page_hooks import PageHooks

    def shown() -> tuple[RunResult, list[dict[str, Any]]] | None:
        run = get_run()
        return (places.named(run.result(), run.places), records(run)) if run is not None else None

    config.pluginmanager.register(PageHooks(shown), "amap-page")


def records(run: Run) -> list[dict[str, Any]]:
    """The run's records as written, each with its path below evidence/."""
    evidence = run.evidence
    if evidence is None:
        return []
    return [{**json.loads((evidence.root / path).read_bytes()), "path": path} for path in evidence.records]
