"""A pytest plugin for the victims of test_timeouts: it hangs at one moment, and lets pytest-timeout fire there.

AMAP_TEST_HANG names the moment: fixture, body or teardown. Nothing of pytest-timeout is replaced: its own timer, which
it has set by then, is shortened to a second.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest

from pytest_amap.host import receiving
from pytest_amap.host.throwaway import Throwaway

MOMENT = os.environ.get("AMAP_TEST_HANG", "")


def hang(*_: Any) -> Any:
    signal.setitimer(signal.ITIMER_REAL, 1)
    time.sleep(300)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A user's own marker, nearer than ours: it counts setup and teardown, too."""
    for item in items:
        if MOMENT in ("fixture", "teardown"):
            item.add_marker(pytest.mark.timeout(250), append=False)


def pytest_configure() -> None:
    if MOMENT == "fixture":
        receiving.sent = hang
    if MOMENT == "body":
        make = Throwaway.make

        def make_and_hang(probe: Throwaway) -> Any:
            make(probe)
            return hang()

        Throwaway.make = make_and_hang  # type: ignore[method-assign]


@pytest.fixture(autouse=True)
def _hangs_afterwards() -> Iterator[None]:
    yield
    if MOMENT == "teardown":
        hang()
