"""results.json: a run in the Common Test Report Format, and a run made again from it. Pure.

UNKNOWN is `other` with rawStatus UNKNOWN: CTRF has no word for it, and it must be green nowhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pytest_amap.catalogue import Suite
from pytest_amap.evidence.chain import HOSTS
from pytest_amap.observations import build, plain
from pytest_amap.results import CheckResult, Declared, Earlier, Fact, NotCheckedRow, RunResult, StepResult, Wait
from pytest_amap.verdicts import FAIL, PASS, UNKNOWN, Outcome, Part

SPEC_VERSION = "0.0.0"
STATUSES = {PASS: "passed", FAIL: "failed", UNKNOWN: "other"}
REHEARSAL = "REHEARSAL: this proves the suite, never an OpenShell host"
TO_EVIDENCE = "../../"
"""From runs/<run>/ to evidence/."""

CONCLUDED = "concluded"
"""Label of a run's last record: what the run concluded, so that the head stands for the verdicts, too."""

_LATE = ("cleanup", "report")
"""Steps that may still fail when the chain is closed."""
_LISTS: dict[str, Any] = {
    "steps": tuple[StepResult, ...],
    "declared": tuple[Declared, ...],
    "not_checked": tuple[NotCheckedRow, ...],
    "left": tuple[str, ...],
    "waits": tuple[Wait, ...],
}
_SCALARS = ("host", "run", "head", "records", "started", "ended", "posture", "not_checked_problem", "interrupted")


def results(run: RunResult) -> dict[str, Any]:
    """The document of results.json; every check of the catalogue is in it, selected or not."""
    statuses = [STATUSES[check.outcome] for check in run.checks]
    return {
        "reportFormat": "CTRF",
        "specVersion": SPEC_VERSION,
        "timestamp": run.ended,
        "generatedBy": "pytest-amap",
        "results": {
            "tool": _tool(run),
            "summary": {
                "tests": len(statuses),
                **{status: statuses.count(status) for status in ("passed", "failed", "pending", "skipped", "other")},
                "start": _milliseconds(run.started),
                "stop": _milliseconds(run.ended),
            },
            "tests": [_test(check) for check in run.checks],
            "extra": _extra(run),
        },
    }


def concluded(document: Mapping[str, Any]) -> dict[str, Any]:
    """What a run's last record holds of the document that `results` made; raises KeyError or TypeError.

    Everything that a reader may rest on and that no longer changes when the chain is closed.
    """
    found = document["results"]
    extra = found["extra"]
    return {
        "checks": [_concluded(test) for test in found["tests"]],
        "steps": [step for step in extra["steps"] if step["name"] not in _LATE],
        **{name: extra[name] for name in ("host", "run", "facts", "declared", "posture", "not_checked")},
    }


def _concluded(test: Mapping[str, Any]) -> dict[str, Any]:
    about = {name: test[name] for name in ("name", "rawStatus", "message")}
    return about | {name: test["extra"][name] for name in ("selected", "parts", "records")}


def read(document: Mapping[str, Any], suite: Suite) -> RunResult:
    """The run that `results` made `document` of; raises KeyError, TypeError or ValueError when it is no such thing.

    A check that the suite no longer has is left out; one that is new is "not in this run".
    """
    found = document["results"]
    extra = found["extra"]
    tests = {test["name"]: test for test in found["tests"]}
    plainly: dict[str, Any] = {name: build(int if name == "records" else str, extra[name]) for name in _SCALARS}
    plainly |= {name: build(kind, extra[name]) for name, kind in _LISTS.items()}
    if plainly["host"] not in HOSTS:
        raise ValueError(f"expected host {' or '.join(HOSTS)}, saw {plainly['host']!r}")
    return RunResult(
        suite=suite,
        checks=tuple(_check(suite, name, tests.get(name)) for name in suite.ids),
        facts=tuple(Fact(name, value) for name, value in build(dict[str, str], extra["facts"]).items()),
        replay_of=build(str, extra.get("replay_of", "")),
        **plainly,
    )


def _tool(run: RunResult) -> dict[str, str]:
    version = next((fact.value for fact in run.facts if fact.name == "plugin"), "not measured")
    return {"name": "pytest-amap", "version": version}


def _test(check: CheckResult) -> dict[str, Any]:
    test: dict[str, Any] = {
        "name": check.check.id,
        "status": STATUSES[check.outcome],
        "rawStatus": check.outcome.value,
        "duration": round(check.seconds * 1000),
        "message": check.reason,
        "attachments": [
            {"name": record, "contentType": "application/json", "path": TO_EVIDENCE + record}
            for record in check.records
        ],
        "extra": {
            "title": check.check.title,
            "selected": check.selected,
            "seconds": check.seconds,
            "parts": plain(check.parts),
            "records": list(check.records),
        },
    }
    if check.earlier:
        test["extra"]["earlier"] = plain(check.earlier)
    return test


def _extra(run: RunResult) -> dict[str, Any]:
    extra = {
        **{name: getattr(run, name) for name in _SCALARS},
        "suite": run.suite.name,
        "catalogue": run.suite.digest,
        **{name: plain(getattr(run, name)) for name in _LISTS},
        "facts": {fact.name: fact.value for fact in run.facts},
    }
    if run.replay_of:
        extra["replay_of"] = run.replay_of
    if run.host == "rehearsal":
        extra["note"] = REHEARSAL
    return extra


def _check(suite: Suite, name: str, test: Mapping[str, Any] | None) -> CheckResult:
    if test is None:
        return CheckResult(suite.check(name), UNKNOWN, "not in this run", selected=False)
    extra = test["extra"]
    return CheckResult(
        suite.check(name),
        Outcome(test["rawStatus"]),
        build(str, test["message"]),
        parts=build(tuple[Part, ...], extra["parts"]),
        records=build(tuple[str, ...], extra["records"]),
        selected=build(bool, extra["selected"]),
        seconds=build(float, extra["seconds"]),
        earlier=build(Earlier, extra["earlier"]) if "earlier" in extra else None,
    )


def _milliseconds(stamp: str) -> int:
    return round(datetime.fromisoformat(stamp).timestamp() * 1000)
