"""Names, numbers and times in words: what every report writer shares. Pure."""

from __future__ import annotations

from datetime import datetime

from pytest_amap.results import RunResult


def listed(names: list[str], none: str = "none") -> str:
    return ", ".join(names) if names else none


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def is_rehearsal(run: RunResult) -> bool:
    """Whether what the run shows was observed on the rehearsal host, also when it is replayed."""
    return run.host == "rehearsal" or run.replay_of.startswith("rehearsal")


def seconds_between(started: str, ended: str) -> float | None:
    """Seconds from one ISO 8601 time to another, or None when either cannot be read."""
    try:
        return (datetime.fromisoformat(ended) - datetime.fromisoformat(started)).total_seconds()
    except (TypeError, ValueError):
        return None


def span(seconds: float) -> str:
    """A duration in words: "0.4 s", "41 s", "3 min 05 s", "1 h 02 min"."""
    if seconds < 10:
        return f"{max(seconds, 0):.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"
