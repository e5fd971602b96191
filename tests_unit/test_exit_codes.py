"""Every row of the exit-code table: what pytest would say, what this plugin says, and whether results are written."""

from __future__ import annotations

import pytest
from plugin_bench import FAILS, IS_UNKNOWN, PASSES, Bench

pytest_plugins = ["pytester"]

RAISING_TEARDOWN = "yield 'router'\n    raise OSError('no space')"


@pytest.fixture
def bench(pytester: pytest.Pytester) -> Bench:
    return Bench(pytester)


def test_all_pass_is_0_and_the_rest_is_not_selected(bench: Bench) -> None:
    bench.check("unknown_2", PASSES)
    bench.check("unknown_3", PASSES)
    assert bench.run("--apply").ret == 0
    assert bench.outcomes() == {"unknown_2": "PASS", "unknown_3": "PASS"}
    assert bench.reason("unknown_1") == "not selected"
    assert {bench.step(step)["outcome"] for step in ("sandboxes", "cleanup", "report")} == {"done"}
    assert bench.step("delegation")["outcome"] == "not-run"


@pytest.mark.parametrize(
    "selection",
    [("-k", "unknown_2"), ("--deselect", "tests_live/test_unknown_3.py::test_unknown_3"), ("-k", "not unknown_3")],
    ids=["-k", "--deselect", "-k not"],
)
def test_a_selection_that_is_all_pass_is_0(bench: Bench, selection: tuple[str, ...]) -> None:
    bench.check("unknown_2", PASSES)
    bench.check("unknown_3", FAILS)
    assert bench.run("--apply", *selection).ret == 0
    assert bench.outcomes() == {"unknown_2": "PASS"}


def test_a_node_id_selects(bench: Bench) -> None:
    bench.check("unknown_2", PASSES)
    bench.check("unknown_3", FAILS)
    assert bench.run("--apply", path="tests_live/test_unknown_2.py::test_unknown_2").ret == 0


@pytest.mark.parametrize(
    ("body", "mark", "outcome", "reason"),
    [
        (FAILS, "", "FAIL", "a question: expected one thing, saw another"),
        (IS_UNKNOWN, "", "UNKNOWN", "a question: expected one thing, saw another"),
        ("pytest.skip('not today')", "", "UNKNOWN", "not today"),
        (PASSES, "@pytest.mark.skip(reason='not today')", "UNKNOWN", "not today"),
        (PASSES, "@pytest.mark.skipif(True, reason='not today')", "UNKNOWN", "not today"),
        ("pytest.xfail('known')", "", "UNKNOWN", "xfail proves nothing"),
        (PASSES, "@pytest.mark.xfail(strict=False)", "UNKNOWN", "xfail proves nothing"),
        (PASSES, "@pytest.mark.xfail(strict=True)", "UNKNOWN", "xfail proves nothing"),
        (PASSES, "@pytest.mark.xfail(run=False)", "UNKNOWN", "xfail proves nothing"),
        (f"{PASSES}\nraise ValueError('late')", "", "UNKNOWN", "ValueError: late"),
        ("raise ValueError('early')", "", "UNKNOWN", "ValueError: early"),
        ("assert 1 == 2", "", "UNKNOWN", "AssertionError: assert 1 == 2"),
        (f"{PASSES}\nassert 1 == 2", "", "UNKNOWN", "AssertionError: assert 1 == 2"),
        ("raise SystemExit(0)", "", "UNKNOWN", "SystemExit: 0"),
        ("pytest.fail('by hand')", "", "UNKNOWN", "by hand"),
        ("pass", "", "UNKNOWN", "its test ended without settling it"),
        ("check.settle([])", "", "UNKNOWN", "nothing was judged"),
        (f"{PASSES}\n{PASSES}", "", "UNKNOWN", "settled more than once"),
        ("try:\n    check.settle([part(FAIL)])\nexcept BaseException:\n    pass", "", "FAIL", "a question: expected"),
        ("try:\n    check.settle([part(UNKNOWN)])\nexcept BaseException:\n    pass", "", "UNKNOWN", "a question"),
    ],
)
def test_what_is_not_pass_is_3(bench: Bench, body: str, mark: str, outcome: str, reason: str) -> None:
    """The verdict is what was settled, never how pytest ended."""
    bench.check("unknown_2", body, mark=mark)
    bench.check("unknown_3", PASSES)
    assert bench.run("--apply").ret == 3
    assert bench.outcomes() == {"unknown_2": outcome, "unknown_3": "PASS"}
    assert bench.reason("unknown_2").startswith(reason)


def test_a_timeout_in_a_body_is_unknown_whatever_the_ini_says(bench: Bench) -> None:
    """The check's own limit stands in its mark; a low --timeout neither shortens a step nor makes a PASS."""
    hooks = """
import dataclasses
from pytest_amap import catalogue

def pytest_sessionstart(session):
    limits = {"unknown_2": 0.3}
    low = tuple(dataclasses.replace(c, seconds=limits.get(c.id, c.seconds)) for c in catalogue.L1.checks)
    patch = pytest.MonkeyPatch()
    patch.setattr("pytest_amap.plugin.L1", dataclasses.replace(catalogue.L1, checks=low))
    session.config.add_cleanup(patch.undo)
"""
    bench.conftest(hooks)
    bench.steps({"sandboxes": "time.sleep(0.3)"})
    bench.check("unknown_2", "time.sleep(20)")
    bench.check("unknown_3", PASSES)
    assert bench.run_apart("--apply", "--timeout=0.1").ret == 3
    assert bench.outcomes() == {"unknown_2": "UNKNOWN", "unknown_3": "PASS"}
    assert "Timeout" in bench.reason("unknown_2")


def test_exitfirst_after_a_fail_is_3_and_what_did_not_run_is_unknown(bench: Bench) -> None:
    bench.check("unknown_2", FAILS)
    bench.check("unknown_3", PASSES)
    assert bench.run("--apply", "-x").ret == 3
    assert bench.outcomes() == {"unknown_2": "FAIL", "unknown_3": "UNKNOWN"}
    assert bench.reason("unknown_3") == "did not run to its end"


@pytest.mark.parametrize(
    ("body", "outcome", "reason"),
    [
        ("raise StepFailed('alpha must be Ready, saw Error; look at its log')", "failed", "alpha must be Ready"),
        ("raise StepRefused('a foreign sandbox is there; delete it yourself')", "refused", "a foreign sandbox"),
        ("raise KeyError('phase')", "failed", "KeyError: 'phase'"),
        ("assert 1 == 2", "failed", "AssertionError"),
    ],
)
def test_a_step_that_fails_is_1_and_prints_once(bench: Bench, body: str, outcome: str, reason: str) -> None:
    """One block with the message; every check that needs the step names it in its own line."""
    bench.steps({"sandboxes": body})
    bench.check("unknown_6", PASSES, "posture")
    bench.check("unknown_2", PASSES)
    bench.check("unknown_3", PASSES)
    result = bench.run("--apply")
    assert result.ret == 1
    assert bench.step("sandboxes")["outcome"] == outcome
    assert bench.step("sandboxes")["reason"].startswith(reason)
    assert bench.outcomes() == {"unknown_6": "PASS", "unknown_2": "UNKNOWN", "unknown_3": "UNKNOWN"}
    assert bench.reason("unknown_3").startswith(f"step 4 (sandboxes) {outcome}: {reason}")
    assert str(result.stdout).count("ERROR at setup of") == 1


def test_the_details_of_a_failed_step_are_its_own_and_of_no_check(bench: Bench) -> None:
    """The check that happened to ask first says no more than those after it."""
    bench.steps({"sandboxes": "raise StepRefused('2 things are wrong', ['this', 'that'])"})
    bench.check("unknown_2", PASSES)
    bench.check("unknown_3", PASSES)
    result = bench.run("--apply")
    assert bench.step("sandboxes")["reason"] == "2 things are wrong: this | that"
    assert bench.reason("unknown_2") == bench.reason("unknown_3") == "step 4 (sandboxes) refused: 2 things are wrong"
    result.stdout.fnmatch_lines(["step 4 (sandboxes): 2 things are wrong", "  - this", "  - that"])


@pytest.mark.parametrize("check", [PASSES, FAILS])
def test_a_step_whose_teardown_raises_is_1(bench: Bench, check: str) -> None:
    bench.steps({"router": RAISING_TEARDOWN})
    bench.check("unknown_1", check, "delegation")
    assert bench.run("--apply").ret == 1
    assert bench.step("cleanup")["outcome"] == "failed"
    assert "no space" in bench.step("cleanup")["reason"]
    assert bench.outcomes() == {"unknown_1": "FAIL" if check is FAILS else "UNKNOWN"}


def test_an_internal_error_of_a_run_is_1_with_results(bench: Bench) -> None:
    bench.conftest("\ndef pytest_runtest_logreport(report):\n    raise ValueError('a bug')\n")
    bench.check("unknown_2", PASSES)
    assert bench.run("--apply").ret == 1
    assert bench.wrote()


@pytest.mark.parametrize("hook", ["pytest_collection_modifyitems", "pytest_sessionstart", "pytest_configure"])
def test_an_internal_error_before_the_run_is_1_without_files(bench: Bench, hook: str) -> None:
    """pytest's own 3 would mean that every step completed."""
    bench.pytester.syspathinsert()
    late = bench.pytester.path / "late.py"
    late.write_text(f"def {hook}():\n    raise ValueError('a bug')\n")
    bench.check("unknown_2", PASSES)
    assert bench.run("--apply", "-p", "late").ret == 1
    assert not bench.home.exists()


def test_a_collection_error_is_2_and_nothing_ran(bench: Bench) -> None:
    bench.check("unknown_2", PASSES)
    (bench.live / "test_unknown_3.py").write_text("import no_such_module\n")
    assert bench.run("--apply").ret == 2
    assert not bench.home.exists()


@pytest.mark.parametrize(
    "args",
    [("--no-such-option",), ("--apply", "--lf"), ("--apply", "--from-step", "10"), ("--apply", "tests_nowhere")],
)
def test_a_usage_error_is_4_and_nothing_ran(bench: Bench, args: tuple[str, ...]) -> None:
    bench.check("unknown_2", PASSES)
    assert bench.run(*args).ret == 4
    assert not bench.home.exists()


@pytest.mark.parametrize("apply", [("--apply",), ()], ids=["--apply", "dry run"])
def test_a_dangling_premise_is_4_and_nothing_ran(bench: Bench, apply: tuple[str, ...]) -> None:
    bench.check("unknown_2", PASSES, mark="@pytest.mark.dependency(depends=['unknown_22'])")
    result = bench.run(*apply)
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*unknown_2 depends on 'unknown_22', and no check of the catalogue is called that*"])
    assert not bench.home.exists()


def test_a_selection_of_nothing_is_5_and_nothing_ran(bench: Bench) -> None:
    bench.check("unknown_2", PASSES)
    assert bench.run("--apply", "-k", "nothing").ret == 5
    assert not bench.home.exists()


@pytest.mark.parametrize(("check", "expected"), [(PASSES, 6), (FAILS, 3), (IS_UNKNOWN, 3)])
def test_too_many_warnings_are_6_only_where_all_else_is_0(bench: Bench, check: str, expected: int) -> None:
    bench.check("unknown_2", f"import warnings\nwarnings.warn('old')\nwarnings.warn('older')\n{check}")
    assert bench.run("--apply", "--max-warnings=1").ret == expected
    assert bench.wrote()


@pytest.mark.parametrize("args", [("--apply", "--collect-only"), ("--apply", "--setup-plan"), ()])
def test_looking_is_0_without_files(bench: Bench, args: tuple[str, ...]) -> None:
    bench.check("unknown_2", FAILS)
    assert bench.run(*args).ret == 0
    assert not bench.home.exists()


def test_setup_only_is_3_since_nothing_was_judged(bench: Bench) -> None:
    bench.check("unknown_2", PASSES)
    assert bench.run("--apply", "--setup-only").ret == 3
    assert bench.outcomes() == {"unknown_2": "UNKNOWN"}
    assert bench.step("sandboxes")["outcome"] == "done"


def test_only_step_is_0_or_1_without_a_check(bench: Bench) -> None:
    (bench.live / "test_step.py").write_text(
        "from pytest_amap.session.live import fixtures_of\n\n"
        "def test_only_step(request, pytestconfig):\n"
        "    for name in fixtures_of(pytestconfig):\n        request.getfixturevalue(name)\n"
    )
    bench.check("unknown_2", FAILS)
    assert bench.run("--apply", "--only-step", "1").ret == 0
    assert bench.step("agent_image")["outcome"] == "done"
    assert bench.outcomes() == {}
    bench.steps({"agent_image": "raise StepFailed('no image')"})
    assert bench.run("--apply", "--only-step", "1").ret == 1
    assert bench.step("agent_image")["outcome"] == "failed"


def test_a_report_that_cannot_be_drawn_again_is_1_and_one_sentence(bench: Bench) -> None:
    bench.check("unknown_2", PASSES)
    (bench.live / "test_step.py").write_text("def test_only_step():\n    raise AssertionError('it is not run')\n")
    refused = bench.run("--apply", "--only-step", "9")
    assert refused.ret == 1
    refused.stdout.fnmatch_lines(["amap: the home * and the checkout * overlap: *; nothing was drawn"])
    assert "Exit" not in refused.stdout.str()


UNIT_TESTS = [
    ("pytest.skip('no')", 0),
    ("assert 0", 1),
    ("pass", 0),
    ("pytest.xfail('no')", 0),
    ("pytest.exit('enough', returncode=9)", 9),
]


@pytest.mark.parametrize(("body", "expected"), UNIT_TESTS)
def test_sessions_of_unit_tests_stay_pytests_own(bench: Bench, body: str, expected: int) -> None:
    bench.unit_test(body)
    result = bench.run(path="tests_unit")
    assert result.ret == expected
    assert "amap:" not in str(result.stdout)


@pytest.mark.parametrize(("body", "expected"), UNIT_TESTS)
@pytest.mark.parametrize("paths", [(), ("tests_unit", "tests_live")], ids=["testpaths", "paths"])
def test_a_unit_test_beside_the_dry_run_decides_alone(
    bench: Bench, paths: tuple[str, ...], body: str, expected: int
) -> None:
    """The live checks are a plan; they keep no unit test from running and add nothing to its code."""
    bench.unit_test(body)
    bench.check("unknown_2", FAILS)
    assert bench.run(*paths, path="").ret == expected
    assert not bench.home.exists()


@pytest.mark.parametrize(("check", "expected"), [(PASSES, 1), (FAILS, 3)])
def test_a_unit_test_that_fails_beside_a_run_is_never_0(bench: Bench, check: str, expected: int) -> None:
    bench.unit_test("assert 0")
    bench.check("unknown_2", check)
    assert bench.run("--apply", "tests_unit").ret == expected
    assert bench.wrote()


def test_apply_without_a_live_check_is_a_usage_error(bench: Bench) -> None:
    bench.unit_test("assert 0")
    bench.check("unknown_2", PASSES)
    result = bench.run("--apply", path="tests_unit")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*none was collected: give tests_live as the path*"])
    assert not bench.home.exists()


def test_an_internal_error_of_unit_tests_stays_3(bench: Bench) -> None:
    bench.unit_test("pass")
    bench.conftest("\ndef pytest_runtest_logreport(report):\n    raise ValueError('a bug')\n")
    assert bench.run(path="tests_unit").ret == 3
