"""The one exception of the kit."""

from __future__ import annotations


class Refused(Exception):
    """The kit will not do it; the message is one sentence for the operator: expected, seen, what to do."""
