"""Made-up runs for the report writers' tests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pytest_amap.catalogue import L1
from pytest_amap.results import CheckResult, Declared, Earlier, Fact, NotCheckedRow, RunResult, StepResult, Wait
from pytest_amap.verdicts import PASS, UNKNOWN, Outcome, Part

RUN = "20261129T120000Z"

HOSTILE = (
    "a | b \\| c `tick` ``two`` <script>alert(1)</script> <file> ![x](http://evil.example/x.png) "
    "[y](javascript:alert(1))\n# heading\n| row |\r\n\x1b[31mred\x00 \u202eSSAP\u202c \udc80 "
    "&lt; *star* _low_ ~~gone~~ ' \" </td></table>"
)


def record_of(number: int) -> str:
    return f"step-8/{RUN}-{number:03d}-probe.json"


def check_result(check_id: str, outcome: Outcome = PASS, seen: str = "EROFS", **changes: Any) -> CheckResult:
    number = L1.ids.index(check_id) + 10
    part = Part("errno", outcome, "EROFS", seen, (record_of(number),))
    reason = f"errno: {seen}" if outcome is PASS else part.reason
    result = CheckResult(L1.check(check_id), outcome, reason, (part,), (record_of(number),), seconds=1.5)
    return replace(result, **changes)


def steps() -> tuple[StepResult, ...]:
    return tuple(
        StepResult(step.number, step.fixture, "already" if step.number == 1 else "done", "as asked", 1.0)
        for step in L1.steps
    )


def run_of(*results: CheckResult, **changes: Any) -> RunResult:
    """A live run in which the checks given have those results and every other one is PASS."""
    given = {result.check.id: result for result in results}
    run = RunResult(
        suite=L1,
        host="live",
        run=RUN,
        started="2026-11-29T12:00:00.000Z",
        ended="2026-11-29T12:07:31.500Z",
        steps=steps(),
        checks=tuple(given.get(check_id) or check_result(check_id) for check_id in L1.ids),
        facts=(
            Fact("kernel", "6.8.0-142-generic"),
            Fact("docker", "29.8.1"),
            Fact("openshell", "openshell 0.1.2"),
            Fact("claude_code", "2.1.284"),
            Fact("fleet", "examples/fleet.json"),
            Fact("task_graph", "alpha may task beta; beta may not task alpha"),
            Fact("landlock_abi", "4"),
            Fact("image", "not measured: docker image inspect gave no answer"),
        ),
        declared=(Declared("directory-", "this deployment emits none"),),
        not_checked=(NotCheckedRow("peer origin: sender", "still operational: unknown_4"), NotCheckedRow("intake")),
        posture="one operator holds the credentials",
        left=("beta was restarted twice",),
        waits=(Wait("beta's reply", 41.0), Wait("the router's roster", 3.2)),
        records=57,
        head="ab" * 32,
    )
    return replace(run, **changes)


def rehearsal_of(*results: CheckResult, **changes: Any) -> RunResult:
    return run_of(*results, host="rehearsal", **changes)


def only(check_id: str, outcome: Outcome = PASS) -> RunResult:
    """A run that was asked about one check; an earlier outcome is known of each other."""
    rest = (not_asked(other) for other in L1.ids if other != check_id)
    return run_of(check_result(check_id, outcome), *rest)


def not_asked(check_id: str) -> CheckResult:
    earlier = Earlier(PASS, "20261128T080000Z", "same identity")
    return CheckResult(L1.check(check_id), UNKNOWN, "not selected", selected=False, earlier=earlier)


def command(number: int, **changes: Any) -> dict[str, Any]:
    """A command's record as the page takes it: the record's JSON with its path relative to evidence/."""
    return {
        "path": record_of(number),
        "argv": ["openshell", "sandbox", "exec", "--name", "alpha", "--", "sh", "-c", "echo 'it is'"],
        "cwd": "/run/amap/pytest-amap",
        "started": f"2026-11-29T12:0{number % 7}:00.000Z",
        "ended": f"2026-11-29T12:0{number % 7}:01.500Z",
        "seconds": 1.5,
        "exit": 0,
        "timed_out": False,
        "stdout": "out\n",
        "stderr": "",
        "step": 8,
        "check": "unknown_2",
        "label": "probe",
        "run": RUN,
        "seq": number,
    } | changes
