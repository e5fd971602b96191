"""What the stand-in router makes of a request: delivered, held, refused, resumed, quarantined."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from siblings_bench import Fleet, address, read, request


@pytest.fixture
def fleet(tmp_path: Path) -> Fleet:
    made = Fleet(tmp_path / "home")
    made.poll()
    return made


def test_a_task_on_the_edge_is_placed_with_its_facts(fleet: Fleet) -> None:
    fleet.write("alpha", "00000000", request("00000000"))
    summary = fleet.poll()["alpha"]
    answer, notice = fleet.answer("alpha", "00000000"), fleet.notices("beta")[0]
    assert summary["accepted"] == summary["drained"] == 1
    assert (answer["outcome"], answer["reason_code"]) == ("accepted", "peer_routed")
    assert answer["recipients"] == [address("beta")]
    assert answer["message_id"] == notice["notice_id"] == notice["message"]["id"]
    assert notice["message"]["from"] == address("alpha")
    assert "to" not in notice["message"]
    message = read(fleet.lane("beta", "peer/messages", f"notice-{notice['notice_id']}.json"))
    assert (message["to"], message["body_text"]) == (address("beta"), "List the files and reply.")
    placed = fleet.audit("beta")[0]
    assert placed["event"] == "peer_notice_placed"
    assert (placed["from_instance"], placed["in_reply_to"], placed["reply_basis"]) == ("alpha", None, None)
    assert fleet.lane("alpha", "outbox/processed/req-00000000.json").exists()
    assert not fleet.lane("alpha", "outbox/req-00000000.json").exists()


def test_documents_are_private_and_the_request_keeps_its_mode(fleet: Fleet) -> None:
    fleet.write("alpha", "1", request("1"))
    fleet.lane("alpha", "outbox/req-1.json").chmod(0o644)
    fleet.poll()
    private = [*fleet.lane("beta", "peer").rglob("notice-*.json"), fleet.lane("alpha", "outbox/results/1.json")]
    private += [fleet.state("beta", "audit/log.jsonl"), fleet.state("alpha", "results/1.json")]
    assert [stat.S_IMODE(path.stat().st_mode) for path in private] == [0o600] * 5
    assert stat.S_IMODE(fleet.lane("alpha", "outbox/processed/req-1.json").stat().st_mode) == 0o644


def test_the_reverse_task_is_held_without_an_audit_line(fleet: Fleet) -> None:
    fleet.write("beta", "1", request("1", to="alpha"))
    assert fleet.poll()["beta"]["queued_for_human"] == 1
    answer = fleet.answer("beta", "1")
    assert (answer["outcome"], answer["reason_code"]) == ("queued_for_human", "recipient_not_allowlisted")
    assert answer["message_id"] is None
    assert "recipients" not in answer
    assert read(fleet.state("beta", "held/req-1.json")) == request("1", to="alpha")
    assert fleet.notices("alpha") == []
    assert fleet.audit("alpha") == fleet.audit("beta") == []


def delegate(fleet: Fleet) -> str:
    fleet.write("alpha", "1", request("1"))
    fleet.poll()
    notice_id: str = fleet.answer("alpha", "1")["message_id"]
    return notice_id


def test_a_reply_needs_no_edge_and_is_bound_to_the_sender(fleet: Fleet, caplog: pytest.LogCaptureFixture) -> None:
    notice_id = delegate(fleet)
    fleet.write("beta", "1", request("1", to="beta", reply_to_message_id=notice_id))
    fleet.poll()
    assert fleet.answer("beta", "1")["reason_code"] == "peer_routed"
    assert fleet.notices("alpha")[0]["message"]["in_reply_to"] == notice_id
    placed = fleet.audit("alpha")[0]
    assert (placed["in_reply_to"], placed["reply_basis"]) == (notice_id, "reply_window")
    warned = [record.getMessage() for record in caplog.records if "discarded" in record.getMessage()]
    assert len(warned) == 1
    assert address("beta") not in warned[0]


def test_a_reply_after_the_window_is_refused_and_audited(fleet: Fleet) -> None:
    notice_id = delegate(fleet)
    ledger = fleet.state("beta", "delivered", f"notice-{notice_id}.json")
    ledger.write_text(json.dumps({**read(ledger), "ts": "2001-01-01T00:00:00Z"}))
    fleet.write("beta", "1", request("1", to="alpha", reply_to_message_id=notice_id))
    fleet.poll()
    assert fleet.answer("beta", "1")["reason_code"] == "peer_reply_window_expired"
    assert fleet.audit("beta")[-1]["event"] == "peer_refused"


def test_a_forged_reply_is_never_turned_into_a_task(fleet: Fleet) -> None:
    notice_id = delegate(fleet)
    fleet.write("alpha", "2", request("2", reply_to_message_id=notice_id))
    fleet.poll()
    assert fleet.answer("alpha", "2")["reason_code"] == "unresolved_reply"
    assert len(fleet.notices("beta")) == 1


MALFORMED: dict[str, tuple[Any, str]] = {
    "not JSON": (b"{", "malformed_request"),
    "not UTF-8": (b"\xff\xfe", "malformed_request"),
    "an array": ([], "malformed_request"),
    "too large": (b" " * ((1 << 20) + 1), "malformed_request"),
    "an unknown top key before a wrong version": (
        {**request("1"), "sender_exposure": {}, "contract_version": "1"},
        "malformed_request",
    ),
    "another version": ({**request("1"), "contract_version": "1"}, "unsupported_contract_version"),
    "no recipient": ({**request("1"), "draft": {"to": [], "subject": "", "body_text": ""}}, "malformed_request"),
    "a display name": (
        {**request("1"), "draft": {"to": ["Beta <beta@fleet.example>"], "subject": "", "body_text": ""}},
        "malformed_request",
    ),
    "a line end in the subject": (request("1", subject="a\r\nBcc: x"), "malformed_request"),
    "another id": (request("2"), "req_id_mismatch"),
    "another agent": ({**request("1"), "agent_id": "beta"}, "agent_id_mismatch"),
    "nobody": (request("1", to="gamma"), "recipient_unknown"),
    "itself": (request("1", to="alpha"), "self_send"),
    "a cc on an edge": (request("1", cc=[address("alpha"), address("beta")]), "self_send"),
    "attachments without files": (
        request("1", attachments=[{"filename": "a", "media_type": "b", "size_bytes": 1, "sha256": "0" * 64}]),
        "attachment_mismatch",
    ),
}


@pytest.mark.parametrize(("document", "reason"), MALFORMED.values(), ids=MALFORMED.keys())
def test_a_bad_request_is_rejected_by_name(fleet: Fleet, document: Any, reason: str) -> None:
    fleet.write("alpha", "1", document)
    assert fleet.poll()["alpha"]["rejected"] == 1
    assert fleet.answer("alpha", "1")["reason_code"] == reason
    assert fleet.notices("beta") == []


def test_two_recipients_on_an_edge_are_refused(tmp_path: Path) -> None:
    fleet = Fleet(tmp_path / "home", peer_senders={"beta": ["alpha"], "gamma": ["alpha"]})
    fleet.lane("gamma", "outbox").mkdir(parents=True)
    fleet.select("alpha", "beta", "gamma")
    fleet.poll()
    fleet.write("alpha", "1", request("1", cc=[address("gamma")]))
    fleet.poll()
    assert fleet.answer("alpha", "1")["reason_code"] == "peer_single_recipient"
    assert fleet.audit("alpha")[0]["recipients"] == ["beta", "gamma"]


def test_mail_goes_to_the_inbox_only_where_both_list_each_other(tmp_path: Path) -> None:
    fleet = Fleet(tmp_path / "home", peer_senders={}, peers={"alpha": ["beta"], "beta": ["alpha"]})
    fleet.poll()
    fleet.write("alpha", "1", request("1"))
    fleet.poll()
    assert fleet.answer("alpha", "1")["reason_code"] == "allowlisted"
    assert fleet.notices("beta") == []
    assert fleet.notices("beta", "inbox")[0]["kind"] == "deliver"


def test_what_lay_there_at_first_sight_is_never_delivered(tmp_path: Path) -> None:
    fleet = Fleet(tmp_path / "home")
    fleet.write("alpha", "1", request("1"))
    assert fleet.poll()["alpha"]["quarantined"] == 1
    assert fleet.answer("alpha", "1")["reason_code"] == "quarantined_pre_approval"
    fleet.write("alpha", "1", request("1", subject="again"))
    fleet.poll()
    assert fleet.answer("alpha", "1")["reason_code"] == "quarantined_pre_approval"
    assert fleet.notices("beta") == []


def test_the_same_bytes_resume_and_others_are_refused(fleet: Fleet) -> None:
    first = delegate(fleet)
    fleet.write("alpha", "1", request("1"))
    assert fleet.poll()["alpha"]["outbound_resumed"] == 1
    assert fleet.answer("alpha", "1")["message_id"] == first
    fleet.write("alpha", "1", request("1", subject="other"))
    fleet.poll()
    assert fleet.answer("alpha", "1")["reason_code"] == "req_id_reused"
    assert read(fleet.state("alpha", "results/1.json"))["result"]["message_id"] == first
    assert len(fleet.notices("beta")) == 1


def _symlink(path: Path) -> None:
    path.symlink_to("/etc/passwd")


def _bad_name(path: Path) -> None:
    path.with_name("evil.json").write_text("{}")


@pytest.mark.parametrize("plant", [_symlink, _bad_name])
def test_links_and_other_names_are_left_unopened(fleet: Fleet, plant: Callable[[Path], None]) -> None:
    plant(fleet.lane("alpha", "outbox/req-1.json"))
    summary = fleet.poll()["alpha"]
    assert (summary["outbound_skipped_bad_name"], summary["outbound_seen"]) == (1, 0)


def test_a_fifo_is_no_request_and_a_hard_link_is_malformed(fleet: Fleet) -> None:
    os.mkfifo(fleet.lane("alpha", "outbox/req-1.json"))
    fleet.write("alpha", "2", request("2"))
    os.link(fleet.lane("alpha", "outbox/req-2.json"), fleet.home / "second-name")
    assert fleet.poll()["alpha"]["outbound_seen"] == 1
    assert "nlink" in fleet.answer("alpha", "2")["detail"]


def test_an_attachment_travels_with_its_reference(fleet: Fleet) -> None:
    data = b"hello"
    described = {"filename": "a.txt", "media_type": "text/plain", "size_bytes": 5}
    described["sha256"] = hashlib.sha256(data).hexdigest()
    sidecar = fleet.lane("alpha", "outbox/req-1.attachments")
    sidecar.mkdir()
    (sidecar / "0").write_bytes(data)
    fleet.write("alpha", "1", request("1", attachments=[described]))
    fleet.poll()
    notice = fleet.notices("beta")[0]
    reference = notice["message"]["attachments"][0]["content_ref"]
    assert reference == f"{notice['notice_id']}.attachments/0"
    assert fleet.lane("beta", "peer/notices", reference).read_bytes() == data
    assert not sidecar.exists()


def test_a_broken_results_directory_never_stops_the_router(fleet: Fleet) -> None:
    fleet.lane("alpha", "outbox/results").write_text("not a directory")
    fleet.lane("alpha", "outbox/processed").symlink_to("/tmp")
    fleet.write("alpha", "1", request("1"))
    fleet.poll()
    assert len(fleet.notices("beta")) == 1
    assert not fleet.lane("alpha", "outbox/req-1.json").exists()
    assert read(fleet.state("alpha", "results/1.json"))["result"]["outcome"] == "accepted"


def test_a_sabotaged_recipient_hurts_nobody_else(fleet: Fleet) -> None:
    notices = fleet.lane("beta", "peer/notices")
    notices.rmdir()
    notices.symlink_to(fleet.home)
    fleet.write("alpha", "1", request("1"))
    fleet.poll()
    answer = fleet.answer("alpha", "1")
    assert (answer["outcome"], answer["reason_code"]) == ("queued_for_human", "delivery_failed")
    assert answer["detail"].startswith("beta: ")
    assert str(fleet.home) not in answer["detail"]
