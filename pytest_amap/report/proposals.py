"""Which check of a run bears on which item of the spec's NOT CHECKED HERE list. Proposals, never ticks. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from pytest_amap.results import CheckResult, NotCheckedRow
from pytest_amap.verdicts import FAIL, PASS, Outcome

ENFORCED, OPERATIONAL = "enforced by OpenShell", "still operational"

BEARS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (r"read-only inbound|read only inbound|no inbound write", OPERATIONAL, ("pass_criterion_2", "pass_criterion_3")),
    (r"write.authority", ENFORCED, ("pass_criterion_3", "unknown_2")),
    (r"staging|runtime-private", ENFORCED, ("unknown_3", "pass_criterion_3")),
    (r"in_reply_to", OPERATIONAL, ("pass_criterion_2",)),
    (r"at.most.once", OPERATIONAL, ("unknown_4",)),
    (r"intake isolation", OPERATIONAL, ("pass_criterion_5",)),
)
"""(words of an item, the column proposed, the checks that bear on it); words, since the spec's wording is its own."""


def rows(items: Iterable[str], checks: Sequence[CheckResult]) -> tuple[NotCheckedRow, ...]:
    """One row an item; a proposal only where a check of this run that bears on it is PASS, and none is FAIL."""
    outcomes = {result.check.id: result.outcome for result in checks}
    return tuple(NotCheckedRow(item, proposal(item, outcomes)) for item in items)


def proposal(item: str, outcomes: Mapping[str, Outcome]) -> str:
    for words, column, bearing in BEARS:
        shown = [check for check in bearing if outcomes.get(check) is PASS]
        contradicted = any(outcomes.get(check) is FAIL for check in bearing)
        if shown and not contradicted and re.search(words, item, re.IGNORECASE):
            return f"{column}: {', '.join(shown)}"
    return ""
