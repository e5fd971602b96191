"""Do a run's reports say what its records and its seal say? Pure; one line a problem."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from pytest_amap.evidence.chain import SEAL, SUMS, digest
from pytest_amap.evidence.ctrf import STATUSES, TO_EVIDENCE
from pytest_amap.evidence.recorded import RESULTS
from pytest_amap.verdicts import PASS, Outcome, worst

STATEMENT = "statement.json"


def problems(
    documents: Mapping[str, dict[str, Any] | None], files: Mapping[str, bytes], records: Mapping[str, str]
) -> Iterator[str]:
    """`documents` are the folder's JSON files read, `files` all of its bytes, `records` path to digest."""
    seal = documents.get(SEAL) or {}
    if RESULTS in documents:
        yield from _guarded(RESULTS, _results(documents[RESULTS] or {}, seal, records))
    if STATEMENT in documents:
        yield from _guarded(STATEMENT, _statement(documents[STATEMENT] or {}, documents, files, records))
    if seal.get("state") != "sealed":
        return
    for name in sorted(files):
        if name.endswith("REPORT.md") and str(seal.get("head")).encode() not in files[name]:
            yield f"{name}: does not show the head {seal.get('head')}"


def _guarded(name: str, found: Iterator[str]) -> Iterator[str]:
    """A document of another shape is one problem, not a traceback."""
    try:
        yield from found
    except (KeyError, TypeError, ValueError, AttributeError):
        yield f"{name}: has not the shape of a {name}"


def _results(document: dict[str, Any], seal: Mapping[str, Any], records: Mapping[str, str]) -> Iterator[str]:
    found = document["results"]
    for name in ("run", "host", "head"):
        if seal.get("state") == "sealed" and found["extra"][name] != seal.get(name):
            yield f"{RESULTS}: expected {name} {seal.get(name)}, saw {found['extra'][name]}"
    statuses = Counter(test["status"] for test in found["tests"])
    for status in ("passed", "failed", "other"):
        if found["summary"][status] != statuses[status]:
            yield f"{RESULTS}: its summary counts {found['summary'][status]} {status}, its tests {statuses[status]}"
    for test in found["tests"]:
        yield from _test(test, records)


def _test(test: Mapping[str, Any], records: Mapping[str, str]) -> Iterator[str]:
    outcome, parts = Outcome(test["rawStatus"]), test["extra"]["parts"]
    if test["status"] != STATUSES[outcome]:
        yield f"{RESULTS}: {test['name']} is {outcome} and {test['status']}"
    if outcome is PASS and worst(Outcome(part["outcome"]) for part in parts) is not PASS:
        yield f"{RESULTS}: {test['name']} is PASS, and its parts are not"
    for record in dict.fromkeys([*test["extra"]["records"], *(name for part in parts for name in part["records"])]):
        if record not in records:
            yield f"{RESULTS}: {test['name']} rests on {record}, which is not there"


def _statement(
    document: dict[str, Any], documents: Mapping[str, Any], files: Mapping[str, bytes], records: Mapping[str, str]
) -> Iterator[str]:
    there = {TO_EVIDENCE + path: value for path, value in records.items()}
    there |= {name: digest(data) for name, data in files.items()}
    subjects = {subject["name"]: subject["digest"]["sha256"] for subject in document["subject"]}
    for name, value in subjects.items():
        if there.get(name) != value:
            yield f"{STATEMENT}: its subject {name} is not the file that is there"
    for name in sorted(set(there) - set(subjects) - {STATEMENT, SEAL, SUMS}):
        yield f"{STATEMENT}: says nothing of {name}"
    tests = documents.get(RESULTS)
    if tests is None:
        return
    passed = {test["name"] for test in tests["results"]["tests"] if test["rawStatus"] == "PASS"}
    predicate = document["predicate"]
    if set(predicate["passedTests"]) - passed or (predicate["result"] == "PASSED" and predicate["failedTests"]):
        yield f"{STATEMENT}: says more passed than {RESULTS} does"
