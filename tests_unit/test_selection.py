"""Collected items against the catalogue: what is a check, which premises count, and that each runs alone."""

from __future__ import annotations

import json

import pytest
from plugin_bench import FAILS, IS_UNKNOWN, PASSES, Bench

from pytest_amap.catalogue import L1

pytest_plugins = ["pytester"]

DEPENDS = "@pytest.mark.dependency(depends=['unknown_2'])"


@pytest.fixture
def bench(pytester: pytest.Pytester) -> Bench:
    return Bench(pytester)


@pytest.mark.parametrize(
    ("premise", "outcome", "reason"),
    [
        (PASSES, "PASS", "a question: another"),
        (FAILS, "UNKNOWN", "not judged: unknown_2 is FAIL"),
        (IS_UNKNOWN, "UNKNOWN", "not judged: unknown_2 is UNKNOWN"),
        ("raise ValueError('bug')", "UNKNOWN", "not judged: unknown_2 is UNKNOWN"),
        (f"request.applymarker(pytest.mark.xfail)\n{PASSES}", "UNKNOWN", "not judged: unknown_2 is UNKNOWN"),
    ],
)
def test_a_check_whose_premise_is_not_pass_is_unknown_and_names_it(
    bench: Bench, premise: str, outcome: str, reason: str
) -> None:
    bench.check("unknown_2", premise, "sandboxes, request")
    bench.check("unknown_3", PASSES, mark=DEPENDS)
    assert bench.run("--apply").ret == (0 if outcome == "PASS" else 3)
    assert bench.outcomes()["unknown_3"] == outcome
    assert bench.reason("unknown_3") == reason


def test_a_premise_that_is_not_selected_does_not_count(bench: Bench) -> None:
    """pytest-dependency alone would skip the check, which would be UNKNOWN for ever with -k."""
    bench.check("unknown_2", FAILS)
    bench.check("unknown_3", PASSES, mark=DEPENDS)
    assert bench.run("--apply", "-k", "unknown_3").ret == 0
    assert bench.outcomes() == {"unknown_3": "PASS"}


@pytest.mark.parametrize("name", L1.ids)
def test_a_check_alone_is_that_check_and_builds_what_it_needs(bench: Bench, name: str) -> None:
    """`-k unknown_1` does not match a mark, nor `pass_criterion_1` another check."""
    for other in L1.ids:
        bench.check(other, PASSES if other == name else FAILS)
    assert bench.run("--apply", "-k", name).ret == 0
    assert bench.outcomes() == {name: "PASS"}
    assert bench.step("sandboxes")["outcome"] == "done"
    assert bench.step("router")["outcome"] == "not-run"


@pytest.mark.parametrize(
    ("file", "args"), [("test_step.py", ()), ("test_unknown_2.py", ("--only-step", "1"))], ids=["step", "check"]
)
def test_a_file_that_this_session_does_not_ask_is_not_run_when_it_is_named(
    bench: Bench, file: str, args: tuple[str, ...]
) -> None:
    """pytest collects what is named whatever is ignored: a step test without a step was a pass of nothing."""
    bench.check("unknown_2", PASSES)
    (bench.live / "test_step.py").write_text("def test_only_step():\n    pass\n")
    assert bench.run("--apply", *args, path=f"tests_live/{file}").ret == 5
    assert not bench.home.exists()


def test_a_declared_check_is_not_asked_and_never_a_pass(bench: Bench) -> None:
    """It stands as declared and not observed, so nothing may have observed it."""
    for name in L1.ids:
        bench.check(name, PASSES)
    result = bench.run("--apply", "--declare", "unknown_7: one uid for all is given up here")
    assert result.ret == 0
    assert set(bench.outcomes()) == set(L1.ids) - {"unknown_7"}
    statement = json.loads((bench.runs[-1] / "statement.json").read_text())
    assert statement["predicate"]["result"] == "FAILED"
    result.stdout.fnmatch_lines(["11 PASS; declared, not observed: unknown_7"])
    assert "not selected, so UNKNOWN in the report: unknown_7" in str(result.stdout)
    assert "ask the checks" not in str(result.stdout)


@pytest.mark.parametrize(("mark", "prefix"), [("criterion", "pass_criterion_"), ("unknown", "unknown_")])
def test_marks_select_a_kind(bench: Bench, mark: str, prefix: str) -> None:
    for name in L1.ids:
        bench.check(name, PASSES)
    assert bench.run("--apply", "-m", mark).ret == 0
    assert set(bench.outcomes()) == {name for name in L1.ids if name.startswith(prefix)}


def test_the_checks_run_in_the_catalogues_order(bench: Bench) -> None:
    for name in L1.ids:
        bench.check(name, PASSES)
    listed = [line.rpartition("::test_")[2] for line in bench.run("--collect-only", "-q").outlines if "::" in line]
    assert listed == list(L1.run_order)


def test_a_test_of_that_name_elsewhere_is_no_check(bench: Bench) -> None:
    bench.unit_test("pass")
    (bench.pytester.path / "tests_unit" / "test_other.py").write_text("def test_unknown_2():\n    assert 0\n")
    result = bench.run(path="tests_unit")
    result.assert_outcomes(passed=1, failed=1)
    assert result.ret == 1


def test_a_test_beside_the_checks_that_the_catalogue_does_not_know_is_pytests_own(bench: Bench) -> None:
    bench.check("unknown_2", PASSES)
    (bench.live / "test_unknown_22.py").write_text("def test_unknown_22():\n    pass\n")
    assert bench.run("--apply").ret == 0
    assert bench.outcomes() == {"unknown_2": "PASS"}
