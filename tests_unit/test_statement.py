"""statement.json: in-toto's shape, and PASSED only when all of the catalogue passed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from report_sample import rehearsal_of, run_of

from pytest_amap.catalogue import L1
from pytest_amap.report.statement import statement
from pytest_amap.results import Declared, RunResult, StepResult
from pytest_amap.verdicts import FAIL, UNKNOWN

DIGESTS = {"results.json": "0" * 64, "../../step-8/x.json": "1" * 64}


def with_check(run: RunResult, **changes: Any) -> RunResult:
    return replace(run, checks=(replace(run.checks[0], **changes), *run.checks[1:]))


def test_statement_of_a_clean_run() -> None:
    document = statement(run_of(), DIGESTS)
    assert set(document) == {"_type", "subject", "predicateType", "predicate"}
    assert document["_type"] == "https://in-toto.io/Statement/v1"
    assert document["predicateType"] == "https://in-toto.io/attestation/test-result/v0.1"
    assert document["subject"] == [
        {"name": "../../step-8/x.json", "digest": {"sha256": "1" * 64}},
        {"name": "results.json", "digest": {"sha256": "0" * 64}},
    ]
    predicate = document["predicate"]
    assert (predicate["result"], predicate["passedTests"], predicate["failedTests"]) == ("PASSED", list(L1.ids), [])
    assert "warnedTests" not in predicate
    (catalogue,) = predicate["configuration"]
    assert catalogue["digest"] == {"sha256": L1.digest}
    assert catalogue["annotations"]["checks"] == catalogue["annotations"]["selected"] == list(L1.ids)
    assert catalogue["annotations"]["head"] == "ab" * 32


@pytest.mark.parametrize(
    ("spoil", "failed"),
    [
        (lambda run: with_check(run, outcome=UNKNOWN), ["pass_criterion_1"]),
        (lambda run: with_check(run, outcome=FAIL), ["pass_criterion_1"]),
        (lambda run: with_check(run, outcome=UNKNOWN, selected=False), ["pass_criterion_1"]),
        (lambda run: with_check(run, selected=False), ["pass_criterion_1"]),
        (lambda run: replace(run, steps=(StepResult(4, "sandboxes", "failed"),)), ["step 4 sandboxes"]),
        (lambda run: replace(run, steps=(StepResult(2, "gateway", "refused"),)), ["step 2 gateway"]),
        (lambda run: replace(run, interrupted="SIGTERM"), []),
        (lambda run: replace(run, replay_of="live run x"), []),
    ],
    ids=["unknown", "fail", "not selected", "selected otherwise", "step failed", "gate refused", "interrupt", "replay"],
)
def test_statement_is_not_passed(spoil: Callable[[RunResult], RunResult], failed: list[str]) -> None:
    predicate = statement(spoil(run_of()), DIGESTS)["predicate"]
    assert (predicate["result"], predicate["failedTests"]) == ("FAILED", failed)
    assert not set(predicate["passedTests"]) & set(failed)


def test_statement_names_what_was_declared_and_the_host() -> None:
    document = statement(rehearsal_of(declared=(Declared("directory-", "no mail"),)), DIGESTS)
    about = document["predicate"]["configuration"][0]["annotations"]
    assert about["declared"] == [{"what": "directory-", "reason": "no mail"}]
    assert about["host"] == "rehearsal"
    assert "REHEARSAL" in json.dumps(document)
    assert "REHEARSAL" not in json.dumps(statement(run_of(), DIGESTS))
