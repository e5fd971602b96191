"""Times of other programs: zones, fractions, and what is no time."""

from __future__ import annotations

import pytest

from pytest_amap import instants


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-29T12:00:00Z",
        "2026-11-29T12:00:00.123456789Z",
        "2026-11-29T12:00:00.5+00:00",
        "2026-11-29T14:00:00+02:00",
        "2026-11-29T06:30:00.25-05:30",
        "2026-11-29 12:00:00+00:00",
    ],
)
def test_one_second_in_many_words(text: str) -> None:
    assert instants.second(text) == "2026-11-29T12:00:00"
    assert int(instants.epoch(text) or 0) == 1795953600


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00"),
        ("2026-03-29T01:59:59+01:00", "2026-03-29T03:00:00+02:00"),
    ],
    ids=["the hour that comes twice", "the hour that is left out"],
)
def test_summer_time_turns_no_order_round(earlier: str, later: str) -> None:
    assert instants.second(earlier) < instants.second(later)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2026-11-29T12:00:00",
        "2026-12-31T23:59:60Z",
        "0001-01-01T00:00:00Z",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
        "1795953600",
    ],
    ids=["nothing", "words", "no zone", "a leap second", "never", "before time", "after time", "an epoch"],
)
def test_what_is_no_time_is_none(text: str) -> None:
    assert (instants.second(text), instants.epoch(text)) == ("", None)
