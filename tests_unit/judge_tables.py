"""A judge's table as three tests: what is PASS, what is FAIL, what is UNKNOWN, each case as a replay would judge it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from pytest_amap.observations import build, plain
from pytest_amap.verdicts import FAIL, PASS, UNKNOWN, Outcome, Part, verdict

Judge = Callable[[Any], list[Part]]
Table = Mapping[str, Any]
"""By a name: what was seen, or that and words which the reason must hold."""


def tests_of(judge: Judge, holds: Table, broken: Table, unknown: Table) -> Iterator[Callable[..., None]]:
    for wanted, table in ((PASS, holds), (FAIL, broken), (UNKNOWN, unknown)):
        yield test_of(judge, wanted, table)


def test_of(judge: Judge, wanted: Outcome, table: Table) -> Callable[..., None]:
    @pytest.mark.parametrize("case", table.values(), ids=table)
    def test(case: Any) -> None:
        seen, named = case if isinstance(case, tuple) else (case, "")
        recorded = build(type(seen), json.loads(json.dumps(plain(seen))))
        assert recorded == seen, "it does not survive a record"
        outcome, reason = verdict(judge(recorded))
        assert outcome is wanted, reason
        assert named in reason, reason

    return test


def part_of(judge: Judge, seen: Any, words: str) -> Part:
    """The one part with those words in its name."""
    (found,) = (part for part in judge(seen) if words in part.name)
    return found


def turned(judge: Judge, table: Table, outcome: Outcome) -> set[str]:
    """The parts that have that outcome in some case."""
    seen = (case[0] if isinstance(case, tuple) else case for case in table.values())
    return {part.name for one in seen for part in judge(one) if part.outcome is outcome}
