"""No secret in pytest's own reports: tracebacks, sections, properties, skip reasons, warnings."""

from __future__ import annotations

import warnings
from collections.abc import Generator
from typing import Any

import pytest

from pytest_amap.redaction import Redactor


class RedactedReports:
    """Registered for the length of a run; a text is replaced only where it changes, so that types stay."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        report.sections = [(self._redactor.text(title), self._redactor.text(text)) for title, text in report.sections]
        report.user_properties = [(name, self._redactor.value(value)) for name, value in report.user_properties]
        report.longrepr = self._longrepr(report.longrepr)
        return report

    def _longrepr(self, longrepr: Any) -> Any:
        if isinstance(longrepr, tuple):
            return tuple(self._redactor.value(item) for item in longrepr)
        if longrepr is None or self._redactor.text(str(longrepr)) == str(longrepr):
            return longrepr
        return self._redactor.text(str(longrepr))

    @pytest.hookimpl(tryfirst=True)
    def pytest_warning_recorded(self, warning_message: warnings.WarningMessage) -> None:
        text = str(warning_message.message)
        hidden = self._redactor.text(text)
        if hidden != text:
            warning_message.message = (
                type(warning_message.message)(hidden) if isinstance(warning_message.message, Warning) else hidden
            )
