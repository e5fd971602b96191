"""A pytest plugin for one victim of test_disk: the clock of the evidence is set back by an hour on the way."""

from __future__ import annotations

from datetime import datetime, timedelta

from pytest_amap.evidence import store

SOONEST = 10
_true_clock, _asked = store.now, [0]


def _set_back() -> datetime:
    _asked[0] += 1
    return _true_clock() - (timedelta(hours=1) if _asked[0] > SOONEST else timedelta())


store.now = _set_back
