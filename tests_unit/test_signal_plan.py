"""One plan for the ways to stop a run: the first signal raises, and nothing cuts cleanup short."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from pytest_amap.session import interrupts
from pytest_amap.session.interrupts import SIGNALS, Interrupts


class Plan(Interrupts):
    """With what it said."""

    def __init__(self) -> None:
        self.said: list[str] = []
        super().__init__(self.said.append)


@pytest.fixture
def plan() -> Iterator[Plan]:
    before = {number: signal.signal(number, signal.SIG_DFL) for number in SIGNALS}
    made = Plan()
    made.install()
    yield made
    made.restore()
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time as the plan sees it: a list with one number."""
    now = [100.0]
    monkeypatch.setattr(interrupts.time, "monotonic", lambda: now[0])
    return now


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_signal_raises_and_is_named(plan: Plan, number: signal.Signals) -> None:
    with pytest.raises(KeyboardInterrupt, match=number.name):
        os.kill(os.getpid(), number)
    assert plan.first == number.name


def test_the_same_signal_twice_is_one(plan: Plan, later: list[float]) -> None:
    """The terminal sends it to the group, and the outer process relays it."""
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
    later[0] += 0.9
    os.kill(os.getpid(), signal.SIGTERM)
    assert (plan.first, plan.said) == ("SIGINT", [])


def test_a_second_signal_is_told_and_changes_nothing(plan: Plan, later: list[float]) -> None:
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
    for _ in range(3):
        later[0] += 1.1
        os.kill(os.getpid(), signal.SIGTERM)
    assert plan.first == "SIGINT"
    assert plan.said == ["amap: SIGTERM again: cleanup is running and goes on; kill -9 ends it at once"] * 3


def test_held_a_signal_is_only_noted(plan: Plan) -> None:
    plan.hold()
    os.kill(os.getpid(), signal.SIGHUP)
    assert plan.first == "SIGHUP"
    plan.again()


def test_what_something_swallowed_is_raised_again(plan: Plan) -> None:
    plan.again()
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
    with pytest.raises(KeyboardInterrupt, match="SIGINT"):
        plan.again()


def test_what_was_ignored_stays_ignored() -> None:
    """`nohup pytest ...` must survive the terminal's end."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    plan = Plan()
    plan.install()
    try:
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGTERM) is plan
    finally:
        plan.restore()
        signal.signal(signal.SIGHUP, before)


def test_restored_the_handlers_are_as_before() -> None:
    before = {number: signal.getsignal(number) for number in SIGNALS}
    plan = Plan()
    plan.install()
    plan.restore()
    assert {number: signal.getsignal(number) for number in SIGNALS} == before
