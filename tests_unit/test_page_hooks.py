"""pytest-html with our hooks: columns agree, foreign text is inert, the page says what the run says."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from report_sample import RUN, check_result, command, rehearsal_of, run_of

from pytest_amap.report.page_hooks import PageHooks
from pytest_amap.results import RunResult
from pytest_amap.verdicts import UNKNOWN

pytest_plugins = ["pytester"]

TESTS = """
import pytest

@pytest.fixture
def broken():
    pytest.fail("no gateway", pytrace=False)

def test_unknown_1():
    print("seen <b>")

def test_unknown_2():
    pytest.skip("no control <i>")

def test_unknown_3(broken):
    pass

@pytest.mark.parametrize("value", ["<script>alert(1)</script>"])
def test_hostile(value):
    pass
"""

CONFTEST = """
import pytest
from pytest_html import extras

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if item.name == "test_unknown_1":
        report.amap_verdict = "PASS"
    if item.name == "test_unknown_1" and report.when == "teardown":
        report.extras = [
            extras.url("../../step-8/a.json", name='"><script>'),
            extras.url("javascript:alert(1)", name="evil"),
            extras.html("<img src=x>"),
        ]
    return report
"""


def session(pytester: pytest.Pytester, run: RunResult | None, *arguments: str) -> tuple[str, dict[str, Any]]:
    """The page of a session with our hooks, and the data that pytest-html's script draws its table from."""
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(TESTS)
    known: tuple[RunResult, Sequence[dict[str, Any]]] | None = (run, [command(1)]) if run else None
    place = pytester.path / "out" / "report.html"
    result = pytester.runpytest_inprocess(
        "--html", str(place), "--self-contained-html", *arguments, plugins=[PageHooks(lambda: known)]
    )
    assert "INTERNALERROR" not in result.stdout.str()
    text = place.read_text(encoding="utf-8")
    blob = re.search(r'data-jsonblob="([^"]*)"', text)
    assert blob is not None
    return text, json.loads(html.unescape(blob[1]))


def rows(data: dict[str, Any]) -> dict[str, list[str]]:
    return {name.rpartition("::")[2]: tests[-1]["resultsTableRow"] for name, tests in data["tests"].items()}


def test_every_row_has_the_header_s_columns_and_a_verdict(pytester: pytest.Pytester) -> None:
    text, data = session(pytester, run_of())
    header = re.findall(r"<th\b[^>]*>(.*?)</th>", text.partition('id="results-table-head"')[2])
    assert header == ["Result", "Verdict", "Test", "Duration", "Links"]
    verdicts = {name: (len(cells), cells[1]) for name, cells in rows(data).items()}
    assert verdicts["test_unknown_1"] == (5, '<td class="col-verdict amap-pass">PASS</td>')
    unknown = (5, '<td class="col-verdict amap-unknown">UNKNOWN</td>')
    assert [row for name, row in verdicts.items() if name != "test_unknown_1"] == [unknown] * 3


def test_the_result_cell_stays_pytest_html_s(pytester: pytest.Pytester) -> None:
    _, data = session(pytester, run_of())
    words = {re.sub("<[^>]+>", "", cells[0]) for cells in rows(data).values()}
    assert words == {"Passed", "Skipped", "Error"}


def test_the_title_and_the_summary_are_the_run_s(pytester: pytest.Pytester) -> None:
    text, _ = session(pytester, rehearsal_of(check_result("unknown_3", UNKNOWN)))
    assert f'<h1 id="title">REHEARSAL: UNKNOWN: l1 run {RUN}</h1>' in text
    assert text.index("<strong>REHEARSAL</strong>") < text.index('id="results-table"')
    assert 'id="check-unknown_3"' in text


def test_foreign_names_links_and_html_are_inert(pytester: pytest.Pytester) -> None:
    _, data = session(pytester, run_of())
    cells = [cell for row in rows(data).values() for cell in row]
    assert [cell for cell in cells if "<script" in cell] == []
    links = rows(data)["test_unknown_1"][-1]
    assert re.findall(r'href="([^"]*)"', links) == ["../../step-8/a.json", "#check-unknown_1"]
    kinds = [extra["format_type"] for tests in data["tests"].values() for test in tests for extra in test["extras"]]
    assert kinds == ["url"]


def test_the_page_names_no_place_on_this_machine(pytester: pytest.Pytester) -> None:
    text, data = session(pytester, run_of())
    assert data["environment"] == {}
    assert str(pytester.path) not in text
    skipped = next(tests for name, tests in data["tests"].items() if name.endswith("test_unknown_2"))
    assert skipped[0]["log"].startswith("Skipped: no control &lt;i&gt;")


def test_a_session_without_a_run_still_has_its_page(pytester: pytest.Pytester) -> None:
    text, data = session(pytester, None)
    assert 'id="amap"' not in text
    assert all(len(cells) == 5 for cells in rows(data).values())


def test_a_file_that_cannot_be_collected_is_a_row_too(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_broken="import nothing_of_that_name")
    _, data = session(pytester, None)
    assert rows(data)["test_broken.py"][1] == '<td class="col-verdict amap-unknown">UNKNOWN</td>'


def test_a_page_that_a_person_asked_for_agrees_with_a_second_one(pytester: pytest.Pytester) -> None:
    """The suite draws a page of its own beside the one of --html; both have the same columns and title."""
    second = """
        import pytest
        from pytest_html import plugin

        @pytest.hookimpl(trylast=True)
        def pytest_configure(config):
            config.option.htmlpath = "second.html"
            plugin.pytest_configure(config)
    """
    pytester.makepyfile(second=second)
    pytester.syspathinsert()
    first, _ = session(pytester, run_of(), "-p", "second")
    for text in (first, (pytester.path / "second.html").read_text(encoding="utf-8")):
        assert f'<h1 id="title">PASS: l1 run {RUN}</h1>' in text


def test_captured_output_is_bounded() -> None:
    data = ["x" * 200_000]
    PageHooks(lambda: None).pytest_html_results_table_html(SimpleNamespace(longrepr="why"), data)
    assert len(data[0]) < 70_000


def test_the_page_asks_for_no_other_file(pytester: pytest.Pytester) -> None:
    text, _ = session(pytester, run_of())
    assert re.findall(r"<(?:link|iframe|object)\b", text) == []
    assert [source for source in re.findall(r'\bsrc="([^"]*)"', text) if source] == []
    assert not (Path(pytester.path) / "out" / "assets").exists()
