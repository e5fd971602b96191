"""results.json: CTRF's shape, no green UNKNOWN, and the same run made again from it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import report_sample
from report_sample import RUN, check_result, not_asked, record_of

from pytest_amap.catalogue import L1
from pytest_amap.evidence import ctrf
from pytest_amap.results import RunResult, StepResult
from pytest_amap.verdicts import FAIL, UNKNOWN


def run_of(host: str = "live", **changes: Any) -> RunResult:
    """One FAIL, one UNKNOWN, the rest PASS, unknown_7 not selected."""
    results = (check_result("unknown_2", FAIL, "EACCES"), check_result("unknown_3", UNKNOWN), not_asked("unknown_7"))
    steps = (StepResult(0, "prerequisites", "done", seconds=0.5), StepResult(9, "report", "done"))
    return report_sample.run_of(*results, host=host, steps=steps, **changes)


def typed(value: Any, kind: type) -> Any:
    assert type(value) is kind, f"expected {kind.__name__}, saw {value!r}"
    return value


def check_ctrf(document: dict[str, Any]) -> None:
    """The schema's required members, types and closed sets."""
    assert document["reportFormat"] == "CTRF"
    assert re.fullmatch(r"\d+\.\d+\.\d+", document["specVersion"])
    assert set(document) <= {"reportFormat", "specVersion", "reportId", "timestamp", "generatedBy", "extra", "results"}
    found = document["results"]
    assert set(found) <= {"tool", "summary", "tests", "environment", "extra"}
    assert set(found["tool"]) <= {"name", "version", "url", "extra"}
    typed(found["tool"]["name"], str)
    statuses = ("passed", "failed", "skipped", "pending", "other")
    assert set(found["summary"]) == {"tests", *statuses, "start", "stop"}
    for value in found["summary"].values():
        typed(value, int)
    assert found["summary"]["tests"] == len(found["tests"]) == sum(found["summary"][name] for name in statuses)
    known = {"name", "status", "rawStatus", "duration", "message", "attachments", "extra"}
    for test in found["tests"]:
        assert set(test) == known
        assert test["status"] in statuses
        assert typed(test["duration"], int) >= 0
        for name in ("name", "rawStatus", "message"):
            typed(test[name], str)
        for attachment in test["attachments"]:
            assert set(attachment) == {"name", "contentType", "path"}


@pytest.mark.parametrize("host", ["live", "rehearsal"])
def test_ctrf_shape(host: str) -> None:
    document = ctrf.results(run_of(host))
    check_ctrf(document)
    assert json.loads(json.dumps(document)) == document
    assert ("REHEARSAL" in json.dumps(document)) == (host == "rehearsal")


def test_ctrf_of_outcomes() -> None:
    found = ctrf.results(run_of())["results"]
    assert [test["name"] for test in found["tests"]] == list(L1.ids)
    by_name = {test["name"]: test for test in found["tests"]}
    assert {
        name: (test["status"], test["rawStatus"]) for name, test in by_name.items() if test["status"] != "passed"
    } == {
        "unknown_2": ("failed", "FAIL"),
        "unknown_3": ("other", "UNKNOWN"),
        "unknown_7": ("other", "UNKNOWN"),
    }
    assert by_name["unknown_2"]["message"] == "errno: expected EROFS, saw EACCES"
    record = record_of(L1.ids.index("unknown_2") + 10)
    assert by_name["unknown_2"]["extra"]["parts"] == [
        {"name": "errno", "outcome": "FAIL", "expected": "EROFS", "seen": "EACCES", "records": [record]}
    ]
    assert by_name["unknown_2"]["duration"] == 1500
    assert by_name["unknown_7"]["extra"]["selected"] is False
    assert found["summary"]["stop"] - found["summary"]["start"] == 451_500
    assert found["extra"]["steps"][0] == {
        "step": 0, "name": "prerequisites", "outcome": "done", "reason": "", "seconds": 0.5, "records": [],
    }  # fmt: skip
    assert found["extra"]["declared"] == [{"what": "directory-", "reason": "this deployment emits none"}]
    assert found["extra"]["facts"]["landlock_abi"] == "4"
    assert {name: found["extra"][name] for name in ("host", "run", "head")} == {
        "host": "live", "run": RUN, "head": "ab" * 32,
    }  # fmt: skip


@pytest.mark.parametrize("run", [run_of(), run_of("rehearsal"), run_of(interrupted="SIGINT", replay_of="live run x")])
def test_ctrf_is_read_back_as_the_same_run(run: RunResult) -> None:
    assert ctrf.read(json.loads(json.dumps(ctrf.results(run))), L1) == run


def test_ctrf_of_another_catalogue_invents_no_pass() -> None:
    document = ctrf.results(run_of())
    document["results"]["tests"] = [test for test in document["results"]["tests"] if test["name"] != "unknown_1"]
    checks = {check.check.id: check for check in ctrf.read(document, L1).checks}
    assert (checks["unknown_1"].outcome, checks["unknown_1"].selected) == (UNKNOWN, False)


@pytest.mark.parametrize("broken", [{}, {"results": {}}, {"results": {"tests": [{}], "extra": {}}}, {"results": None}])
def test_ctrf_of_something_else_is_refused(broken: dict[str, Any]) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        ctrf.read(broken, L1)
