"""statement.json: the run as an in-toto Statement v1 with the test-result predicate. Pure.

Only PASSED and FAILED are used: WARNED would read as "passed with warnings", and an UNKNOWN is no pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_amap.evidence.ctrf import REHEARSAL
from pytest_amap.observations import plain
from pytest_amap.results import BROKEN, RunResult
from pytest_amap.verdicts import PASS

STATEMENT = "https://in-toto.io/Statement/v1"
TEST_RESULT = "https://in-toto.io/attestation/test-result/v0.1"


def statement(run: RunResult, digests: Mapping[str, str]) -> dict[str, Any]:
    """The statement about the files in `digests` (path relative to runs/<run>/ to SHA-256, at least one)."""
    passed = [check.check.id for check in run.selected if check.outcome is PASS]
    missing = [check.check.id for check in run.checks if check.check.id not in passed]
    steps = [f"step {step.step} {step.name}" for step in run.steps if step.outcome in BROKEN]
    whole = run.all_pass and not run.interrupted and not run.replay_of
    return {
        "_type": STATEMENT,
        "subject": [{"name": name, "digest": {"sha256": value}} for name, value in sorted(digests.items())],
        "predicateType": TEST_RESULT,
        "predicate": {
            "result": "PASSED" if whole else "FAILED",
            "configuration": [_catalogue(run)],
            "passedTests": passed,
            "failedTests": missing + steps,
        },
    }


def _catalogue(run: RunResult) -> dict[str, Any]:
    """What was to be tested, so that a reader can check that all of it was, and where and when it ran."""
    about = {
        "host": run.host,
        "run": run.run,
        "head": run.head,
        "records": run.records,
        "checks": list(run.suite.ids),
        "selected": [check.check.id for check in run.selected],
        "declared": plain(run.declared),
        "interrupted": run.interrupted,
    }
    if run.host == "rehearsal":
        about["note"] = REHEARSAL
    return {"name": f"catalogue {run.suite.name}", "digest": {"sha256": run.suite.digest}, "annotations": about}
