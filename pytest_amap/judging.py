"""What several judges say the same way. Pure."""

from __future__ import annotations

from pytest_amap.parsers import Unreadable
from pytest_amap.verdicts import FAIL, PASS, UNKNOWN, Outcome, Part


def unknown(name: str, expected: str, seen: str | Unreadable, *records: str) -> Part:
    """A question that could not be answered."""
    return Part(name, UNKNOWN, expected, seen.why if isinstance(seen, Unreadable) else seen, records)


def decided(name: str, holds: bool, expected: str, seen: str, *records: str) -> Part:
    """A question whose answer was observed."""
    return Part(name, PASS if holds else FAIL, expected, seen, records)


def only_beside(control: Outcome, part: Part) -> Part:
    """A denial counts only beside its positive control; without it the part is UNKNOWN, unless it is a FAIL."""
    if control is PASS or part.outcome is FAIL:
        return part
    return Part(part.name, UNKNOWN, part.expected, f"{part.seen}, but its control did not hold", part.records)


def listed(items: object, none: str = "none") -> str:
    """A few things in a line."""
    words = [str(item) for item in items]  # type: ignore[attr-defined]
    return ", ".join(words[:8]) + (f" and {len(words) - 8} more" if len(words) > 8 else "") if words else none
