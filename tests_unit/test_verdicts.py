"""Outcomes of parts and checks, and the exit code they give."""

from __future__ import annotations

import itertools

import pytest

from pytest_amap.catalogue import L1
from pytest_amap.host.run import Run
from pytest_amap.options import Options
from pytest_amap.verdicts import FAIL, PASS, UNKNOWN, Outcome, Part, exit_code, verdict, worst


def part(outcome: Outcome, name: str = "a question") -> Part:
    return Part(name, outcome, "one", f"what {outcome} saw")


@pytest.mark.parametrize("outcomes", [c for n in range(4) for c in itertools.product(Outcome, repeat=n)])
def test_any_fail_is_fail_else_any_unknown_is_unknown_and_nothing_is_unknown(outcomes: tuple[Outcome, ...]) -> None:
    expected = FAIL if FAIL in outcomes else UNKNOWN if UNKNOWN in outcomes or not outcomes else PASS
    assert worst(outcomes) is expected
    assert worst(reversed(outcomes)) is expected
    assert verdict([part(outcome) for outcome in outcomes])[0] is expected


def test_the_reason_names_the_parts_that_decided() -> None:
    parts = [part(PASS, "control"), part(UNKNOWN, "log"), part(FAIL, "mount"), part(FAIL, "policy")]
    assert verdict(parts)[1] == "mount: expected one, saw what FAIL saw; policy: expected one, saw what FAIL saw"
    assert verdict(parts[:2])[1] == "log: expected one, saw what UNKNOWN saw"
    assert verdict(parts[:1])[1] == "control: what PASS saw"
    assert verdict([])[1] == "nothing was judged"


@pytest.mark.parametrize(
    ("status", "steps_failed", "outcomes", "code"),
    [
        (0, False, [PASS, PASS], 0),
        (0, False, [PASS, UNKNOWN], 3),
        (1, False, [PASS, FAIL], 3),
        (1, False, [PASS], 1),  # a test that is no check
        (0, True, [PASS], 1),
        (1, True, [FAIL], 1),
        (3, False, [PASS], 1),
        (3, True, [UNKNOWN], 1),
        (6, False, [PASS], 6),
        (6, False, [UNKNOWN], 3),
        (6, True, [PASS], 1),
        (2, True, [FAIL], 2),
        (4, False, [PASS], 4),
        (5, False, [], 5),
        (42, False, [UNKNOWN], 42),
        (0, False, [], 3),
    ],
)
def test_the_exit_code(status: int, steps_failed: bool, outcomes: list[Outcome], code: int) -> None:
    assert exit_code(status, steps_failed, outcomes) == code


@pytest.fixture
def run() -> Run:
    return Run(L1, Options(), ("unknown_2", "unknown_3"))


def settled(run: Run, *outcomes: Outcome) -> Run:
    run.settle("unknown_2", [part(outcome) for outcome in outcomes])
    run.ended.add("unknown_2")
    return run


def test_a_check_that_never_ran_is_unknown(run: Run) -> None:
    found = run.result_of("unknown_3")
    assert (found.outcome, found.reason) == (UNKNOWN, "did not run to its end")
    assert run.outcomes() == [UNKNOWN, UNKNOWN]


def test_pass_needs_a_settled_test_that_ended_and_was_not_spoiled(run: Run) -> None:
    assert settled(run, PASS).result_of("unknown_2").outcome is PASS
    run.ended.clear()
    assert run.result_of("unknown_2").reason == "did not run to its end"
    settled_late = Run(L1, Options(), ("unknown_2",))
    settled_late.ended.add("unknown_2")
    assert settled_late.result_of("unknown_2").reason == "its test ended without settling it"


@pytest.mark.parametrize(("outcome", "expected"), [(PASS, UNKNOWN), (UNKNOWN, UNKNOWN), (FAIL, FAIL)])
def test_what_came_after_settling_spoils_all_but_a_fail(run: Run, outcome: Outcome, expected: Outcome) -> None:
    settled(run, outcome).spoiled["unknown_2"] = "teardown: no space"
    found = run.result_of("unknown_2")
    assert found.outcome is expected
    assert (found.reason == "teardown: no space") is (outcome is not FAIL)


def test_settling_twice_never_improves(run: Run) -> None:
    settled(settled(run, UNKNOWN), PASS)
    found = run.result_of("unknown_2")
    assert (found.outcome, found.reason) == (UNKNOWN, "settled more than once")


def test_records_are_those_of_the_parts_and_those_made_meanwhile_each_once(run: Run) -> None:
    run.settle("unknown_2", [Part("a", PASS, "x", "y", ("r1", "r2", "")), Part("b", PASS, "x", "y", ("r2",))])
    run.observed["unknown_2"] = ["r2", "r3"]
    assert run.result_of("unknown_2").records == ("r1", "r2", "r3")


def test_the_result_is_the_catalogue_left_join_what_was_found(run: Run) -> None:
    result = settled(run, PASS).result()
    assert [check.check.id for check in result.checks] == list(L1.ids)
    assert [check.check.id for check in result.selected] == ["unknown_2", "unknown_3"]
    assert {check.outcome for check in result.checks if check.check.id != "unknown_2"} == {UNKNOWN}
    assert not result.all_pass
    assert not result.complete


def test_every_step_is_in_the_result_in_order(run: Run) -> None:
    run.step(4, "sandboxes", "failed", "no image")
    run.step(8, "cleanup", "done")
    names = [(step.step, step.name, step.outcome) for step in run.result().steps]
    assert names[:2] == [(0, "prerequisites", "not-run"), (1, "agent_image", "not-run")]
    assert (4, "sandboxes", "failed") in names
    assert names[-1] == (8, "cleanup", "done")
    assert run.steps_failed


@pytest.mark.parametrize("outcome", ["failed", "refused", "done", "already", "not-run"])
def test_which_steps_count_as_failed(run: Run, outcome: str) -> None:
    run.step(4, "sandboxes", outcome)
    assert run.steps_failed is (outcome in ("failed", "refused"))


def test_a_run_that_is_all_pass_is_the_whole_catalogue() -> None:
    run = Run(L1, Options(), L1.ids)
    for name in L1.ids:
        run.settle(name, [part(PASS)])
        run.ended.add(name)
    assert run.result().all_pass
    run.step(7, "delegation", "failed")
    assert not run.result().all_pass


def test_the_run_order_is_the_catalogue_in_another_order() -> None:
    assert sorted(L1.run_order) == sorted(L1.ids)
    assert (L1.run_order[0], L1.run_order[-1]) == ("unknown_6", "pass_criterion_1")
