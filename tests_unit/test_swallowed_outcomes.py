"""What would make a check look good, or not there at all, without a verdict: plugins, skipped files, repetitions."""

from __future__ import annotations

import pytest
from plugin_bench import FAILS, PASSES, Bench

pytest_plugins = ["pytester"]

SWALLOW = """
@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    report.outcome, report.longrepr = "passed", None
    return report
"""
SKIP_FILE = "import pytest\npytest.importorskip('no_such_module')\n"


@pytest.fixture
def bench(pytester: pytest.Pytester) -> Bench:
    return Bench(pytester)


def test_a_report_that_another_plugin_made_a_pass_is_none(bench: Bench) -> None:
    bench.conftest(SWALLOW)
    bench.check("unknown_1", "pytest.skip('not today')")
    bench.check("unknown_2", FAILS)
    bench.check("unknown_3", f"{PASSES}\nraise ValueError('late')")
    assert bench.run("--apply").ret == 3
    assert bench.outcomes() == {"unknown_1": "UNKNOWN", "unknown_2": "FAIL", "unknown_3": "UNKNOWN"}
    assert bench.reason("unknown_1") == "not today"
    assert bench.reason("unknown_3") == "ValueError: late"


def test_a_teardown_that_raised_is_told_though_another_plugin_hides_it(bench: Bench) -> None:
    bench.conftest(SWALLOW)
    bench.steps({"router": "yield 'router'\n    raise OSError('no space')"})
    bench.check("unknown_1", PASSES, "delegation")
    result = bench.run("--apply")
    assert result.ret == 1
    assert "1 unknown" in result.outlines[-1]
    assert bench.outcomes() == {"unknown_1": "UNKNOWN"}
    assert "no space" in bench.step("cleanup")["reason"]


def test_a_failure_that_another_plugin_makes_up_is_named_as_that(bench: Bench) -> None:
    bench.conftest(SWALLOW.replace('"passed", None', '"failed", "a thread leaked"'))
    bench.check("unknown_2", PASSES)
    assert bench.run("--apply").ret == 1  # its setup is reported as failed, too
    assert bench.reason("unknown_2") == "reported as failed by another plugin: a thread leaked"


def skip_file(bench: Bench, name: str) -> None:
    file = bench.live / f"test_{name}.py"
    file.write_text(SKIP_FILE + file.read_text())


def test_a_file_that_is_skipped_as_a_whole_leaves_its_check_unknown(bench: Bench) -> None:
    bench.check("unknown_2", PASSES)
    bench.check("unknown_3", PASSES)
    skip_file(bench, "unknown_3")
    assert bench.run("--apply").ret == 3
    assert bench.outcomes() == {"unknown_2": "PASS", "unknown_3": "UNKNOWN"}
    assert bench.reason("unknown_3").startswith("could not import 'no_such_module'")


def test_it_is_selected_like_any_other(bench: Bench) -> None:
    bench.check("unknown_2", PASSES)
    bench.check("unknown_3", PASSES)
    skip_file(bench, "unknown_3")
    assert bench.run("--apply", "-k", "unknown_2").ret == 0
    assert bench.reason("unknown_3") == "not selected"
    assert bench.run("--apply", path="tests_live/test_unknown_3.py::test_unknown_3").ret == 3


def test_doctest_that_skips_the_same_file_takes_nothing_away(bench: Bench) -> None:
    bench.check("unknown_3", PASSES)
    skip_file(bench, "unknown_3")
    assert bench.run("--apply", "--doctest-modules", "--doctest-ignore-import-errors").ret == 3
    assert bench.reason("unknown_3").startswith("could not import 'no_such_module'")


@pytest.mark.parametrize("values", ["FAIL, PASS", "PASS, FAIL"])
def test_a_check_that_is_asked_twice_keeps_its_fail(bench: Bench, values: str) -> None:
    mark = f"@pytest.mark.parametrize('one', [{values}])"
    bench.check("unknown_2", "check.settle([part(one)])", "sandboxes, one", mark)
    assert bench.run("--apply").ret == 3
    assert bench.outcomes() == {"unknown_2": "FAIL"}


def test_a_check_that_was_to_be_asked_twice_is_no_pass_after_the_first(bench: Bench) -> None:
    body = f"if one == 2:\n    raise KeyboardInterrupt\n{PASSES}"
    bench.check("unknown_2", body, "sandboxes, one", "@pytest.mark.parametrize('one', [1, 2])")
    assert bench.run("--apply").ret == 2
    assert bench.outcomes() == {"unknown_2": "UNKNOWN"}
    assert "collected more than once" in bench.reason("unknown_2")
