"""The closing lines: ASCII, within the width, the last line the whole truth."""

from __future__ import annotations

import pytest
from report_sample import HOSTILE, check_result, only, rehearsal_of, run_of

from pytest_amap.catalogue import L1
from pytest_amap.report.terminal import Line, Places, ascii_only, status, summary
from pytest_amap.results import Declared, Fact, RunResult, StepResult
from pytest_amap.verdicts import FAIL, PASS, UNKNOWN, Outcome

PLACES = Places("/e/runs/r/POC-REPORT.md", "/e/runs/r/report.html", "/e", "pytest tests_live --apply")
DECLARED = "; declared, not observed: directory-"


def texts(run: RunResult, width: int = 80) -> list[str]:
    return [line.text for line in summary(run, width, PLACES)]


def test_one_line_a_check_in_report_order_with_its_reason() -> None:
    lines = texts(run_of())
    assert [line.split()[1] for line in lines[:12]] == list(L1.ids)
    assert lines[2] == "PASS     pass_criterion_3  errno: EROFS"


def test_what_is_not_pass_shows_its_whole_reason_below_the_name() -> None:
    reason = "the first word and then " + "many more words " * 12 + "last."
    lines = texts(run_of(check_result("pass_criterion_1", UNKNOWN, reason=reason)), 60)
    assert lines[0].startswith("UNKNOWN  pass_criterion_1  the first word")
    assert lines[1].startswith(" " * 9 + "words many")
    assert any(line.endswith("last.") for line in lines)


def test_a_pass_stays_on_one_line() -> None:
    lines = texts(run_of(check_result("pass_criterion_1", reason="word " * 60)), 60)
    assert lines[0].endswith("...")
    assert lines[1].startswith("PASS     pass_criterion_2")


@pytest.mark.parametrize("width", [0, 40, 60, 80, 200])
def test_lines_fit_the_width_and_are_ascii(width: int) -> None:
    run = rehearsal_of(
        check_result("unknown_2", FAIL, reason=HOSTILE),
        check_result("unknown_3", UNKNOWN, reason="x" * 100_000),
        declared=tuple(Declared(f"class-{n}-", "reason") for n in range(20)),
    )
    lines = texts(run, width)
    free = [line for line in lines if line.startswith(("  pytest ", "report: ", "page: ", "head: "))]
    assert [line for line in lines if len(line) > max(width, 40) and line not in free] == []
    assert all(line.isascii() and line.isprintable() for line in lines)


def test_the_places_are_named() -> None:
    assert [line for line in texts(run_of()) if line.startswith(("report", "page", "evidence"))] == [
        "report: /e/runs/r/POC-REPORT.md",
        "page: /e/runs/r/report.html",
        "evidence: /e",
    ]


def test_duration_and_longest_waits() -> None:
    assert "took 7 min 32 s, longest waits: beta's reply 41 s; the router's roster 3.2 s" in texts(run_of())


def test_counts_name_every_outcome_and_what_was_selected() -> None:
    assert "12 of 12 checks selected: 11 PASS, 1 FAIL, 0 UNKNOWN" in texts(run_of(check_result("unknown_3", FAIL)))
    assert "1 of 12 checks selected: 1 PASS, 0 FAIL, 0 UNKNOWN" in texts(only("unknown_3"))


def test_an_interrupt_is_named() -> None:
    assert any(line.endswith("; interrupted by SIGTERM") for line in texts(run_of(interrupted="SIGTERM")))


def test_times_that_cannot_be_read_are_left_out() -> None:
    assert not any(line.startswith("took") for line in texts(run_of(started="", ended="soon")))


def test_the_versions_that_were_measured_are_told() -> None:
    facts = (Fact("openshell", "openshell 0.1.2"), Fact("docker", ""), Fact("kernel", "Linux 6.8"))
    assert "versions: openshell 0.1.2; kernel Linux 6.8" in texts(run_of(facts=facts))
    unmeasured = (Fact("openshell", "not measured: step 0 failed"),)
    assert not any(line.startswith("versions") for line in texts(run_of(facts=unmeasured)))


def test_a_place_and_a_command_can_be_copied_as_they_are() -> None:
    """Only what nobody can see is shown as an escape; a terminal that has no such letter is pytest's own matter."""
    places = Places("/hér/Prüf stand/r.md", "", "/hér\x1b[2J", "pytest tests_live --apply --amap-home '/hér/h'")
    lines = [line.text for line in summary(only("unknown_3"), 80, places)]
    assert "report: /hér/Prüf stand/r.md" in lines
    assert "evidence: /hér\\x1b[2J" in lines
    assert "  pytest tests_live --apply --amap-home '/hér/h'" in lines


@pytest.mark.parametrize(
    ("run", "advice", "command"),
    [
        (run_of(), "next: read the report line by line", ""),
        (rehearsal_of(), "next: the same on a dedicated host, without --rehearsal", ""),
        (only("unknown_3"), "next: ask the checks that were not selected", "  pytest tests_live --apply"),
        (
            run_of(*(check_result(f"unknown_{n}", outcome) for n, outcome in ((3, UNKNOWN), (6, FAIL), (7, FAIL)))),
            "next: unknown_6 is FAIL: read step-8/",
            "  pytest tests_live --apply -k unknown_6",
        ),
        (
            run_of(check_result("unknown_3", UNKNOWN), check_result("unknown_7", UNKNOWN)),
            "next: unknown_3 is UNKNOWN: read step-8/",
            "  pytest tests_live --apply -k unknown_3",
        ),
        (
            run_of(check_result("unknown_3", UNKNOWN), interrupted="SIGINT"),
            "next: run it again, what is done is left alone",
            "  pytest tests_live --apply",
        ),
        (
            run_of(check_result("unknown_3", UNKNOWN), steps=(StepResult(4, "sandboxes", "failed", "why"),)),
            "next: mend step 4 (sandboxes)",
            "  pytest tests_live --apply",
        ),
    ],
    ids=["all-pass", "rehearsal", "partial", "first-fail", "first-unknown", "interrupted", "failed-step"],
)
def test_what_to_do_next(run: RunResult, advice: str, command: str) -> None:
    lines = texts(run)
    at = next(index for index, line in enumerate(lines) if line.startswith("next:"))
    assert lines[at].startswith(advice)
    assert not command or command in lines[at + 1 : -1]


@pytest.mark.parametrize(
    ("run", "last"),
    [
        (run_of(declared=()), "12 PASS"),
        (run_of(), f"12 PASS{DECLARED}"),
        (rehearsal_of(check_result("unknown_3", UNKNOWN)), f"REHEARSAL: 11 PASS, 1 UNKNOWN{DECLARED}"),
        (run_of(declared=(), steps=(StepResult(0, "prerequisites", "refused", "why"),)), "12 PASS, a step failed"),
        (only("unknown_3"), f"1 PASS{DECLARED}"),
    ],
    ids=["pass", "declared", "rehearsal", "step-failed", "partial"],
)
def test_the_last_line(run: RunResult, last: str) -> None:
    assert texts(run)[-1] == last


@pytest.mark.parametrize(
    ("run", "colour"),
    [
        (run_of(), "green"),
        (run_of(check_result("unknown_3", UNKNOWN)), "yellow"),
        (run_of(check_result("unknown_3", FAIL)), "red"),
        (run_of(steps=(StepResult(0, "prerequisites", "failed", "why"),)), "red"),
        (run_of(checks=()), "yellow"),
    ],
    ids=["pass", "unknown", "fail", "step", "nothing"],
)
def test_the_last_line_is_green_only_when_all_is_well(run: RunResult, colour: str) -> None:
    assert summary(run, 80, PLACES)[-1].markup == {colour: True, "bold": True}


def test_a_failed_step_is_named_first() -> None:
    lines = summary(run_of(steps=(StepResult(4, "sandboxes", "failed", "exit 1"),)), 80, PLACES)
    assert lines[0] == Line("failed   step 4 sandboxes  exit 1", {"red": True})


@pytest.mark.parametrize(
    ("outcome", "want"),
    [
        (PASS, ("passed", ".", "PASS")),
        (FAIL, ("failed", "F", "FAIL")),
        (UNKNOWN, ("unknown", "U", "UNKNOWN")),
    ],
)
def test_the_letter_of_an_outcome(outcome: Outcome, want: tuple[str, str, str]) -> None:
    category, letter, (word, _markup) = status(outcome)
    assert (category, letter, word) == want


def test_ascii_twins() -> None:
    assert ascii_only("“a” — b… ×") == '"a" - b... \\xd7'


def test_nothing_of_a_run_moves_the_cursor() -> None:
    lines = summary(run_of(head="\x1b[2J"), 80, Places(evidence="e"))
    assert "head: \\x1b[2J" in [line.text for line in lines]
