"""Reports that were forged, and sums and seal made again over them: the records tell on them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sealed_run_bench import REPORT, TWICE, edit, follow, reseal, sealed

from pytest_amap.evidence import verify
from pytest_amap.evidence.store import Evidence


@pytest.fixture
def store(tmp_path: Path) -> Evidence:
    return sealed(tmp_path / "evidence")


FORGERIES: dict[str, tuple[str, Callable[[dict[str, Any]], object] | str, str]] = {
    "another outcome": ("results.json", lambda d: d["results"]["tests"][0].update(rawStatus="FAIL"), "FAIL and passed"),
    "a pass of a failed part": (
        "results.json",
        lambda d: d["results"]["tests"][0]["extra"]["parts"][0].update(outcome="UNKNOWN"),
        "its parts are not",
    ),
    "a count": ("results.json", lambda d: d["results"]["summary"].update(passed=13), "its summary counts 13"),
    "a head": ("results.json", lambda d: d["results"]["extra"].update(head="0" * 64), "expected head"),
    "a host": ("results.json", lambda d: d["results"]["extra"].update(host="live"), "expected host rehearsal"),
    "a run": ("results.json", lambda d: d["results"]["extra"].update(run="20200101T000000Z"), "expected run"),
    "a record": (
        "results.json",
        lambda d: d["results"]["tests"][3]["extra"].update(records=["step-8/none.json"]),
        "rests on step-8/none.json",
    ),
    "another shape": ("results.json", lambda d: d.clear(), "has not the shape"),
    "a subject": ("statement.json", lambda d: d["subject"][0]["digest"].update(sha256="0" * 64), "its subject"),
    "a subject less": ("statement.json", lambda d: d["subject"].pop(), "says nothing of"),
    "a passed test more": ("statement.json", lambda d: d["predicate"]["passedTests"].append("x"), "its passedTests"),
    "a failed test less": ("statement.json", lambda d: d["predicate"]["failedTests"].append("step 3 x"), "failedTests"),
    "a declaration": (
        "statement.json",
        lambda d: d["predicate"]["configuration"][0]["annotations"].update(declared=[{"what": "directory-"}]),
        "its declared",
    ),
    "an annotation less": (
        "statement.json",
        lambda d: d["predicate"]["configuration"][0]["annotations"].pop("interrupted"),
        "has not the shape",
    ),
    "a pass of nobody": (
        "results.json",
        lambda d: d["results"]["tests"][0]["extra"].update(selected=False),
        "selected",
    ),
    "a count of records": ("results.json", lambda d: d["results"]["extra"].update(records=9), "expected records 7"),
    "an attachment": (
        "results.json",
        lambda d: d["results"]["tests"][0]["attachments"][0].update(path="../../../../etc/passwd"),
        "what is attached",
    ),
    "a check less": (
        "statement.json",
        lambda d: d["predicate"]["configuration"][0]["annotations"]["checks"].pop(),
        "its checks",
    ),
    "a key twice": ("results.json", TWICE, "has not the shape"),
    "a number that is none": ("results.json", lambda d: d.update(x=float("nan")), "has not the shape"),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_verify_finds_a_forged_report_that_was_sealed_again(store: Evidence, forgery: str) -> None:
    name, change, words = FORGERIES[forgery]
    edit(store.folder / name, change)
    reseal(store)
    assert any(words in line for line in verify.problems(store.folder))


def test_the_forger_who_knows_every_file_is_taken_for_honest_where_nothing_changed(store: Evidence) -> None:
    follow(store)
    assert verify.problems(store.folder) == []


def outcome(document: dict[str, Any], raw: str, status: str) -> None:
    document["tests"][0].update(rawStatus=raw, status=status)
    document["summary"].update(passed=11, failed=int(status == "failed"), other=int(status == "other"))


FOLLOWED: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "an outcome": (lambda d: outcome(d, "FAIL", "failed"), "its checks are not"),
    "a reason": (lambda d: d["tests"][0].update(message="better"), "its checks are not"),
    "a part": (lambda d: d["tests"][0]["extra"]["parts"][0].update(seen="better"), "its checks are not"),
    "a fact": (lambda d: d["extra"]["facts"].update(kernel="6.8"), "its facts are not"),
    "a declaration": (lambda d: d["extra"]["declared"].append({"what": "x-", "reason": "y"}), "its declared are not"),
    "a step": (lambda d: d["extra"]["steps"][0].update(outcome="already"), "its steps are not"),
}


@pytest.mark.parametrize("forgery", FOLLOWED)
def test_verify_finds_results_that_the_run_did_not_conclude(store: Evidence, forgery: str) -> None:
    """Though every report was made to say the same, and the records and their head are as they were."""
    change, words = FOLLOWED[forgery]
    edit(store.folder / "results.json", lambda document: change(document["results"]))
    follow(store)
    assert any(words in line for line in verify.problems(store.folder))


def test_verify_finds_results_that_were_taken_away(store: Evidence) -> None:
    for name in ("results.json", "statement.json"):
        (store.folder / name).unlink()
    edit(
        store.folder / "seal.json",
        lambda seal: [seal["files"].pop(name) for name in ("results.json", "statement.json")],
    )
    reseal(store)
    assert verify.problems(store.folder) == ["results.json: is missing, and the records say that there were results"]


def test_verify_finds_a_report_of_other_outcomes(store: Evidence) -> None:
    path = store.folder / REPORT
    path.write_text(path.read_text().replace("Outcome: PASS", "Outcome: FAIL", 1))
    reseal(store)
    assert any("its outcomes are not those" in line for line in verify.problems(store.folder))


def test_verify_believes_no_run_that_calls_itself_abandoned(store: Evidence) -> None:
    """What a run that was cut off had written says the same as its records, too."""
    edit(store.folder / "results.json", lambda d: d["results"]["extra"].update(head="0" * 64))
    edit(store.folder / "seal.json", lambda seal: seal.update(state="abandoned"))
    follow(store)
    assert any("results.json: expected head" in line for line in verify.problems(store.folder))


def test_verify_finds_a_report_without_the_head(store: Evidence) -> None:
    (store.folder / REPORT).write_text("# all is well\n")
    reseal(store)
    assert any("does not show the head" in line for line in verify.problems(store.folder))


def test_verify_finds_a_rehearsal_made_live(store: Evidence) -> None:
    edit(store.folder / "seal.json", lambda seal: (seal.pop("rehearsal"), seal.update(host="live")))
    reseal(store)
    assert "seal.json: its host is not that of the records" in verify.problems(store.folder)
