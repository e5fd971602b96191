"""pytest-html's hooks: our part of its page, a Verdict column, and nothing foreign that is not escaped.

Register a `PageHooks` only in a session that judges and only when pytest-html is loaded, in pytest_configure: the rows
of every page get the Verdict cell, so each page's header has to be drawn after that. The run may become known later.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from pytest_amap.foreign import cut, visible
from pytest_amap.report import page
from pytest_amap.report.html_text import element_id, esc
from pytest_amap.report.page_records import STREAM, Record
from pytest_amap.results import RunResult

_TEST, _VERDICT = 1, 1
_CHECK = re.compile(r"::test_([a-z0-9_]+)$")
_PLAIN_LINK = re.compile(r"(?:\.\./)*[A-Za-z0-9][A-Za-z0-9._/-]*")
"""A relative link: no scheme, nothing that HTML would read."""


class PageHooks:
    """The hooks of pytest-html 4 as methods; `get_run` gives the run so far and its records, or None."""

    def __init__(self, get_run: Callable[[], tuple[RunResult, Sequence[Record]] | None]) -> None:
        self._get_run = get_run
        self._pages: list[Any] = []

    def pytest_html_report_title(self, report: Any) -> None:
        """Take pytest-html's environment away: it names the machine, and the facts of the run stand in our part."""
        self._pages.append(report)
        report.title = "amap: not finished"
        report.set_data("environment", {})

    def pytest_html_results_summary(self, prefix: list[str]) -> None:
        """Put the run above pytest-html's table, and its outcome into the page's title."""
        known = self._get_run()
        if known is None:
            return
        run, records = known
        prefix.append(page.summary(run, records))
        for known_page in self._pages:
            known_page.title = visible(page.title(run))

    def pytest_html_results_table_header(self, cells: list[str]) -> None:
        cells.insert(_VERDICT, '<th class="sortable" data-column-type="verdict">Verdict</th>')

    def pytest_html_results_table_row(self, report: Any, cells: list[str]) -> None:
        """A Verdict cell in every row, and the test's name escaped: pytest-html escapes neither.

        A report without a verdict, such as a collection error's, is UNKNOWN (traps: pytest-html 4.2.0
        basereport.py, where a row longer than the header raises IndexError).
        """
        if not cells:
            return
        verdict = str(getattr(report, "amap_verdict", None) or "UNKNOWN")
        nodeid = str(getattr(report, "nodeid", ""))
        cells[_TEST] = f'<td class="col-testId">{esc(nodeid, 300)}</td>'
        cells[-1] = cells[-1].removesuffix("</td>") + _check_link(nodeid) + "</td>"
        cells.insert(_VERDICT, f'<td class="col-verdict amap-{element_id(verdict)}">{esc(verdict, 40)}</td>')

    def pytest_html_results_table_html(self, report: Any, data: list[str]) -> None:
        """Bound what was captured, since all logs lie in one attribute of the page; of a skip show the reason alone.

        pytest-html shows a skip as the tuple (absolute path, line, reason), and the path names the machine.
        """
        longrepr = getattr(report, "longrepr", None)
        if isinstance(longrepr, tuple) and data:
            data[0] = esc(str(longrepr[-1]), STREAM)
        data[:] = [visible(cut(text, STREAM)) for text in data]

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep of a row's links those that can only be text or a neighbouring file."""
        extras = [extra for extra in getattr(report, "extras", []) if _is_inert(extra)]
        for extra in extras:
            extra["name"] = element_id(str(extra["name"]))
        report.extras = extras


def _check_link(nodeid: str) -> str:
    check = _CHECK.search(nodeid)
    return f'<a href="#{element_id("check", check[1])}">parts and commands</a>' if check else ""


def _is_inert(extra: dict[str, Any]) -> bool:
    kind = extra.get("format_type")
    return kind in ("text", "json") or (kind == "url" and _PLAIN_LINK.fullmatch(str(extra.get("content"))) is not None)
