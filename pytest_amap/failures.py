"""How a setup step says that it could not do or could not observe its work."""

from __future__ import annotations

from collections.abc import Iterable


class StepFailed(Exception):
    """One sentence: what was expected, what was seen, what to do next. `details` are lines for the person alone."""

    def __init__(self, reason: str, details: Iterable[str] = ()) -> None:
        super().__init__(reason)
        self.details = tuple(details)


class StepRefused(StepFailed):
    """A gate that does not let the run go on."""
