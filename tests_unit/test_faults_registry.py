"""What the faults together show of every check, and that docs/faults.md says the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_amap.catalogue import L1
from pytest_amap.rehearsal import faults, faults_page

ENOUGH = 3


@pytest.mark.parametrize("outcome", [faults.FAIL, faults.UNKNOWN])
@pytest.mark.parametrize("check", L1.ids)
def test_every_check_is_seen_to_fail_and_not_to_know(check: str, outcome: str) -> None:
    found = [fault.name for fault in faults.FAULTS if fault.outcomes.get(check) == outcome]
    assert len(found) >= ENOUGH, f"{check} becomes {outcome} by {found} alone"


def test_every_fault_stands_in_one_group() -> None:
    assert [fault for _, _, group in faults.GROUPS for fault in group] == list(faults.FAULTS)
    assert len({fault.name for fault in faults.FAULTS}) == len(faults.FAULTS)


def test_the_page_is_up_to_date() -> None:
    page = Path(__file__).resolve().parents[1] / "docs" / "faults.md"
    command = "python -m pytest_amap.rehearsal.faults_page > docs/faults.md"
    assert page.read_text(encoding="utf-8") == faults_page.page(), f"run {command}"
