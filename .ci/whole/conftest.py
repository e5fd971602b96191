"""What the tests of whole rehearsals share: a home on which everything was done once, and the size of the chaos."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from hypothesis import settings
from rehearsing import CANNOT_ENTER, Rehearsal, copy_home, rehearse
from victims import assert_clean

settings.register_profile("the same", derandomize=True, deadline=None)
settings.load_profile("the same")


def pytest_configure() -> None:
    """What these tests start is to die of signals, also where this was started in the background or under nohup."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("rehearsals", "tests of whole rehearsals")
    group.addoption("--chaos", type=int, default=60, metavar="N", help="how many rehearsals are stopped at random")
    group.addoption("--chaos-seed", type=int, default=None, metavar="SEED", help="the seed of an earlier chaos")


@pytest.fixture(scope="session")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Rehearsal:
    """A complete rehearsal, ended well; skips with the failing call named where namespaces are refused."""
    done = rehearse(tmp_path_factory.mktemp("clean") / "home")
    if CANNOT_ENTER in done.text:
        pytest.skip(next(line for line in done.text.splitlines() if CANNOT_ENTER in line))
    assert_clean(done)
    return done


@pytest.fixture
def home(clean: Rehearsal, tmp_path: Path) -> Path:
    """A copy of that home, to be spoiled."""
    return copy_home(clean.home, tmp_path / "home")
