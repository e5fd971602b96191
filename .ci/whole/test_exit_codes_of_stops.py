"""Exit codes of runs that were stopped, by a signal, by pytest.exit or by an error after the run."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
from plugin_bench import FAILS, PASSES, Bench

pytest_plugins = ["pytester"]

RAISING_TEARDOWN = "yield 'router'\n    raise OSError('no space')"
KILL = "os.kill(os.getpid(), signal.{})"


@pytest.fixture
def bench(pytester: pytest.Pytester) -> Bench:
    return Bench(pytester)


@pytest.fixture
def default_signals() -> Iterator[None]:
    """INT, TERM and HUP as a terminal leaves them: a runner may ignore HUP."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, signal.default_int_handler) for number in numbers]
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


@pytest.mark.usefixtures("default_signals")
@pytest.mark.parametrize("teardown", ["", RAISING_TEARDOWN], ids=["", "raising teardown"])
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("place", ["step", "check"])
def test_a_signal_is_2_and_the_results_are_written(bench: Bench, place: str, name: str, teardown: str) -> None:
    kill = KILL.format(name)
    bench.steps(({"router": teardown} if teardown else {}) | ({"delegation": kill} if place == "step" else {}))
    bench.check("unknown_2", PASSES, "router")
    bench.check("unknown_1", f"{kill}\n{PASSES}" if place == "check" else PASSES, "delegation")
    bench.check("unknown_3", FAILS)
    assert bench.run("--apply").ret == 2
    assert bench.outcomes() == {"unknown_2": "PASS", "unknown_1": "UNKNOWN", "unknown_3": "UNKNOWN"}
    assert bench.results()["extra"]["interrupted"] == name
    assert bench.step("cleanup")["outcome"] == ("failed" if teardown else "done")
    if place == "step":
        assert bench.step("delegation") | {"seconds": 0} == {
            "step": 7, "name": "delegation", "outcome": "not-run", "reason": "interrupted", "seconds": 0, "records": [],
        }  # fmt: skip


@pytest.mark.usefixtures("default_signals")
def test_a_signal_that_something_swallows_still_ends_the_run(bench: Bench) -> None:
    bench.check("unknown_2", f"try:\n    {KILL.format('SIGTERM')}\nexcept BaseException:\n    pass\n{PASSES}")
    bench.check("unknown_3", PASSES)
    assert bench.run("--apply").ret == 2
    assert bench.outcomes() == {"unknown_2": "PASS", "unknown_3": "UNKNOWN"}


@pytest.mark.parametrize("hook", ["pytest_unconfigure", "pytest_terminal_summary"])
def test_an_error_after_the_run_is_1_with_results(bench: Bench, hook: str) -> None:
    bench.conftest(f"\ndef {hook}():\n    raise ValueError('a bug')\n")
    bench.check("unknown_2", PASSES)
    assert bench.run_apart("--apply").ret == 1
    assert bench.wrote()


@pytest.mark.parametrize("code", [0, 2, 7, 42])
def test_pytest_exit_keeps_its_code(bench: Bench, code: int) -> None:
    """Except that a session in which a check is UNKNOWN is never 0."""
    bench.check("unknown_2", f"pytest.exit('enough', returncode={code})")
    assert bench.run("--apply").ret == (code or 3)
    assert bench.outcomes() == {"unknown_2": "UNKNOWN"}
