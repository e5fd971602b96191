"""pytest-timeout may fire anywhere: UNKNOWN rows, a report and a clean host are what it leaves."""

from __future__ import annotations

from pathlib import Path

import pytest
from rehearsing import Rehearsal, rehearse
from victims import assert_as_it_was, assert_nothing_outlives, victim

from pytest_amap.evidence import verify

HERE = str(Path(__file__).parent)


@pytest.mark.parametrize(
    ("moment", "check", "code"),
    [("fixture", "unknown_4", 1), ("body", "unknown_3", 3), ("teardown", "unknown_2", 1)],
)
def test_a_timeout_leaves_unknown_a_report_and_a_clean_host(home: Path, moment: str, check: str, code: int) -> None:
    with victim(home, "-p", "late", "-k", check, environ={"PYTHONPATH": HERE, "AMAP_TEST_HANG": moment}) as running:
        ended = running.end()
    assert ended.code == code, ended.tail(60)
    assert ended.outcomes == {check: "UNKNOWN"}
    assert "Timeout" in reason(ended, check)
    assert verify.problems(home / "evidence") == []
    assert_nothing_outlives(home)
    assert_as_it_was(home)


def reason(ended: Rehearsal, check: str) -> str:
    return str(next(test["message"] for test in ended.results["tests"] if test["name"] == check))


@pytest.mark.parametrize("selected", [("-k", "unknown_2"), ("--only-step", "1")], ids=["check", "step"])
def test_a_low_timeout_in_an_ini_file_changes_nothing(home: Path, selected: tuple[str, str]) -> None:
    """Our own limits stand: neither a check nor a step is cut off, and no process is ended from a thread."""
    done = rehearse(home, "-o", "timeout=1", "-o", "timeout_method=thread", *selected)
    assert done.code == 0, done.tail()
    assert set(done.outcomes.values()) <= {"PASS"}
