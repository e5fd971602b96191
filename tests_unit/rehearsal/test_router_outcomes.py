"""Outcome files: consumed once, unlinked always, reported to the sender where they end its message."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from siblings_bench import Fleet, address, read, request


@pytest.fixture
def fleet(tmp_path: Path) -> Fleet:
    made = Fleet(tmp_path / "home")
    made.poll()
    made.write("alpha", "1", request("1"))
    made.poll()
    return made


@pytest.fixture
def notice_id(fleet: Fleet) -> str:
    found: str = fleet.notices("beta")[0]["notice_id"]
    return found


def test_delivered_is_recorded_and_told_to_nobody(fleet: Fleet, notice_id: str) -> None:
    path = fleet.outcome("beta", notice_id, "delivered", detail="inferred: silence")
    assert fleet.poll()["beta"]["peer_delivered"] == 1
    event = fleet.audit("beta")[-1]
    assert (event["event"], event["outcome"], event["from_instance"]) == ("outcome_consumed", "delivered", "alpha")
    assert event["detail"] == "inferred: silence"
    assert not path.exists()
    assert read(fleet.state("beta", "outcomes", f"peer-{notice_id}.delivered.json"))["req_id"] == "1"
    assert fleet.notices("alpha", "inbox") == []


def test_held_raises_an_alert_but_no_report(fleet: Fleet, notice_id: str) -> None:
    fleet.outcome("beta", notice_id, "held")
    fleet.poll()
    status = read(fleet.home / "router-state/status.json")
    assert [alert["outcome"] for alert in status["instances"]["beta"]["peer_alerts"]] == ["held"]
    assert fleet.notices("alpha", "inbox") == []


@pytest.mark.parametrize("outcome", ["denied", "refused"])
def test_the_sender_hears_of_an_end_in_its_inbox(fleet: Fleet, notice_id: str, outcome: str) -> None:
    fleet.outcome("beta", notice_id, outcome, detail="the daemon's own words")
    assert fleet.poll()["beta"]["peer_dsn_sent"] == 1
    report = fleet.notices("alpha", "inbox")[0]
    assert report["message"]["subject"] == f"Not delivered: {outcome}"
    assert report["message"]["from"] == address("amap.router")
    assert report["message"]["in_reply_to"] == notice_id
    assert "own words" not in report["message"]["preview"]
    assert fleet.audit("alpha")[-1]["event"] == "dsn_sent"
    fleet.write("alpha", "2", request("2", reply_to_message_id=report["notice_id"]))
    fleet.poll()
    assert fleet.answer("alpha", "2")["reason_code"] == "unresolved_reply"


BAD: dict[str, dict[str, Any]] = {
    "an extra key": {"more": "x"},
    "another tree": {"tree": "inbox"},
    "another id": {"notice_id": "0" * 32},
    "a detail that is no string": {"detail": 1},
    "an unknown outcome": {"outcome": "fine"},
}


@pytest.mark.parametrize("change", BAD.values(), ids=BAD.keys())
def test_a_malformed_outcome_is_discarded_and_gone(fleet: Fleet, notice_id: str, change: dict[str, Any]) -> None:
    path = fleet.outcome("beta", notice_id, "delivered")
    path.write_text(json.dumps({**read(path), **change}))
    assert fleet.poll()["beta"]["peer_outcome_discarded"] == 1
    assert fleet.audit("beta")[-1]["cause"] == "malformed"
    assert not path.exists()


def test_unknown_and_repeated_outcomes_are_discarded_by_cause(fleet: Fleet, notice_id: str) -> None:
    fleet.outcome("beta", "f" * 32, "delivered")
    fleet.outcome("alpha", notice_id, "delivered")
    fleet.outcome("beta", notice_id, "delivered")
    fleet.poll()
    fleet.outcome("beta", notice_id, "delivered")
    fleet.poll()
    causes = [event["cause"] for event in fleet.audit("beta") if event["event"] == "outcome_discarded"]
    assert causes == ["unknown_notice_id", "duplicate"]
    assert fleet.audit("alpha")[-1]["cause"] == "unknown_notice_id"


def test_delivered_may_follow_held(fleet: Fleet, notice_id: str) -> None:
    for outcome in ("held", "delivered"):
        fleet.outcome("beta", notice_id, outcome)
        fleet.poll()
    assert [event["outcome"] for event in fleet.audit("beta") if event["event"] == "outcome_consumed"] == [
        "held",
        "delivered",
    ]


def test_what_cannot_be_read_stays_and_other_names_are_ignored(fleet: Fleet, notice_id: str) -> None:
    path = fleet.outcome("beta", notice_id, "delivered")
    os.link(path, fleet.home / "second-name")
    path.with_name(f".peer-{notice_id}.json.tmp").write_text("{}")
    summary = fleet.poll()["beta"]
    assert (summary["peer_outcomes_seen"], summary["peer_outcome_errored"]) == (1, 1)
    assert path.exists()
