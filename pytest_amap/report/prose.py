"""Plain sentences that a report says about a run, not yet escaped for any format. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_amap.report.text import listed
from pytest_amap.results import BROKEN, CheckResult, RunResult, StepResult
from pytest_amap.verdicts import FAIL, PASS, UNKNOWN

OPEN = "(operator: fill in)"
"""Marks what the run could not know; stands visibly in the report until somebody replaces it."""


def fact(run: RunResult, name: str) -> str:
    """The measured fact of that name; one that was not measured is marked as open."""
    value = next((known.value for known in run.facts if known.name == name), "not measured")
    return f"{value} {OPEN}" if value.startswith("not measured") or not value.strip() else value


def stated_posture(run: RunResult) -> str:
    """What the operator stated about what no file shows, or that nothing was stated; without its full stop."""
    return run.posture.rstrip(" .") if run.posture and run.posture != "not stated" else f"not stated {OPEN}"


def evidence_of(result: CheckResult) -> str:
    """Why a check has its outcome, and the records that show it; for one not selected, what was seen earlier."""
    if not result.selected:
        return f"not selected in this run. {earlier(result)}"
    return f"{result.reason.rstrip('.')}. Records: {listed(list(result.records))}"


def earlier(result: CheckResult) -> str:
    """The last earlier outcome of a check: information, not a verdict."""
    if result.earlier is None:
        return "No earlier outcome is known."
    known = result.earlier
    return f"Earlier: {known.outcome} in run {known.run} ({known.identity}); information, not a verdict."


def what_worked(run: RunResult) -> list[str]:
    """What ran, what was delivered and answered, what did not: one sentence or two a paragraph."""
    told = [_steps(run.steps)]
    told += [
        f"Step {step.step} ({step.name}) {step.outcome}: {step.reason}" for step in run.steps if step.outcome in BROKEN
    ]
    told += [f"The delegation: {step.reason}" for step in run.steps if step.name == "delegation" and _worked(step)]
    for outcome, verb in ((PASS, "Shown"), (FAIL, "Contradicted"), (UNKNOWN, "Not settled")):
        titles = [
            f"{result.check.heading} ({result.check.title})" for result in run.selected if result.outcome is outcome
        ]
        if titles:
            told.append(f"{verb}: {listed(titles)}.")
    if not run.complete:
        left_out = [result.check.heading for result in run.checks if not result.selected]
        told.append(f"Not selected in this run: {listed(left_out)}.")
    if run.interrupted:
        told.append(f"The run was ended by {run.interrupted} before it was complete.")
    return told


def _worked(step: StepResult) -> bool:
    return step.outcome in ("done", "already") and bool(step.reason)


def _steps(steps: Sequence[StepResult]) -> str:
    groups = (("done", "Done"), ("already", "Found done already"), ("not-run", "Not run"))
    told = [
        f"{word}: {listed([f'step {step.step} ({step.name})' for step in steps if step.outcome == outcome])}."
        for outcome, word in groups
        if any(step.outcome == outcome for step in steps)
    ]
    return " ".join(told) or "No step was recorded."


def not_shown(run: RunResult) -> list[str]:
    """What the suite planted itself, and what therefore nobody has seen an agent do."""
    step = next((step for step in run.steps if step.name == "delegation"), None)
    how = f" In this run step 7 says: {step.reason}" if step is not None and step.reason else ""
    return [
        "The delegation of step 7 and the request of pass criterion 5 are planted: the suite calls the connector's "
        f"inbox-submit inside the sender through sandbox exec, unless one made by hand was found and named.{how}",
        "That shows the way from the outbox through the router to the receiver's turn. It does not show that an agent "
        "reads the roster by itself, decides to delegate, or calls the tool.",
    ]
