"""The Markdown report: the template in order, nothing ticked by itself, valid whatever the text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_sample import HOSTILE, RUN, check_result, only, record_of, rehearsal_of, run_of

from pytest_amap.catalogue import L1
from pytest_amap.report.markdown import REHEARSED, draft
from pytest_amap.report.markdown_text import inline, table
from pytest_amap.results import Declared, Fact, NotCheckedRow, StepResult
from pytest_amap.verdicts import FAIL, UNKNOWN

FIELDS = ["Date:", "Host:", "OpenShell:", "Claude Code:", "Fleet:", "Accepted gateway posture (D6, Decision 1):"]


def section(text: str, heading: str) -> str:
    return next(block for block in re.split(r"(?m)^(?=#{1,3} )", text) if block.startswith(heading))


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def test_headings_stand_in_the_template_s_order() -> None:
    headings = [line for line in draft(run_of()).splitlines() if line.startswith("#")]
    checks = [f"### {check.heading}: {check.title}" for check in L1.checks]
    template = ["# POC-REPORT: amap-deploy-openshell, L1", "## What worked", "## Pass criteria", *checks[:5]]
    template += ["## Unknowns", *checks[5:], "## NOT-CHECKED mapping", "## DESIGN.md tags"]
    assert headings[: len(template)] == template


def test_fields_stand_in_the_template_s_order_and_are_filled() -> None:
    lines = draft(run_of()).splitlines()
    assert [line for line in lines if line.startswith(tuple(FIELDS))][1:5] == [
        "Host: kernel 6.8.0-142-generic, Docker 29.8.1",
        "OpenShell: openshell 0.1.2",
        "Claude Code: 2.1.284",
        "Fleet: examples/fleet.json; task graph: alpha may task beta; beta may not task alpha",
    ]
    assert [field for line in lines for field in FIELDS if line.startswith(field)] == FIELDS
    assert "Date: 2026-11-29" in lines


def test_each_check_has_outcome_evidence_and_parts() -> None:
    text = section(draft(run_of(check_result("unknown_2", FAIL, "EACCES"))), "### Unknown 2")
    _heading, outcome, evidence, *rest = text.splitlines()
    assert outcome == "Outcome: FAIL"
    assert evidence == f"Evidence: errno: expected EROFS, saw EACCES. Records: {record_of(16)}"
    assert f"- errno: FAIL. Expected: EROFS. Seen: EACCES. Records: {record_of(16)}" in rest


def test_a_check_that_was_not_selected_shows_the_earlier_outcome_as_information() -> None:
    text = section(draft(only("unknown_3")), "### Unknown 2")
    assert "Outcome: UNKNOWN\n" in text
    assert "not selected in this run. Earlier: PASS in run 20261128T080000Z (same identity)" in text


def test_a_claim_is_shown_as_one() -> None:
    seen = "delivered, claimed by beta; a bound reply"
    text = section(draft(run_of(check_result("unknown_4", seen=seen))), "### Unknown 4")
    assert f"Seen (a claim): {seen}" in text


def test_the_posture_line_gives_measured_values_the_operator_s_words_and_the_risk() -> None:
    record = "step-2/20261129T120000Z-003-gateway-toml.json"
    step = StepResult(2, "posture", "done", records=(record,))
    run = run_of(check_result("unknown_6", records=(record,)), steps=(step,))
    line = next(line for line in draft(run).splitlines() if line.startswith("Accepted gateway posture"))
    assert "PASS (unknown_6). Records of step 2: " in line
    assert line.count(record) == 1
    assert "one operator holds the credentials" in line
    assert "another agent's outbox included" in line


@pytest.mark.parametrize("posture", ["", "not stated"])
def test_a_posture_that_nobody_stated_stays_open(posture: str) -> None:
    assert "not stated (operator: fill in)" in draft(run_of(posture=posture))


def test_a_fact_that_was_not_measured_stays_open() -> None:
    text = draft(run_of(facts=(Fact("kernel", "not measured: no uname"),)))
    assert "Host: kernel not measured: no uname (operator: fill in), Docker not measured (operator: fill in)" in text


def test_not_checked_rows_are_never_ticked() -> None:
    rows = [line for line in draft(run_of()).splitlines() if line.startswith("| ")]
    proposed, open_row = (cells(row) for row in rows if cells(row)[0] in ("peer origin: sender", "intake"))
    assert proposed[1:] == ["", "", "", "UNKNOWN; proposed: still operational: unknown_4, confirm"]
    assert open_row[1:] == ["", "", "", "UNKNOWN"]


def test_a_list_of_items_that_could_not_be_read_says_so() -> None:
    text = draft(run_of(not_checked=(), not_checked_problem="validate.py has no such block"))
    assert "could not be read: validate.py has no such block (operator: fill in)" in text


def test_tags_are_proposed_from_what_was_settled_only() -> None:
    text = section(draft(run_of(check_result("unknown_1", UNKNOWN), check_result("unknown_2", FAIL))), "## DESIGN.md")
    assert "unknown_1 " not in text
    assert f"is contradicted, by unknown_2 of run {RUN}" in text
    assert f"may move to \\[verified\\], by unknown_3 of run {RUN}" in text


def test_a_rehearsal_says_so_in_every_section_and_moves_no_tag() -> None:
    text = draft(rehearsal_of())
    assert text.startswith("# REHEARSAL-REPORT: amap-deploy-openshell, L1\n\n**REHEARSAL")
    assert all(REHEARSED in block for block in re.split(r"(?m)^(?=#{1,3} )", text) if block)
    assert "[verified" not in text.replace("\\", "")


def test_a_live_report_has_no_word_of_rehearsal() -> None:
    assert "REHEARSAL" not in draft(run_of())


def test_a_replay_of_a_rehearsal_is_one() -> None:
    assert draft(run_of(replay_of=f"rehearsal run {RUN}")).startswith("# REHEARSAL-REPORT")


def test_what_was_left_and_declared_is_listed() -> None:
    text = draft(run_of())
    assert "- beta was restarted twice" in section(text, "## Altered")
    assert "- directory-: this deployment emits none" in section(text, "## Declared")
    assert f"Head of their chain: {'ab' * 32}" in section(text, "## Run")


def test_a_failed_step_stands_under_what_worked() -> None:
    failed = StepResult(4, "sandboxes", "failed", "create of beta ended with exit 1")
    text = section(draft(run_of(steps=(failed,))), "## What worked")
    assert "Step 4 (sandboxes) failed: create of beta ended with exit 1" in text


def hostile_draft(text: str) -> str:
    result = check_result("unknown_2", FAIL, text, reason=text, records=(text,))
    return draft(
        run_of(
            result,
            facts=(Fact("kernel", text), Fact(text, text)),
            declared=(Declared(text, text),),
            not_checked=(NotCheckedRow(text, text),),
            not_checked_problem=text,
            posture=text,
            left=(text,),
            steps=(StepResult(3, text, "failed", text),),
        )
    )


def assert_sound(text: str) -> None:
    """No tag or placeholder, the same headings as ever, and each table row as wide as its header."""
    assert "<" not in text
    assert ">" not in text
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        line for line in draft(run_of()).splitlines() if line.startswith("#")
    ]
    width = 0
    for line in text.split("\n"):
        width = (width or len(cells(line))) if line.startswith("|") else 0
        assert not width or len(cells(line)) == width, line
    text.encode()


def test_hostile_text_is_only_text() -> None:
    text = hostile_draft(HOSTILE)
    assert_sound(text)
    assert re.search(r"(?<!\\)[\[\]`]", text) is None
    assert not re.search(r"[\x00-\x09\x0b-\x1f\u202a-\u202e]", text)


@given(st.text(st.characters(codec=None) | st.sampled_from("|\\`<>&[]!#*_~-\n\r\t ")))
def test_any_text_leaves_the_report_sound(text: str) -> None:
    assert_sound(hostile_draft(text))


def test_a_long_text_is_cut_and_says_so() -> None:
    text = hostile_draft("x" * 100_000)
    assert len(text) < 60_000
    assert "more characters\\]" in text


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("O_NOFOLLOW|O_DIRECTORY", "O_NOFOLLOW\\|O_DIRECTORY"),
        ("pass_criterion_3", "pass_criterion_3"),
        ("*:17670", "\\*:17670"),
        ("a\n\tb", "a b"),
        ("a && <b>", "a &amp;&amp; &lt;b&gt;"),
        ("\\|", "\\\\\\|"),
        ("## Pass criteria", "\\## Pass criteria"),
        ("#12", "#12"),
        ("- x", "\\- x"),
        ("-1", "-1"),
        ("1. x", "1\\. x"),
        ("1.2", "1.2"),
        ("---", "\\---"),
    ],
)
def test_inline(text: str, want: str) -> None:
    assert inline(text) == want


def test_a_table_of_nothing_is_a_header() -> None:
    assert table(("a", "b"), []) == ["| a | b |", "|---|---|"]


def test_a_statement_of_the_operator_ends_with_one_full_stop() -> None:
    text = draft(run_of(posture="Nobody else can reach it. I am alone."))
    assert "in the operator's words: Nobody else can reach it. I am alone." in text
    assert "alone.." not in text
