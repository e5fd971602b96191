"""Times as other programs print them, made comparable. Pure."""

from __future__ import annotations

from datetime import UTC, datetime


def second(text: str) -> str:
    """The second, in UTC and without a zone, such as 2026-11-29T12:00:00; "" where the text is no time."""
    found = instant(text)
    return found.replace(tzinfo=None).isoformat(timespec="seconds") if found else ""


def epoch(text: str) -> float | None:
    """Seconds since the epoch; None where the text is no time."""
    found = instant(text)
    return found.timestamp() if found else None


def instant(text: str) -> datetime | None:
    """In UTC; None for a time without a zone, and for what is none: a leap second, or words.

    Docker prints the year 1 for a container that never ran: that is no time either.
    """
    try:
        found = datetime.fromisoformat(text)
        return None if found.tzinfo is None or found.year == 1 else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
