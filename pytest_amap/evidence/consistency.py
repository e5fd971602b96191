"""Do a run's reports say what its records and its seal say? Pure; one line a problem."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_amap.evidence import ctrf
from pytest_amap.evidence.chain import SEAL, SUMS, digest
from pytest_amap.evidence.recorded import RESULTS
from pytest_amap.results import BROKEN
from pytest_amap.verdicts import PASS, UNKNOWN, Outcome, worst

STATEMENT = "statement.json"
_TOLD = re.compile(rb"^Outcome: ([A-Z]+)$", re.MULTILINE)


def problems(
    documents: Mapping[str, dict[str, Any] | None],
    files: Mapping[str, bytes],
    records: Mapping[str, str],
    concluded: Sequence[Mapping[str, Any]] = (),
) -> Iterator[str]:
    """`documents` are the folder's JSON files read, `files` all of its bytes, `records` path to digest.

    `concluded` are the records that say what the run concluded: one, or none where it did not come so far.
    """
    seal, found = documents.get(SEAL) or {}, documents.get(RESULTS) or {}
    if RESULTS in documents:
        told = (_results(found, seal, records), _as_concluded(found, concluded), _reports(found, seal, files))
        yield from _guarded(RESULTS, itertools.chain(*told))
    elif concluded and seal.get("state") == "sealed":
        yield f"{RESULTS}: is missing, and the records say that there were results"
    if STATEMENT in documents:
        yield from _guarded(STATEMENT, _subjects(documents[STATEMENT] or {}, files, records))
        if RESULTS in documents:
            yield from _guarded(STATEMENT, _statement(documents[STATEMENT] or {}, found))


def _guarded(name: str, found: Iterator[str]) -> Iterator[str]:
    """A document of another shape is one problem, not a traceback."""
    try:
        yield from found
    except (KeyError, TypeError, ValueError, AttributeError):
        yield f"{name}: has not the shape of a {name}"


def _results(document: dict[str, Any], seal: Mapping[str, Any], records: Mapping[str, str]) -> Iterator[str]:
    found = document["results"]
    due = {"run": seal.get("run"), "host": seal.get("host"), "head": seal.get("head"), "records": len(records)}
    for name, value in due.items():
        if found["extra"][name] != value:
            yield f"{RESULTS}: expected {name} {value}, saw {found['extra'][name]}"
    statuses = Counter(test["status"] for test in found["tests"])
    for status in ("passed", "failed", "other"):
        if found["summary"][status] != statuses[status]:
            yield f"{RESULTS}: its summary counts {found['summary'][status]} {status}, its tests {statuses[status]}"
    for test in found["tests"]:
        yield from _test(test, records)


def _test(test: Mapping[str, Any], records: Mapping[str, str]) -> Iterator[str]:
    outcome, parts = Outcome(test["rawStatus"]), test["extra"]["parts"]
    if test["status"] != ctrf.STATUSES[outcome]:
        yield f"{RESULTS}: {test['name']} is {outcome} and {test['status']}"
    if outcome is PASS and worst(Outcome(part["outcome"]) for part in parts) is not PASS:
        yield f"{RESULTS}: {test['name']} is PASS, and its parts are not"
    if outcome is not UNKNOWN and not test["extra"]["selected"]:
        yield f"{RESULTS}: {test['name']} is {outcome}, and was not selected"
    if [attached["path"] for attached in test["attachments"]] != [
        ctrf.TO_EVIDENCE + name for name in test["extra"]["records"]
    ]:
        yield f"{RESULTS}: what is attached to {test['name']} is not its records"
    for record in dict.fromkeys([*test["extra"]["records"], *(name for part in parts for name in part["records"])]):
        if record not in records:
            yield f"{RESULTS}: {test['name']} rests on {record}, which is not there"


def _as_concluded(document: dict[str, Any], records: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The results against what the run's own record says of them."""
    now = ctrf.concluded(document)
    for record in records:
        then = record["observed"]
        for name in sorted({*now, *then}):
            if _bytes(then.get(name)) != _bytes(now.get(name)):
                yield f"{RESULTS}: its {name} are not those that the run concluded and recorded"


def _bytes(value: object) -> bytes:
    """What is compared: a lone surrogate, out of a file name, is an escape in a record and a ? in a report."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True).encode("utf-8", "replace")


def _reports(document: dict[str, Any], seal: Mapping[str, Any], files: Mapping[str, bytes]) -> Iterator[str]:
    due = [test["rawStatus"] for test in document["results"]["tests"]]
    for name in sorted(files):
        if not name.endswith("REPORT.md"):
            continue
        if str(seal.get("head")).encode() not in files[name]:
            yield f"{name}: does not show the head {seal.get('head')}"
        told = [outcome.decode() for outcome in _TOLD.findall(files[name])]
        if told and told != due:
            yield f"{name}: its outcomes are not those of {RESULTS}"


def _subjects(document: dict[str, Any], files: Mapping[str, bytes], records: Mapping[str, str]) -> Iterator[str]:
    there = {ctrf.TO_EVIDENCE + path: value for path, value in records.items()}
    there |= {name: digest(data) for name, data in files.items()}
    subjects = {subject["name"]: subject["digest"]["sha256"] for subject in document["subject"]}
    for name, value in subjects.items():
        if there.get(name) != value:
            yield f"{STATEMENT}: its subject {name} is not the file that is there"
    for name in sorted(set(there) - set(subjects) - {STATEMENT, SEAL, SUMS}):
        yield f"{STATEMENT}: says nothing of {name}"


def _statement(document: dict[str, Any], results: dict[str, Any]) -> Iterator[str]:
    """The statement says what follows from the results, and no more."""
    tests, extra = results["results"]["tests"], results["results"]["extra"]
    passed = [test["name"] for test in tests if test["rawStatus"] == PASS and test["extra"]["selected"]]
    short = [test["name"] for test in tests if test["name"] not in passed]
    short += [f"step {step['step']} {step['name']}" for step in extra["steps"] if step["outcome"] in BROKEN]
    whole = not short and not extra["interrupted"] and not extra.get("replay_of")
    due = {"result": "PASSED" if whole else "FAILED", "passedTests": passed, "failedTests": short}
    about = {name: extra[name] for name in ("host", "run", "head", "records", "declared", "interrupted")}
    about |= {"checks": [test["name"] for test in tests]}
    about |= {"selected": [test["name"] for test in tests if test["extra"]["selected"]]}
    (configuration,) = document["predicate"]["configuration"]
    for told, expected in ((document["predicate"], due), (configuration["annotations"], about)):
        for name, value in expected.items():
            if told[name] != value:
                yield f"{STATEMENT}: its {name} is not what follows from {RESULTS}"
