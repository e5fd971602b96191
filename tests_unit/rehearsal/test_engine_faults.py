"""The registry of faults: each is planted somewhere, declares its outcomes, and every check has its share."""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

from pytest_amap.catalogue import L1
from pytest_amap.rehearsal import faults, sabotage

NAMES = [found.name for found in pkgutil.iter_modules(sabotage.__path__)]
MODULES = [importlib.import_module(f"{sabotage.__name__}.{name}") for name in NAMES]


def planted() -> Iterator[str]:
    """Every name in a module's tables of what plants a fault, and those that a module plants by hand."""
    for module in MODULES:
        for value in vars(module).values():
            if isinstance(value, dict) and set(value) & set(faults.BY_NAME):
                yield from value
        yield from getattr(module, "ELSEWHERE", ())


def test_every_fault_is_planted_and_nothing_else_is() -> None:
    assert set(planted()) == set(faults.BY_NAME)


def test_names_are_unique_and_hyphenated() -> None:
    assert len(faults.BY_NAME) == len(faults.FAULTS) >= 60
    for name in faults.BY_NAME:
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)


@pytest.mark.parametrize("fault", faults.FAULTS, ids=lambda fault: fault.name)
def test_outcomes_are_of_known_checks(fault: faults.Fault) -> None:
    assert fault.outcomes
    assert set(fault.outcomes) <= set(L1.ids)
    assert set(fault.outcomes.values()) <= {"PASS", "FAIL", "UNKNOWN"}
    assert not fault.breaks.endswith(".")


def test_the_list_is_one_fault_a_line_with_its_name_first() -> None:
    done = subprocess.run([sys.executable, faults.__file__], capture_output=True, text=True, check=True)
    assert [line.split()[0] for line in done.stdout.splitlines()] == list(faults.BY_NAME)
    assert "inbox-writable" in done.stdout
    assert "pass_criterion_3=FAIL" in done.stdout
