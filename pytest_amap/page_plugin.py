"""A pytest-html page of our own for each run, beside whatever --html asks for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_amap.run import Run

NAME = "report.html"


def register(session: pytest.Session, run: Run, shown_home: str) -> None:
    """Let pytest-html write into the run's folder. It is told late: a run that is never opened leaves no folder."""
    config = session.config
    try:
        from pytest_html import plugin as pytest_html

        from pytest_amap.report.page_hooks import PageHooks
    except ImportError:
        return
    assert run.evidence is not None
    folder = Path(shown_home) / "evidence" / "runs" / run.evidence.run
    before = (config.option.htmlpath, config.option.self_contained_html)
    known = set(config.pluginmanager.get_plugins())
    config.option.htmlpath, config.option.self_contained_html = os.fspath(folder / NAME), True
    try:
        pytest_html.pytest_configure(config)
    finally:
        config.option.htmlpath, config.option.self_contained_html = before
    config.pluginmanager.register(PageHooks(run), "amap-page")
    for page in set(config.pluginmanager.get_plugins()) - known:
        if hasattr(page, "pytest_sessionstart") and type(page).__module__.startswith("pytest_html"):
            page.pytest_sessionstart(session)
            page.pytest_collection_finish(session)
