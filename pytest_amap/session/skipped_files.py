"""A live check whose file was skipped as a whole: pytest collects nothing of it, and it would look as not selected."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from pytest_amap.catalogue import L1
from pytest_amap.session import selection


class SkippedCheck(pytest.Item):
    """Stands in for the check: selected like it, and skipped when its turn comes."""

    def __init__(self, *, reason: str, **node: Any) -> None:
        super().__init__(**node)
        self._reason = reason

    def runtest(self) -> None:
        pytest.skip(self._reason)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, self.name


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, Any, pytest.CollectReport]:
    report: pytest.CollectReport = yield
    if report.skipped and isinstance(collector, pytest.Module) and selection.check_of(collector.path, L1):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        reason = reason.removeprefix("Skipped: ")
        stand_in = SkippedCheck.from_parent(collector, name=collector.path.stem, reason=reason)
        report.outcome, report.longrepr, report.result = "passed", None, [stand_in]
    return report
