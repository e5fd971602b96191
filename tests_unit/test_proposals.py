"""A row of the NOT CHECKED table is proposed only by checks of this run that passed."""

from __future__ import annotations

import pytest

from pytest_amap.catalogue import L1
from pytest_amap.report import proposals
from pytest_amap.results import CheckResult
from pytest_amap.verdicts import FAIL, PASS, UNKNOWN, Outcome

WRITES = "Write-authority: no identity but the router's writes the inbound tree"


def run(**outcomes: Outcome) -> list[CheckResult]:
    return [CheckResult(L1.check(check), outcome, "") for check, outcome in outcomes.items()]


def said(item: str, checks: list[CheckResult]) -> str:
    (row,) = proposals.rows([item], checks)
    assert row.item == item
    return row.proposal


def test_each_check_that_bears_on_it_and_passed_is_named() -> None:
    found = said(WRITES, run(pass_criterion_3=PASS, unknown_2=PASS))
    assert found == f"{proposals.ENFORCED}: pass_criterion_3, unknown_2"
    assert said(WRITES, run(pass_criterion_3=PASS, unknown_2=UNKNOWN)) == f"{proposals.ENFORCED}: pass_criterion_3"


@pytest.mark.parametrize(
    "outcomes",
    [{}, {"unknown_1": PASS}, {"pass_criterion_3": UNKNOWN}, {"pass_criterion_3": FAIL, "unknown_2": PASS}],
    ids=str,
)
def test_nothing_is_proposed_without_a_pass_or_against_a_fail(outcomes: dict[str, Outcome]) -> None:
    assert said(WRITES, run(**outcomes)) == ""


def test_an_item_of_other_words_gets_none() -> None:
    every = run(**{check.id: PASS for check in L1.checks})
    assert said("clock skew between hosts", every) == ""
    assert said("IN_REPLY_TO is bound to the notice", every).startswith(proposals.OPERATIONAL)


def test_the_checks_that_bear_on_an_item_exist() -> None:
    known = {check.id for check in L1.checks}
    assert {check for _, _, bearing in proposals.BEARS for check in bearing} <= known
