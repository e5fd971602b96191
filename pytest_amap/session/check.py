"""The `check` fixture: observe once, settle once."""

from __future__ import annotations

import typing
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeVar

import pytest

from pytest_amap.evidence.recorded import EvidenceError
from pytest_amap.foreign import one_line
from pytest_amap.host.run import Run
from pytest_amap.observations import referring
from pytest_amap.session import selection
from pytest_amap.session.live import run_key
from pytest_amap.verdicts import FAIL, UNKNOWN, Part

T = TypeVar("T")


class CheckRun:
    """One check of the catalogue while its test runs."""

    def __init__(self, check: str, run: Run, replay: Any = None) -> None:
        self.id = check
        self._run = run
        self._replay = replay

    def observe(self, collect: Callable[..., T], *hosts: Any) -> T:
        """Collect, and record what was seen before anyone judges it. In a replay: load what was recorded."""
        if self._replay is not None:
            kind = collect.__globals__["Seen"]
            return typing.cast(T, self._replay.seen(self.id, kind))
        assert self._run.host is not None
        try:
            seen = collect(*hosts)
            self._run.host.note("seen", f"collect of {self.id}", referring(seen))
        except EvidenceError as error:
            raise pytest.fail.Exception(str(error), pytrace=False) from None
        return seen

    def settle(self, parts: Sequence[Part]) -> None:
        """Settle the check; FAIL and UNKNOWN end the test here, so that pytest's own output agrees."""
        outcome, reason = self._run.settle(self.id, parts)
        if outcome is FAIL:
            self._end(pytest.fail.Exception(one_line(reason), pytrace=False))
        if outcome is UNKNOWN:
            self._end(pytest.skip.Exception(one_line(reason)))

    def _end(self, exception: BaseException) -> NoReturn:
        self._run.concluded[self.id] = exception
        raise exception


@pytest.fixture
def check(request: pytest.FixtureRequest) -> CheckRun:
    """What this check observes and how it is settled."""
    config = request.config
    run = config.stash.get(run_key, None)
    assert run is not None, "the check fixture belongs to the live checks"
    return CheckRun(selection.check_id(request.node, run.suite), run, config.pluginmanager.getplugin("amap-replay"))
