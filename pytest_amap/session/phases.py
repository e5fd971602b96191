"""What the setup, the call and the teardown of a check mean for its verdict, and what pytest is told of it."""

from __future__ import annotations

import pytest

from pytest_amap.host.run import Run
from pytest_amap.report import junit
from pytest_amap.session import selection
from pytest_amap.session.live import CHECK_STEP
from pytest_amap.verdicts import PASS, UNKNOWN, Outcome, verdict

STRICT = "[XPASS(strict)]"
"""How pytest's report of a strict xfail that passed begins."""
reports_key = pytest.StashKey[list[pytest.TestReport]]()


def note(run: Run, item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport) -> None:
    """What setup, call or teardown of a check means for its verdict."""
    check = selection.check_id(item, run.suite)
    if report.when == "teardown" and (report.failed or raised(call)):
        run.step(CHECK_STEP, "cleanup", "failed", why(call, report))
    if not check:
        return
    spoil(run, check, call, report)
    if report.when == "teardown":
        run.ended.add(check)
    tell(run, check, item, call, report)


def spoil(run: Run, check: str, call: pytest.CallInfo[None], report: pytest.TestReport) -> None:
    """Whatever else than a settled check ended its test makes it UNKNOWN, with its reason.

    What was raised counts and not the report alone, which any other plugin may have made a pass of.
    """
    if hasattr(report, "wasxfail") or (call.excinfo is None and str(report.longrepr).startswith(STRICT)):
        run.spoiled.setdefault(check, "xfail proves nothing")
    elif call.excinfo is not None and call.excinfo.value is run.concluded.get(check):
        return
    elif raised(call) or report.failed:
        run.spoiled.setdefault(check, why(call, report))
        if report.when == "setup" and not run.steps_failed:
            run.step(CHECK_STEP, "cleanup", "failed", f"setup of {check}: {why(call, report)}")
    elif call.excinfo is not None or report.skipped:
        run.spoiled.setdefault(check, why(call, report))


def tell(run: Run, check: str, item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport) -> None:
    """Leave the verdict where terminal, page and JUnit file find it; before the teardown it is no PASS."""
    result = run.result_of(check)
    reports = item.stash.setdefault(reports_key, [])
    reports.append(report)
    for each in reports:  # the page draws its row from the call's report when the teardown is over
        each.amap_verdict = result.outcome  # type: ignore[attr-defined]
    report.amap_check = check  # type: ignore[attr-defined]
    report.amap_shown = shown(run, check, call, report)  # type: ignore[attr-defined]
    if report.when == "teardown":
        report.user_properties += [
            (junit.OUTCOME, str(result.outcome)),
            (junit.REASON, result.reason),
            (junit.RECORDS, " ".join(result.records)),
        ]


def shown(run: Run, check: str, call: pytest.CallInfo[None], report: pytest.TestReport) -> Outcome | None:
    """What the terminal has to say where pytest would say another thing: its "passed" is not ours, its skip is none."""
    if report.skipped:
        return run.result_of(check).outcome
    if report.when == "call" and report.passed:
        settled = verdict(run.settled.get(check, ()))[0]
        return UNKNOWN if check in run.spoiled and settled is PASS else settled
    return run.result_of(check).outcome if report.when == "teardown" and report.passed and raised(call) else None


def raised(call: pytest.CallInfo[None]) -> bool:
    """Whether it ended by anything but a skip."""
    return call.excinfo is not None and not isinstance(call.excinfo.value, pytest.skip.Exception)


def why(call: pytest.CallInfo[None], report: pytest.TestReport) -> str:
    """The words of what was raised; where nothing was, another plugin made the report what it is."""
    if call.excinfo is None:
        return f"reported as {report.outcome} by another plugin: {report.longrepr}"
    error = call.excinfo.value
    text = getattr(error, "brief", "") or str(error)
    if isinstance(error, pytest.skip.Exception):
        return text or "skipped without a reason"
    return text if isinstance(error, pytest.fail.Exception) else f"{call.excinfo.typename}: {text}"
