"""pytest's own letters, last line and table agree with the verdicts: an UNKNOWN is no dot, and in no green line."""

from __future__ import annotations

import html
import re
import signal

import pytest
from plugin_bench import FAILS, IS_UNKNOWN, PASSES, Bench

pytest_plugins = ["pytester"]

GREEN = "\x1b[32m"


@pytest.fixture
def bench(pytester: pytest.Pytester) -> Bench:
    return Bench(pytester)


def ended(bench: Bench, *args: str) -> tuple[str, str]:
    """The letters of the checks in the order they ran, and the last line with its colours."""
    lines = bench.run("--apply", "--color=yes", *args).outlines
    letters = re.findall(r"\x1b\[3\dm([.FUEsx])\x1b\[0m", "\n".join(lines))
    return "".join(letters), next(line for line in reversed(lines) if line.strip())


def test_an_interrupted_run_counts_what_did_not_run_and_is_not_green(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    bench.check("unknown_2", PASSES)
    bench.check("unknown_1", "os.kill(os.getpid(), signal.SIGINT)")
    bench.check("unknown_3", PASSES)
    try:
        letters, last = ended(bench)
    finally:
        signal.signal(signal.SIGINT, before)
    assert letters == "."
    assert "1 passed" in last
    assert "2 unknown" in last
    assert not last.startswith(GREEN)
    assert {check for check, outcome in bench.outcomes().items() if outcome == "UNKNOWN"} == {"unknown_1", "unknown_3"}


@pytest.mark.parametrize(
    ("body", "letter", "counted"),
    [
        (PASSES, ".", "1 passed"),
        (IS_UNKNOWN, "U", "1 unknown"),
        ("pass", "U", "1 unknown"),
        (f"{PASSES}\n{PASSES}", "U", "1 unknown"),
        ("try:\n    check.settle([part(UNKNOWN)])\nexcept BaseException:\n    pass", "U", "1 unknown"),
        (FAILS, "F", "1 failed"),
        (f"try:\n    {FAILS}\nexcept BaseException:\n    pass", "F", "1 failed"),
    ],
    ids=["pass", "unknown", "unsettled", "settled twice", "swallowed unknown", "fail", "swallowed fail"],
)
def test_the_letter_is_what_was_settled(bench: Bench, body: str, letter: str, counted: str) -> None:
    bench.check("unknown_2", body)
    letters, last = ended(bench)
    assert letters == letter
    assert counted in last
    assert letter == "." or not last.startswith(GREEN)


def test_the_rows_of_pytests_own_table_hold_the_verdicts(bench: Bench) -> None:
    bench.check("unknown_2", PASSES)
    bench.check("unknown_1", IS_UNKNOWN)
    bench.check("unknown_3", FAILS)
    bench.check("unknown_7", PASSES, mark="@pytest.mark.skip(reason='not today')")
    assert bench.run("--apply").ret == 3
    page = html.unescape((bench.runs[-1] / "report.html").read_text("utf-8"))
    rows = re.findall(r"col-verdict amap-(\w+).{1,60}?test_(unknown_\d)", page)
    assert {check: verdict.upper() for verdict, check in rows} == bench.outcomes()


def test_the_closing_lines_name_the_home_as_the_person_knows_it(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a rehearsal the records hold the place inside its world, where nobody can look."""
    inside = bench.pytester.mkdir("inside")
    bench.home.symlink_to(inside)
    monkeypatch.setenv("AMAP_OPENSHELL_HOME", str(inside))
    monkeypatch.setenv("AMAP_SHOWN_HOME", str(bench.home))
    bench.check("unknown_2", f"check.settle([Part('where', UNKNOWN, 'x', '{inside}/roster')])")
    lines = "".join(bench.run("--apply").outlines)
    assert f"{bench.home}/roster" in lines.partition(" l1 live ")[2].replace(" " * 9, "")
    assert f"{inside}/roster" in bench.reason("unknown_2")


@pytest.mark.parametrize(("args", "told"), [((), True), (("-q",), False)])
def test_a_wait_is_told_while_it_lasts_through_a_pipe_too(bench: Bench, args: tuple[str, ...], told: bool) -> None:
    """Many who watch a run of hours do so through tee; a file of it should say, too, what was waited for."""
    bench.check("unknown_2", f"check._run.host.say('waiting for beta: 10 s of 900 s')\n{PASSES}")
    assert ("amap: waiting for beta: 10 s of 900 s" in bench.run("--apply", *args).outlines) is told
