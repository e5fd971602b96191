"""What all unit tests share: hosts that are made up answer at once, so that a wait need not be polled slowly."""

from __future__ import annotations

import pytest

from pytest_amap.host import host

ABOUT_WAITING = "test_host_doorway"


@pytest.fixture(autouse=True)
def quick_polls(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.module.__name__ != ABOUT_WAITING:
        monkeypatch.setattr(host, "FIRST", 0.01)
        monkeypatch.setattr(host, "LAST", 0.02)
