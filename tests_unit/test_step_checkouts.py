"""Step 0's facts about the checkouts: commit, state, and how it stands to the pin."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripted_lab import assert_as_planned, said, scripted_lab

from kit import siblings
from kit.errors import Refused
from pytest_amap.host.lab import Lab
from pytest_amap.observations import Ran
from pytest_amap.steps import checkouts, prerequisites

PIN = siblings.load_pins()["router"].commit or ""
OTHER = "0123456789" * 4
NONE = said(exit=128, stderr="fatal: not a git repository (or any of the parent directories): .git\n")


def looked(tmp_path: Path, *, router: Ran, changes: str = "") -> tuple[dict[str, str], list[str], Lab]:
    """The facts, and what was told meanwhile."""
    at = said(f"\n{OTHER}\n")
    names = ("router", "connector", "spec", "plugin")
    answers = {f"{name} commit": at for name in names} | {f"{name} changes": said(changes) for name in names}
    lab, host = scripted_lab(tmp_path, answers | {"router commit": router, "connector commit": NONE})
    told: list[str] = []
    lab.run.say = told.append
    prerequisites.checked_out(lab)
    assert_as_planned(lab, checkouts.plan, host.argvs)
    return lab.run.facts, told, lab


def test_each_sibling_stands_somehow_to_its_pin_and_this_repository_has_none(tmp_path: Path) -> None:
    facts, told, _ = looked(tmp_path, router=said(f"\n{PIN}\n"))
    assert facts == {
        "router_commit": f"{PIN} (clean, found beside this checkout)",
        "router_pin": "at the pin",
        "connector_commit": "not measured: no git checkout, found beside this checkout",
        "connector_pin": "not measured: no git checkout",
        "spec_commit": f"{OTHER} (clean, found beside this checkout)",
        "spec_pin": "unpinned",
        "plugin_commit": f"{OTHER} (clean)",
    }
    assert told == []


def test_a_sibling_off_its_pin_is_told_and_stops_nothing(tmp_path: Path) -> None:
    facts, told, _ = looked(tmp_path, router=said(f"\n{OTHER}\n"), changes=" M file\n")
    assert facts["router_pin"] == f"not at the pin {PIN[:12]}"
    assert facts["router_commit"].endswith("(with local changes, found beside this checkout)")
    assert told == [f"the router checkout is not at the pin {PIN[:12]} of kit/siblings.json; amap siblings --apply"]


def test_pins_that_cannot_be_read_are_not_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise Refused("siblings.json is no JSON document: mend the file")

    monkeypatch.setattr(siblings, "load_pins", refuse)
    facts, told, _ = looked(tmp_path, router=said(f"\n{OTHER}\n"))
    assert facts["router_pin"].startswith("not measured: siblings.json is no JSON document")
    assert told == []
