"""The evidence page's own part, as HTML that needs no script, no network and no other file. Pure.

It stands above pytest-html's table. A short script, where it may run, adds filters by outcome.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pytest_amap.report import page_records
from pytest_amap.report.html_text import badge, element_id, esc, record_links, section, table
from pytest_amap.report.page_assets import SCRIPT, STYLE, VIEWPORT
from pytest_amap.report.page_records import Record
from pytest_amap.report.page_timeline import bars
from pytest_amap.report.prose import earlier, not_shown, stated_posture
from pytest_amap.report.text import counted, is_rehearsal, seconds_between, span
from pytest_amap.results import BROKEN, CheckResult, RunResult
from pytest_amap.verdicts import PASS, UNKNOWN, Outcome, Part, worst

SECTIONS = (
    ("amap-checks", "Checks"),
    ("amap-steps", "Setup steps"),
    ("amap-timeline", "Timeline"),
    ("amap-facts", "Host facts"),
    ("amap-open", "What this does not show"),
)
NOT_SELECTED = "not selected"
PYTEST_S_OWN = (
    "<h2>Pytest's own table</h2><p>Result is how pytest ended a test; Verdict is what the check settled. "
    "Without JavaScript this table is empty; everything is above.</p>"
)


def title(run: RunResult) -> str:
    """The page's title: REHEARSAL first where it is one, the outcome, how much was asked, suite and run."""
    asked = "" if run.complete else f" ({len(run.selected)} of {len(run.checks)} checks)"
    return f"{'REHEARSAL: ' if is_rehearsal(run) else ''}{whole(run)}{asked}: {run.suite.name} run {run.run}"


def whole(run: RunResult) -> Outcome:
    """The outcome of everything that was asked; a step that failed leaves no PASS."""
    outcome = worst(result.outcome for result in run.selected)
    return UNKNOWN if outcome is PASS and not run.steps_ok else outcome


def summary(run: RunResult, records: Sequence[Record]) -> str:
    """Everything of the page that is ours, for pytest_html_results_summary; `records` as page_records says."""
    limit = page_records.text_limit(records)
    bodies = (
        _filters(run) + _checks(run, records, limit),
        _steps(run, records, limit),
        bars(records),
        _facts(run),
        _open(run),
    )
    sections = "".join(section(name, text, body) for (name, text), body in zip(SECTIONS, bodies, strict=True))
    ours = f'<div id="amap">{_banner(run)}{sections}</div>'
    return f"{VIEWPORT}<style>{STYLE}</style>{ours}{PYTEST_S_OWN}<script>{SCRIPT}</script>"


def _banner(run: RunResult) -> str:
    outcome = whole(run)
    rehearsed = (
        '<p class="amap-rehearsal"><strong>REHEARSAL</strong> This ran on the rehearsal host. '
        "It shows that the suite works, and nothing about OpenShell.</p>"
        if is_rehearsal(run)
        else ""
    )
    links = "".join(f'<li><a href="#{name}">{text}</a></li>' for name, text in SECTIONS)
    told = "".join(f"<p>{esc(sentence)}</p>" for sentence in _sentences(run))
    return (
        f'{rehearsed}<header class="amap-banner amap-on-{outcome.lower()}">'
        f'<p class="amap-verdict">{badge(outcome)} {_asked(run)}</p>{told}'
        f'<nav aria-label="Sections of this page"><ul>{links}</ul></nav></header>'
    )


def _asked(run: RunResult) -> str:
    counts = ", ".join(f"{count} {outcome}" for outcome, count in run.counts().items())
    asked = "All" if run.complete else f"{len(run.selected)} of {len(run.checks)}"
    return f"{asked} checks were asked: {counts}."


def _sentences(run: RunResult) -> Iterable[str]:
    took = seconds_between(run.started, run.ended)
    duration = f", {span(took)}" if took is not None else ""
    yield f"Run {run.run} on a {run.host} host, {run.started} to {run.ended}{duration}."
    if run.replay_of:
        yield f"Replay of {run.replay_of}: judged again from the evidence alone."
    if run.interrupted:
        yield f"Interrupted by {run.interrupted}; what had not ended is UNKNOWN."
    for step in run.steps:
        if step.outcome in BROKEN:
            yield f"Step {step.step} ({step.name}) {step.outcome}: {step.reason}"
    for declared in run.declared:
        yield f"Declared, not observed: {declared.what}: {declared.reason}"
    yield f"{run.records} records; head of their chain: {run.head or 'not closed'}."


def _word(result: CheckResult) -> str:
    return result.outcome if result.selected else NOT_SELECTED


def _outcome(result: CheckResult) -> str:
    """What has no record of PASS is UNKNOWN, also where it was not asked."""
    return badge(result.outcome) + ("" if result.selected else f"<p>{NOT_SELECTED}</p>")


def _filters(run: RunResult) -> str:
    """Boxes that the script shows; without it they would do nothing, so they are hidden."""
    words = [*Outcome, *([] if run.complete else [NOT_SELECTED])]
    counts = {word: sum(_word(result) == word for result in run.checks) for word in words}
    boxes = "".join(
        f'<label><input type="checkbox" class="amap-filter" value="{word}" checked> {word} ({count})</label>'
        for word, count in counts.items()
    )
    return (
        f'<fieldset id="amap-filters" hidden><legend>Show</legend>{boxes}'
        '<button type="button" data-open="1">Open all</button><button type="button">Close all</button>'
        '<output id="amap-shown"></output></fieldset>'
    )


def _checks(run: RunResult, records: Sequence[Record], limit: int) -> str:
    rows = "".join(
        _check(result, [record for record in records if record.get("check") == result.check.id], limit)
        for result in run.checks
    )
    return (
        '<table class="amap-table amap-checks"><caption>In the order of the report</caption>'
        f'<thead><tr><th scope="col">Outcome</th><th scope="col">Check</th></tr></thead><tbody>{rows}</tbody></table>'
    )


def _check(result: CheckResult, records: Sequence[Record], limit: int) -> str:
    check = result.check
    reason = esc(result.reason) if result.selected else f"Not selected in this run. {esc(earlier(result))}"
    parts = f'<ul class="amap-parts">{"".join(map(_part, result.parts))}</ul>' if result.parts else ""
    opened = " open" if result.selected and result.outcome is not PASS else ""
    took = f", {span(result.seconds)}" if result.selected else ""
    return (
        f'<tr id="{element_id("check", check.id)}" data-outcome="{_word(result)}"><td>{_outcome(result)}</td><td>'
        f"<h3><code>{esc(check.id)}</code> {esc(check.heading)}: {esc(check.title)}</h3>"
        f"<p>{reason}</p>"
        f"<details{opened}><summary>{counted(len(result.parts), 'part')}, {counted(len(records), 'record')}{took}"
        f"</summary><p>Asked: {esc(check.asks)} <em>({esc(check.anchor)})</em></p>{parts}"
        f"{page_records.listed(records, limit)}</details></td></tr>"
    )


def _part(part: Part) -> str:
    return (
        f"<li>{badge(part.outcome)} <strong>{esc(part.name)}</strong><dl><dt>expected</dt><dd>{esc(part.expected)}</dd>"
        f"<dt>seen</dt><dd>{esc(part.seen)}</dd></dl>{record_links(part.records)}</li>"
    )


def _steps(run: RunResult, records: Sequence[Record], limit: int) -> str:
    rows = [
        (f"{step.step} {esc(step.name)}", badge(step.outcome), span(step.seconds), esc(step.reason))
        for step in run.steps
    ]
    return table("Steps", ("Step", "Outcome", "Time", "Reason"), rows) + "".join(
        _step_records(number, [r for r in records if r.get("step") == number and not r.get("check")], limit)
        for number in sorted({step.step for step in run.steps})
    )


def _step_records(number: int, records: Sequence[Record], limit: int) -> str:
    if not records:
        return ""
    return (
        f'<details id="step-{number}"><summary>Step {number}: {counted(len(records), "record")}</summary>'
        f"{page_records.listed(records, limit)}</details>"
    )


def _facts(run: RunResult) -> str:
    return table("Facts", ("Fact", "Value"), [(esc(fact.name), esc(fact.value)) for fact in run.facts])


def _open(run: RunResult) -> str:
    left = "".join(f"<li>{esc(text)}</li>" for text in run.left) or "<li>nothing that the run knows of</li>"
    planted = "".join(f"<p>{esc(sentence)}</p>" for sentence in not_shown(run))
    return (
        f"{planted}<p>Posture that no file shows, in the operator's words: {esc(stated_posture(run))}.</p>"
        f"<p>Altered or left behind:</p><ul>{left}</ul>"
    )
