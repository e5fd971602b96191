"""What a person reads in the terminal about a run: letters and summary lines. ASCII only, no colour codes. Pure.

The caller prints a `Line` with `terminalreporter.line(line.text, **line.markup)`, so that pytest decides on colours.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field

from pytest_amap.foreign import one_line, visible
from pytest_amap.report.text import is_rehearsal, seconds_between, span
from pytest_amap.results import BROKEN, CheckResult, RunResult, StepResult
from pytest_amap.verdicts import FAIL, PASS, UNKNOWN, Outcome, worst

COLOURS = {PASS: {"green": True}, FAIL: {"red": True}, UNKNOWN: {"yellow": True}}
LETTERS = {PASS: ".", FAIL: "F", UNKNOWN: "U"}
CATEGORIES = {PASS: "passed", FAIL: "failed", UNKNOWN: "unknown"}

VERSIONS = {"openshell": "", "docker": "docker", "claude_code": "claude code", "kernel": "kernel"}
"""Fact to the word before it; OpenShell's answer begins with its own name."""

_NARROWEST = 40
_LONGEST_WAITS = 3
_LINES_A_REASON = 6
_TYPOGRAPHIC = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "…": "...", "\u00a0": " "})

Status = tuple[str, str, tuple[str, dict[str, bool]]]


@dataclass(frozen=True)
class Line:
    """One line of at most the width asked for; `markup` are keywords of pytest's terminal writer."""

    text: str
    markup: dict[str, bool] = field(default_factory=dict)


@dataclass(frozen=True)
class Places:
    """Where the person finds things: paths as the person knows them, "" for what was not written.

    `command` is what was typed, without a selection: `pytest tests_live --apply`.
    """

    report: str = ""
    page: str = ""
    evidence: str = ""
    command: str = "pytest tests_live --apply"


def status(outcome: Outcome) -> Status:
    """What pytest_report_teststatus returns: category, letter, word."""
    return CATEGORIES[outcome], LETTERS[outcome], (outcome.value, COLOURS[outcome])


def ascii_only(text: str) -> str:
    """The text for a terminal of any locale; what is not ASCII becomes an escape, dashes and quotes their twins."""
    return visible(text).translate(_TYPOGRAPHIC).encode("ascii", "backslashreplace").decode("ascii")


def summary(run: RunResult, width: int, places: Places) -> list[Line]:
    """The closing section: checks in report order, counts, times, files, what to do next, and last what it all was."""
    width = max(width, _NARROWEST)
    lines = [line for step in run.steps if step.outcome in BROKEN for line in _step(step, width)]
    lines += [line for result in run.selected for line in _check(result, width)]
    for text in (_not_selected(run), _counts(run), _host(run), _times(run)):
        lines += _wrapped(text, width)
    for name, place in (("report", places.report), ("page", places.page), ("evidence", places.evidence)):
        if place:
            lines.append(Line(visible(f"{name}: {place}")))
    if places.evidence and run.head:
        lines.append(Line(ascii_only(f"head: {run.head}")))
    return [*lines, *([] if run.replay_of else _next(run, places, width)), _last(run, width)]


def _cell(text: str, width: int) -> str:
    text = ascii_only(text)
    return text if len(text) <= width else text[: width - 3] + "..."


def _wrapped(text: str, width: int, indent: str = "  ") -> list[Line]:
    wrapper = textwrap.TextWrapper(
        width, subsequent_indent=indent, max_lines=_LINES_A_REASON, placeholder=" ...", break_on_hyphens=False
    )
    return [Line(line) for line in wrapper.wrap(ascii_only(text))]


def _labelled(label: str, name: str, reason: str, width: int, markup: dict[str, bool]) -> list[Line]:
    """`PASS     pass_criterion_3  reason`, going on below the name where the reason is longer than the line."""
    text = f"{label:<8} {name:<16}  {one_line(reason, 600)}"
    return [Line(line.text, markup) for line in _wrapped(text, width, " " * 9)]


def _check(result: CheckResult, width: int) -> list[Line]:
    markup = COLOURS[result.outcome]
    lines = _labelled(result.outcome, result.check.id, result.reason, width, markup)
    if result.outcome is PASS and len(lines) > 1:
        return [Line(_cell(f"{lines[0].text} {lines[1].text.strip()}", width), markup)]
    return lines


def _step(step: StepResult, width: int) -> list[Line]:
    return _labelled(step.outcome, f"step {step.step} {step.name}", step.reason, width, COLOURS[FAIL])


def _not_selected(run: RunResult) -> str:
    names = [result.check.id for result in run.checks if not result.selected]
    return f"not selected, so UNKNOWN in the report: {', '.join(names)}" if names else ""


def _counts(run: RunResult) -> str:
    counts = ", ".join(f"{count} {outcome}" for outcome, count in run.counts().items())
    told = f"{len(run.selected)} of {len(run.checks)} checks selected: {counts}"
    return f"{told}; interrupted by {run.interrupted}" if run.interrupted else told


def _host(run: RunResult) -> str:
    """What was asked, by the versions it told; "" where step 0 did not come so far."""
    told = {fact.name: fact.value for fact in run.facts if fact.value.strip() and not fact.value.startswith("not ")}
    known = [f"{word} {told[name]}".strip() for name, word in VERSIONS.items() if name in told]
    return f"versions: {'; '.join(known)}" if known else ""


def _times(run: RunResult) -> str:
    took = seconds_between(run.started, run.ended)
    longest = sorted(run.waits, key=lambda wait: -wait.seconds)[:_LONGEST_WAITS]
    waits = "; ".join(f"{one_line(wait.what, 80)} {span(wait.seconds)}" for wait in longest)
    told = [f"took {span(took)}"] if took is not None else []
    return ", ".join(told + ([f"longest waits: {waits}"] if waits else []))


def _next(run: RunResult, places: Places, width: int) -> list[Line]:
    """What to do about one thing that is not PASS: a step, else a FAIL, else an UNKNOWN; a command has its own line."""
    told, command = _advice(run, places.command)
    lines = _wrapped(f"next: {told}", width)
    return [*lines, Line(f"  {visible(command)}", {"bold": True})] if command else lines


def _advice(run: RunResult, command: str) -> tuple[str, str]:
    """What to do next in words, and the command that does it, or ""."""
    if run.interrupted:
        return "run it again, what is done is left alone", command
    for step in run.steps:
        if step.outcome in BROKEN:
            return f"mend step {step.step} ({step.name}) as its line says, then", command
    for result in sorted(run.selected, key=lambda one: one.outcome is not FAIL):
        if result.outcome is not PASS:
            read = f"read {result.records[-1]} in the evidence, then" if result.records else "once mended"
            return f"{result.check.id} is {result.outcome}: {read}", f"{command} -k {result.check.id}"
    declared = {one.what for one in run.declared}
    if any(not result.selected and result.check.id not in declared for result in run.checks):
        return "ask the checks that were not selected", command
    if is_rehearsal(run):
        return "the same on a dedicated host, without --rehearsal", ""
    return "read the report line by line and complete what it leaves to you", ""


def _last(run: RunResult, width: int) -> Line:
    """The last line says what the whole was: rehearsal or not, the outcomes, what was declared."""
    counts = ", ".join(f"{count} {outcome}" for outcome, count in run.counts().items() if count) or "nothing judged"
    head = f"{'REHEARSAL: ' if is_rehearsal(run) else ''}{counts}{'' if run.steps_ok else ', a step failed'}"
    names = [declared.what for declared in run.declared]
    text = f"{head}; declared, not observed: {one_line(', '.join(names), 200)}" if names else head
    if len(ascii_only(text)) > width and names:
        text = f"{head}; declared, not observed: {len(names)}"
    outcome = worst(result.outcome for result in run.selected) if run.steps_ok else FAIL
    return Line(_cell(text, width), {**COLOURS[outcome], "bold": True})
