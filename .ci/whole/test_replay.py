"""A replay of a run of today says what that run said: every outcome, reason and part, and the same exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from rehearsing import CHECKOUT, Rehearsal, rehearse

from pytest_amap.evidence import verify

FAULTS = {
    "inbox-writable": "pass_criterion_3 or unknown_2",
    "exec-flood": "unknown_2",
    "create-stays-error": "unknown_2",
    "foreign-sandbox": "unknown_6 or unknown_2",
}
"""A FAIL, an output of which the record keeps head and tail, a step that fails, a gate that refuses: and the checks."""


def replayed(run: Rehearsal) -> None:
    assert run.run is not None, run.tail()
    assert verify.problems(run.run) == []
    command = [sys.executable, "-m", "pytest", "tests_live", "-p", "no:cacheprovider", "--replay", str(run.run)]
    ended = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, timeout=60)
    assert "replay: every outcome, reason and part is as recorded" in ended.stdout, ended.stdout
    assert ended.returncode == run.code, ended.stdout


def test_the_clean_run(clean: Rehearsal) -> None:
    replayed(clean)


def test_a_selection(home: Path) -> None:
    replayed(rehearse(home, "-k", "unknown_2 or unknown_6"))


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault(fault: str, home: Path, tmp_path: Path) -> None:
    run = rehearse(tmp_path / "new" if fault == "create-stays-error" else home, "--fault", fault, "-k", FAULTS[fault])
    assert run.code in (1, 3), run.tail()
    replayed(run)


LATE = """
import types
import pytest

def pytest_configure(config):
    late = types.ModuleType("late_check")
    late.check = pytest.fixture(lambda: object(), name="check")
    config.pluginmanager.register(late)
"""


def test_another_plugin_s_fixture_of_the_same_name_is_not_asked(tmp_path: Path) -> None:
    (tmp_path / "late.py").write_text(LATE)
    command = [sys.executable, "-m", "pytest", "tests_live", "-p", "no:cacheprovider", "-p", "late"]
    command += ["-k", "unknown_2", "--replay", "examples/evidence"]
    environ = os.environ | {"PYTHONPATH": str(tmp_path)}
    ended = subprocess.run(command, cwd=CHECKOUT, env=environ, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stdout
