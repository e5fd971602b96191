"""Times as other programs print them, made comparable. Pure."""

from __future__ import annotations

from datetime import UTC, datetime


def second(text: str) -> str:
    """The second, in UTC and without a zone, such as 2026-11-29T12:00:00; "" where the text is no time.

    Docker prints the year 1 for a container that never ran: that is no time either.
    """
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return ""
    if found.tzinfo is None or found.year == 1:
        return ""
    return found.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="seconds")
