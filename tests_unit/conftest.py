"""What all unit tests share: hosts that are made up answer at once, and no file has to outlive a power cut."""

from __future__ import annotations

import os
import time

import pytest
from hypothesis import settings

from pytest_amap.host import host

ABOUT_WAITING = "test_host_doorway"

# A loaded machine fails nobody, nor does an example that only one run makes up; --hypothesis-profile default makes new.
settings.register_profile("the same", derandomize=True, deadline=None)
settings.load_profile("the same")


class Hurried:
    """A clock that a sleep puts forward, and that costs no time."""

    time = staticmethod(time.time)

    def __init__(self) -> None:
        self._ahead = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self._ahead

    def sleep(self, seconds: float) -> None:
        self._ahead += seconds


@pytest.fixture(autouse=True)
def hurried(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    if request.module.__name__ != ABOUT_WAITING:
        monkeypatch.setattr(host, "time", Hurried())
