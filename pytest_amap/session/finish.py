"""The end of a run: close the chain, write every file in one place, scan for secrets, seal, and say where it all is."""

from __future__ import annotations

import io
import json
import os
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from pytest_amap.evidence import chain, ctrf
from pytest_amap.evidence.consistency import STATEMENT
from pytest_amap.evidence.recorded import RESULTS, EvidenceError
from pytest_amap.host.host import Place
from pytest_amap.host.run import Run
from pytest_amap.report import earlier, junit, markdown, places, statement, terminal
from pytest_amap.session import again, operators_copy, page_plugin
from pytest_amap.verdicts import UNKNOWN

REPORTS = {"live": "POC-REPORT.md", "rehearsal": "REHEARSAL-REPORT.md"}


def close(run: Run) -> None:
    """End the chain: nothing is recorded after this, and the head is known to every report."""
    if run.evidence is None:
        return
    try:
        with run.host.going_on() if run.host else nullcontext():
            run.cleanup.close()
    except Exception as error:
        cleanup_failed(run, error)
    if run.host:
        with run.host.going_on(), run.host.at(Place(9)):
            run.host.note(ctrf.CONCLUDED, "every step and check", ctrf.concluded(ctrf.results(run.result())))
    try:
        run.head = run.evidence.close_chain()
    except EvidenceError as error:
        report_failed(run, str(error))
    if run.host and run.host.unrecorded:
        report_failed(run, f"evidence is missing: {run.host.unrecorded[0]}")


def cleanup_failed(run: Run, error: BaseException) -> None:
    run.step(8, "cleanup", "failed", f"{type(error).__name__}: {error}")


def report_failed(run: Run, reason: str) -> None:
    run.step(9, "report", "failed", reason)


def write(run: Run, config: pytest.Config) -> None:
    """Results, report, page, statement, sums and seal, also after an interrupt."""
    tell_junit(run, config)
    if run.evidence is None or run.replay_of:
        return
    if not run.head:
        close(run)
    run.step(8, "cleanup", "done") if "cleanup" not in run.steps else None
    run.step(9, "report", "done") if "report" not in run.steps else None
    try:
        files(run, config)
    except (EvidenceError, OSError) as error:
        report_failed(run, str(error))


def tell_junit(run: Run, config: pytest.Config) -> None:
    path = asked_for(config, "xmlpath")
    try:
        if path is not None and path.is_file():
            path.write_text(junit.told(path.read_text("utf-8"), run.kind == "rehearsal"), "utf-8")
    except (OSError, ValueError, SyntaxError) as error:
        report_failed(run, f"{path} could not be said our way: {error}")


def files(run: Run, config: pytest.Config) -> None:
    evidence = run.evidence
    assert evidence is not None
    hidden = evidence.redactor
    leaks = [f"{name} in {path.name}" for path in written(run, config) for name in hidden.leaks(path.read_bytes())]
    if leaks:
        report_failed(run, f"a secret stands in a written file: {'; '.join(leaks)}; do not hand this evidence on")
    not_selected = [check for check in run.suite.ids if check not in run.selected]
    run.earlier = earlier.outcomes(evidence.root, run.suite, but=evidence.run, checks=not_selected, facts=run.facts)
    name = REPORTS[run.kind]
    if run.kind == "live" and not not_selected and operators_copy.edited(evidence.root, name):
        run.left.tell(f"{name} in the evidence folder was edited and is kept; the new draft is in the run's folder")
    result = run.result()
    draft = hidden.text(markdown.draft(places.named(result, run.places)))
    document = ctrf.results(result)
    document["results"]["extra"][places.KEPT] = places.kept(result, run.places)
    evidence.write(RESULTS, json.dumps(hidden.value(document), indent=1, ensure_ascii=False) + "\n")
    evidence.write(name, draft)
    page = evidence.folder / page_plugin.NAME
    if page.is_file():
        page.chmod(0o600)
    reports = [RESULTS, name, *([page_plugin.NAME] if page.is_file() else [])]
    digests = {
        os.path.relpath(evidence.root / record, evidence.folder): chain.digest((evidence.root / record).read_bytes())
        for record in evidence.records
    }
    digests |= {report: chain.digest((evidence.folder / report).read_bytes()) for report in reports}
    evidence.write(STATEMENT, json.dumps(statement.statement(result, digests), indent=1, ensure_ascii=False) + "\n")
    evidence.seal([*reports, STATEMENT])
    if run.kind == "live" and result.complete:
        operators_copy.replace(evidence.root, name, draft.encode())


def written(run: Run, config: pytest.Config) -> list[Path]:
    """Every file this session wrote so far, those that the person asked pytest for included."""
    assert run.evidence is not None
    flush_trace(config)
    own = [run.evidence.root / record for record in run.evidence.records]
    asked = [asked_for(config, name) for name in ("xmlpath", "htmlpath", "log_file", "debug")]
    pages = [run.evidence.folder / page_plugin.NAME, *(path for path in asked if path)]
    return [path for path in [*own, *pages] if path.is_file()]


def flush_trace(config: pytest.Config) -> None:
    """What `--debug` was told and holds back in its buffer would reach the file after it was searched for secrets."""
    file = getattr(getattr(config.trace.root, "_writer", None), "__self__", None)
    if isinstance(file, io.TextIOBase):
        file.flush()


def asked_for(config: pytest.Config, option: str) -> Path | None:
    """The file that an option names, as pytest and pytest-html read it: `--junitxml=~/x` leaves the ~ to them."""
    given = getattr(config.option, option, None)
    return Path(os.path.expanduser(os.path.expandvars(given))) if given else None


def summarise(run: Run, reporter: Any) -> None:
    """The closing lines: one a check, where the report is, what to do next."""
    count_what_left_no_report(run, reporter)
    reporter.section(f"{run.suite.name} {'REHEARSAL' if run.kind == 'rehearsal' else run.kind}", sep="=")
    shown = run.options.shown(os.fspath(run.folder)) if run.folder else ""
    exists = bool(run.folder and (run.folder / REPORTS[run.kind]).is_file()) and not run.replay_of
    written = terminal.Places(
        report=os.path.join(shown, REPORTS[run.kind]) if exists else "",
        page=os.path.join(shown, page_plugin.NAME) if exists and (run.folder / page_plugin.NAME).is_file() else "",  # type: ignore[operator]
        evidence=os.path.dirname(os.path.dirname(shown)) if exists else "",
        command=again.command(reporter.config, run.options.shown_home),
    )
    as_known = places.named(run.result(), {run.options.home: run.options.shown_home} if run.options.home else {})
    for line in terminal.summary(as_known, reporter._tw.fullwidth, written):
        reporter.line(line.text, **line.markup)


def count_what_left_no_report(run: Run, reporter: Any) -> None:
    """pytest's last line counts what was reported, and is green where nothing of that is bad: an interrupt's is not."""
    known = {getattr(report, "amap_check", "") for name, told in reporter.stats.items() if name for report in told}
    if missing := [check for check in run.selected if check not in known]:
        reporter._add_stats(terminal.CATEGORIES[UNKNOWN], missing)
