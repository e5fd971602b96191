"""The registry of faults: each is planted somewhere, declares its outcomes, and every check has its share."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter

import pytest

from pytest_amap.catalogue import L1
from pytest_amap.rehearsal import faults
from pytest_amap.rehearsal.sabotage import answers, boxes, host, lines, runtime, watch

TABLES = (
    boxes.SPECS,
    boxes.POLICIES,
    boxes.BEFORE,
    boxes.AFTER,
    answers.ANSWERS,
    runtime.ANSWERS,
    runtime.CONFIGS,
    lines.LINES,
    watch.SPOILERS,
    host.FILES,
    host.EFFECTS,
)
BY_HAND = {*host.ELSEWHERE, *runtime.ELSEWHERE}


def test_every_fault_is_planted_in_exactly_one_place() -> None:
    places = Counter([*(name for table in TABLES for name in table), *BY_HAND])
    assert {name: places[name] for name in faults.BY_NAME} == dict.fromkeys(faults.BY_NAME, 1)
    assert set(places) == set(faults.BY_NAME)


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
