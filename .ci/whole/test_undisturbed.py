"""A signal that comes while a program is being started ends that program, too."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from types import FrameType

import pytest

from pytest_amap.host import process

TRIES = 120


class Stop(Exception):
    pass


@pytest.fixture
def raising() -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise Stop

    before = signal.signal(signal.SIGALRM, stop)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.timeout(0)
@pytest.mark.usefixtures("raising")
def test_an_alarm_at_any_moment_of_a_start_leaves_no_process(tmp_path: os.PathLike[str]) -> None:
    mark = f"amap-undisturbed-{os.getpid()}"
    stopped = 0
    for attempt in range(TRIES):
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.0002 + attempt * 0.00003)
            process.run(
                ["/bin/sh", "-c", "sleep 60", mark], cwd=os.fspath(tmp_path), env={"PATH": os.defpath}, timeout=9
            )
        except Stop:
            stopped += 1
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    assert stopped == TRIES
    assert running(mark) == []


@pytest.mark.timeout(0)
@pytest.mark.usefixtures("raising")
def test_what_was_put_off_is_raised_at_the_end() -> None:
    reached = False
    with pytest.raises(Stop), process.undisturbed():  # noqa: PT012
        signal.raise_signal(signal.SIGALRM)
        reached = True
    assert reached
    with pytest.raises(Stop):
        signal.raise_signal(signal.SIGALRM)


def running(mark: str) -> list[str]:
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/cmdline", "rb") as stream:
                    command = stream.read()
            except OSError:
                continue
            if mark.encode() in command:
                found.append(entry)
    return found
