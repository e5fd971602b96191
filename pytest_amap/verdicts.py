"""Outcomes, the parts a check is made of, and the exit code. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """What a check, or one part of it, established."""

    PASS = "PASS"
    """The check observed what its sentence says, positive control included."""
    FAIL = "FAIL"
    """It observed a contradiction."""
    UNKNOWN = "UNKNOWN"
    """Everything else. Never a pass."""


PASS, FAIL, UNKNOWN = Outcome.PASS, Outcome.FAIL, Outcome.UNKNOWN


@dataclass(frozen=True)
class Part:
    """One question of a check's sentence, answered.

    `records` are paths relative to evidence/ of what the answer rests on.
    """

    name: str
    outcome: Outcome
    expected: str
    seen: str
    records: tuple[str, ...] = ()

    @property
    def reason(self) -> str:
        return f"{self.name}: expected {self.expected}, saw {self.seen}"


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """Any FAIL is FAIL, else any UNKNOWN is UNKNOWN; nothing at all is UNKNOWN."""
    seen = set(outcomes)
    if FAIL in seen:
        return FAIL
    return PASS if seen == {PASS} else UNKNOWN


def verdict(parts: Sequence[Part]) -> tuple[Outcome, str]:
    """The outcome of a check and its reason: the parts that decided it, or all of them when they pass."""
    outcome = worst(part.outcome for part in parts)
    if not parts:
        return outcome, "nothing was judged"
    if outcome is PASS:
        return outcome, "; ".join(f"{part.name}: {part.seen}" for part in parts)
    return outcome, "; ".join(part.reason for part in parts if part.outcome is outcome)


def exit_code(status: int, steps_failed: bool, outcomes: Iterable[Outcome]) -> int:
    """The process's exit code from pytest's own `status` (facts: 0 ok, 1 failed, 2 interrupted, 3 internal error,
    4 usage, 5 nothing collected, 6 too many warnings).

    0: every selected check is PASS. 1: a step failed, a gate refused, or an internal error.
    3: every step completed and some selected check is not PASS. 2, 4, 5 and any code of
    `pytest.exit` stay pytest's own; 1 (of a test that is no check) and 6 stand where it would be 0.
    """
    if status not in (0, 1, 3, 6):
        return status
    if steps_failed or status == 3:
        return 1
    if worst(outcomes) is not PASS:
        return 3
    return status if status in (1, 6) else 0
