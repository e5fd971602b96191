"""The run's report in Markdown: the runbook's template in its order, filled from a RunResult. Pure.

Headings and field names are the template's (runbook step 9) and stay. Nothing is ticked on the report's own authority:
what an operator has to decide stands there as UNKNOWN, as a proposal, or as "(operator: ...)".
"""

from __future__ import annotations

from collections.abc import Iterable

from pytest_amap.report.markdown_text import bullets, inline, paragraphs, table
from pytest_amap.report.prose import evidence_of, fact, not_shown, stated_posture, what_worked
from pytest_amap.report.text import is_rehearsal, listed, span
from pytest_amap.results import CheckResult, RunResult
from pytest_amap.verdicts import FAIL, PASS, Outcome, Part

REHEARSED = "REHEARSAL: observed on the rehearsal host. It shows that the suite works, and nothing about OpenShell."

CLAIMS = (
    "Where a line says that something is claimed, an agent could have written it: it is told, "
    "and decides only beside a fact made by the router or the host."
)


def draft(run: RunResult) -> str:
    """POC-REPORT.md (REHEARSAL-REPORT.md in a rehearsal) of one run, whole."""
    blocks = [
        _top(run),
        _section(run, "## What worked", paragraphs(what_worked(run))),
        _section(run, "## Pass criteria", [CLAIMS]),
        *_checks(run, "criterion"),
        _section(run, "## Unknowns", ["What only a running host can settle."]),
        *_checks(run, "unknown"),
        _section(run, "## NOT-CHECKED mapping", _not_checked(run)),
        _section(run, "## DESIGN.md tags", _tags(run)),
        _section(run, "## Steps", _steps(run)),
        _section(run, "## Altered or left behind", bullets(run.left, "Nothing that the run knows of.")),
        _section(run, "## Declared, not observed", _declared(run)),
        _section(run, "## Planted by exec, and what that does not show", paragraphs(not_shown(run))),
        _section(run, "## Facts", _facts(run)),
        _section(run, "## Run", _run(run)),
    ]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _section(run: RunResult, heading: str, body: list[str]) -> list[str]:
    return [heading, "", *body, *_rehearsed(run)]


def _rehearsed(run: RunResult) -> list[str]:
    return ["", REHEARSED] if is_rehearsal(run) else []


def _top(run: RunResult) -> list[str]:
    rehearsal = is_rehearsal(run)
    title = "REHEARSAL-REPORT" if rehearsal else "POC-REPORT"
    return [
        f"# {title}: amap-deploy-openshell, {run.suite.name.upper()}",
        "",
        *([f"**{REHEARSED}**", ""] if rehearsal else []),
        f"Draft made from the evidence of run {inline(run.run)}. Read every line and complete what is left "
        "to the operator before it goes into the documents.",
        "",
        f"Date: {inline(run.started[:10])}",
        f"Host: kernel {_field(run, 'kernel')}, Docker {_field(run, 'docker')}",
        f"OpenShell: {_field(run, 'openshell')}",
        f"Claude Code: {_field(run, 'claude_code')}",
        f"Fleet: {_field(run, 'fleet')}; task graph: {_field(run, 'task_graph')}",
        "",
        _posture(run),
        "",
        "Every outcome below is PASS, FAIL or UNKNOWN. UNKNOWN is not a pass.",
    ]


def _field(run: RunResult, name: str) -> str:
    return inline(fact(run, name))


def _posture(run: RunResult) -> str:
    """The posture line: what was asked for, how it was measured, what the operator states, the risk."""
    measured = next((result for result in run.checks if result.check.id == "unknown_6"), None)
    parts = [
        "Accepted gateway posture (D6, Decision 1): a gateway dedicated to this work, reachable on loopback only, "
        "without OIDC, with one operator and no other sandboxes."
    ]
    if measured is not None:
        outcome = measured.outcome if measured.selected else f"{measured.outcome}, not selected in this run"
        parts.append(f"As far as host and gateway show it: {outcome} (unknown_6).")
    step_2 = [inline(record) for step in run.steps if step.step == 2 for record in step.records]
    parts.append(f"Records of step 2: {listed(step_2)}.")
    parts.append(f"What no file shows, in the operator's words: {inline(stated_posture(run))}.")
    parts.append(
        "The risk that goes with it: whoever may create a sandbox on this gateway can have any host path mounted into "
        "it that the container runtime can see, another agent's outbox included."
    )
    return " ".join(parts)


def _checks(run: RunResult, kind: str) -> Iterable[list[str]]:
    for result in run.checks:
        if result.check.kind == kind:
            body = [
                f"Outcome: {result.outcome}",
                f"Evidence: {inline(evidence_of(result))}",
                "",
                f"Asked ({inline(result.check.anchor)}): {inline(result.check.asks)}",
            ]
            if result.parts:
                body += ["", *(_part(part) for part in result.parts)]
            yield [f"### {result.check.heading}: {result.check.title}", *body, *_rehearsed(run)]


def _part(part: Part) -> str:
    records = listed([inline(record) for record in part.records])
    claim = " (a claim)" if "claimed by" in part.seen else ""
    return (
        f"- {inline(part.name)}: {part.outcome}. Expected: {inline(part.expected)}. "
        f"Seen{claim}: {inline(part.seen)}. Records: {records}"
    )


def _not_checked(run: RunResult) -> list[str]:
    lines = [
        "One row for each item of the NOT CHECKED HERE list of the spec checkout in use. Mark one column with X. "
        "A proposal names the check that bears on the item; the mark is the operator's.",
        "",
    ]
    if run.not_checked_problem:
        lines += [f"The list could not be read: {inline(run.not_checked_problem)} (operator: fill in)", ""]
    header = ("NOT-CHECKED item", "enforced by OpenShell", "still operational", "not applicable", "evidence")
    rows = [
        (row.item, "", "", "", f"UNKNOWN; proposed: {row.proposal}, confirm" if row.proposal else "UNKNOWN")
        for row in run.not_checked
    ]
    return lines + table(header, rows)


def _tags(run: RunResult) -> list[str]:
    lines = ["Each proposal is the operator's to confirm; a claim that this run did not show keeps its tag.", ""]
    if is_rehearsal(run):
        return [*lines, "No tag moves on a rehearsal."]
    by_outcome = [(PASS, "may move to [verified]"), (FAIL, "is contradicted")]
    items = [_tag(run, result, verb) for outcome, verb in by_outcome for result in _with(run, outcome)]
    return lines + bullets(items, "No proposal: no check of this run settled a claim.")


def _tag(run: RunResult, result: CheckResult, verb: str) -> str:
    records = listed(list(result.records), "no records")
    return f'proposed: "{result.check.asks}" {verb}, by {result.check.id} of run {run.run} ({records}); confirm'


def _with(run: RunResult, outcome: Outcome) -> list[CheckResult]:
    return [result for result in run.selected if result.outcome is outcome]


def _steps(run: RunResult) -> list[str]:
    rows = [(str(step.step), step.name, step.outcome, span(step.seconds), step.reason) for step in run.steps]
    return table(("step", "fixture", "outcome", "time", "reason"), rows)


def _declared(run: RunResult) -> list[str]:
    return bullets(
        (f"{declared.what}: {declared.reason}" for declared in run.declared),
        "Nothing: every class and every row was asked for.",
    )


def _facts(run: RunResult) -> list[str]:
    return table(("fact", "value"), [(known.name, known.value) for known in run.facts])


def _run(run: RunResult) -> list[str]:
    selected = "all checks" if run.complete else listed([result.check.id for result in run.selected])
    lines = [
        f"Run {run.run} on a {run.host} host, from {run.started} to {run.ended}.",
        f"Selected: {selected}.",
        f"Records: {run.records}. Head of their chain: {run.head or 'not closed'}.",
    ]
    if run.replay_of:
        lines.append(f"Replay of {run.replay_of}: judged again from the evidence alone.")
    if run.interrupted:
        lines.append(f"Interrupted by {run.interrupted}: what had not ended is UNKNOWN.")
    lines += [f"Waited {span(wait.seconds)} for {wait.what}." for wait in run.waits]
    return bullets(lines, "")
