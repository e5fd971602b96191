"""No secret in what pytest itself shows: tracebacks, locals, sections, properties, reasons, warnings, node ids."""

from __future__ import annotations

import dataclasses
import logging
import warnings
from collections.abc import Generator
from typing import Any

import pytest

from pytest_amap.evidence.redaction import Redactor


class RedactedReports:
    """Registered for the length of a run; a text is replaced only where it changes, so that types stay."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor

    @pytest.hookimpl(tryfirst=True)
    def pytest_make_parametrize_id(self, val: object) -> str | None:
        """Node ids hold what a test is parametrised with."""
        hidden = self._redactor.value(val)
        return str(hidden) if isinstance(val, (str, bytes)) and hidden != val else None

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Log lines that go to the terminal or a file at once are in no report."""
        before = logging.getLogRecordFactory()

        def hidden(*about: Any, **more: Any) -> logging.LogRecord:
            return self._log(before(*about, **more))

        logging.setLogRecordFactory(hidden)
        config.add_cleanup(lambda: logging.setLogRecordFactory(before))

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """An id that somebody spelled out goes everywhere, into pytest's own cache as well."""
        for item in items:
            if self._redactor.text(item.nodeid) != item.nodeid:
                raise pytest.UsageError(f"the id of a test in {item.path} holds a secret: give it another id")

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_make_collect_report(self) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        report = yield
        report.sections = [(self._redactor.text(title), self._redactor.text(text)) for title, text in report.sections]
        report.longrepr = self._longrepr(report.longrepr)
        return report

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        report.sections = [(self._redactor.text(title), self._redactor.text(text)) for title, text in report.sections]
        report.user_properties = [(name, self._redactor.value(value)) for name, value in report.user_properties]
        report.longrepr = self._longrepr(report.longrepr)
        if hasattr(report, "wasxfail"):
            report.wasxfail = self._redactor.text(report.wasxfail)
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """What a subtest was given is put beside its report after that was made."""
        given = getattr(report, "context", None)
        if dataclasses.is_dataclass(given) and not isinstance(given, type):
            shown = {
                field.name: self._redactor.value(getattr(given, field.name)) for field in dataclasses.fields(given)
            }
            report.context = dataclasses.replace(given, **shown)  # type: ignore[attr-defined]

    @pytest.hookimpl(tryfirst=True)
    def pytest_internalerror(self, excrepr: Any) -> None:
        self._hide(excrepr)

    @pytest.hookimpl(tryfirst=True)
    def pytest_warning_recorded(self, warning_message: warnings.WarningMessage) -> None:
        text = str(warning_message.message)
        hidden = self._redactor.text(text)
        if hidden != text:
            warning_message.message = (
                type(warning_message.message)(hidden) if isinstance(warning_message.message, Warning) else hidden
            )

    def _log(self, record: logging.LogRecord) -> logging.LogRecord:
        try:
            message = record.getMessage()
        except Exception:  # arguments that do not fit the message are told by logging itself
            return record
        hidden = self._redactor.text(message)
        if hidden != message:
            record.msg, record.args = hidden, ()
        if record.exc_info:
            told = logging.Formatter().formatException(record.exc_info)
            record.exc_text = self._redactor.text(told)
        return record

    def _longrepr(self, longrepr: Any) -> Any:
        """The same representation without the secret; a text where it is spread so that only the whole shows it."""
        if isinstance(longrepr, tuple):
            return tuple(self._redactor.value(item) for item in longrepr)
        if longrepr is None or self._redactor.text(str(longrepr)) == str(longrepr):
            return longrepr
        hidden = self._hide(longrepr)
        whole = str(hidden)
        return hidden if self._redactor.text(whole) == whole else self._redactor.text(whole)

    def _hide(self, value: Any) -> Any:
        """pytest's exception representations are dataclasses of texts and lists of lines: hide in place."""
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            for field in dataclasses.fields(value):
                setattr(value, field.name, self._hide(getattr(value, field.name)))
            return value
        if isinstance(value, (list, tuple)):
            if value and all(isinstance(item, str) for item in value):
                return self._lines(value)
            return type(value)(self._hide(item) for item in value)
        return self._redactor.value(value)

    def _lines(self, lines: list[str] | tuple[str, ...]) -> list[str] | tuple[str, ...]:
        """Judged together: a secret may go on in the next line."""
        whole = "\n".join(lines)
        hidden = self._redactor.text(whole)
        return lines if hidden == whole else type(lines)(hidden.split("\n"))
