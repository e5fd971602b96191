"""--junitxml agrees with the verdicts: a reader of JUnit files takes a skip for good, so no UNKNOWN is one."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from plugin_bench import FAILS, IS_UNKNOWN, PASSES, Bench

from pytest_amap.report import junit

pytest_plugins = ["pytester"]

EXPECTED = {
    "pass_criterion_3": ("PASS", ""),
    "unknown_1": ("UNKNOWN", "error"),
    "unknown_2": ("UNKNOWN", "error"),
    "unknown_3": ("FAIL", "failure"),
    "unknown_6": ("UNKNOWN", "error"),
    "unknown_7": ("FAIL", "failure"),
}


def cases(path: Path) -> dict[str, tuple[str, str]]:
    """Check to its outcome and to the element that says it is not good."""
    found = {}
    for case in ET.parse(path).iter("testcase"):
        said = {known.get("name"): known.get("value") for known in case.iter("property")}
        bad = [child.tag for child in case if child.tag in ("failure", "error", "skipped")]
        found[str(case.get("name")).removeprefix("test_")] = (str(said.get(junit.OUTCOME)), "".join(bad))
    return found


def test_the_persons_junit_file_says_what_results_json_says(pytester: pytest.Pytester) -> None:
    bench = Bench(pytester)
    bench.check("pass_criterion_3", PASSES)
    bench.check("unknown_1", "pass")
    bench.check("unknown_2", IS_UNKNOWN)
    bench.check("unknown_3", FAILS)
    bench.check("unknown_6", PASSES, mark="@pytest.mark.skip(reason='not today')")
    bench.check("unknown_7", f"try:\n    {FAILS}\nexcept BaseException:\n    pass")
    assert bench.run("--apply", "--junitxml=mine.xml").ret == 3
    path = pytester.path / "mine.xml"
    assert cases(path) == EXPECTED
    assert {check: outcome for check, (outcome, _) in EXPECTED.items()} == bench.outcomes()
    suite = next(ET.parse(path).iter("testsuite"))
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["6", "2", "3", "0"]
    assert suite.get("name") == "pytest"


def test_a_session_of_others_keeps_pytests_own_words(pytester: pytest.Pytester) -> None:
    bench = Bench(pytester)
    bench.unit_test("pytest.skip('elsewhere')")
    assert bench.run("--junitxml=mine.xml", path="tests_unit").ret == 0
    assert next(ET.parse(pytester.path / "mine.xml").iter("testsuite")).get("skipped") == "1"


def test_a_secret_in_a_junit_file_that_the_shell_did_not_expand_is_found(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No shell expands the ~ of `--junitxml=~/x`: pytest does, and the scan must look at the same file."""
    monkeypatch.setenv("HOME", str(pytester.path))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-canary-0123456789")
    bench = Bench(pytester)
    bench.check("unknown_2", PASSES)
    bench.conftest(
        "\n@pytest.hookimpl(tryfirst=True)\n"
        "def pytest_runtest_logreport(report):\n"
        "    report.user_properties += [('late', 'sk-ant-canary-' + '0123456789')]\n"
    )
    assert bench.run("--apply", "--junitxml=~/mine.xml").ret == 1
    assert "mine.xml" in bench.step("report")["reason"]


def test_every_suite_of_a_rehearsal_is_called_one_once() -> None:
    xml = '<testsuites><testsuite name="mine"/><testsuite/></testsuites>'
    told = junit.told(junit.told(xml, rehearsal=True), rehearsal=True)
    assert [suite.get("name") for suite in ET.fromstring(told).iter("testsuite")] == ["REHEARSAL mine", "REHEARSAL"]
