"""inbox-submit and inbox-mcp-vol as an agent meets them: on the command line and as MCP servers."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from siblings_bench import CONNECTOR, SPEC, Fleet, address, load, read, run

SUBMIT = CONNECTOR / "inbox-submit"


def mcp(program: str, calls: list[tuple[str, dict[str, Any]]], **environment: str) -> list[dict[str, Any]]:
    """The answers of an MCP server to initialize and to so many tool calls."""
    messages: list[dict[str, Any]] = [{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}}]
    messages.append({"jsonrpc": "2.0", "method": "notifications/initialized"})
    for number, (name, given) in enumerate(calls, 1):
        params = {"name": name, "arguments": given}
        messages.append({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
    arguments = ["mcp"] if program == "inbox-submit" else []
    done = subprocess.run(
        [CONNECTOR / program, *arguments],
        input="".join(json.dumps(message) + "\n" for message in messages),
        env={"PATH": "/usr/bin:/bin", **environment},
        capture_output=True,
        text=True,
        timeout=30,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def text_of(answer: dict[str, Any]) -> str:
    return str(answer["result"]["content"][0]["text"])


def test_submit_writes_a_conforming_request_and_says_where(tmp_path: Path) -> None:
    done = run(SUBMIT, "submit", "--to", "beta@x.example,c@x.example", "--body", "hi", OUTBOX_DIR=str(tmp_path))
    assert done.stdout.splitlines() == [
        f"Submitted request 00000000 to the relay drop-box ({tmp_path}).",
        f"Result will appear at: {tmp_path}/results/00000000.json",
    ]
    request = read(tmp_path / "req-00000000.json")
    assert request["draft"]["to"] == ["beta@x.example", "c@x.example"]
    assert request["draft"]["reply_to_message_id"] is None
    assert request["ts"].endswith("+00:00")
    assert "agent_id" not in request
    assert load("rehearsed_spec", SPEC / "fixtures/validate.py").check_document("request-x", request) == []


def test_ids_go_on_from_what_the_router_archived(tmp_path: Path) -> None:
    (tmp_path / "processed").mkdir()
    (tmp_path / "results").mkdir()
    (tmp_path / "processed/req-00000006.json").touch()
    (tmp_path / "results/00000008.json").touch()
    run(SUBMIT, "submit", "--to", "b@x.example", "--body", "hi", OUTBOX_DIR=str(tmp_path))
    assert (tmp_path / "req-00000009.json").exists()


def test_without_a_drop_box_it_is_one_line_and_exit_1() -> None:
    done = run(SUBMIT, "submit", "--to", "b@x.example", "--body", "hi")
    assert done.returncode == 1
    assert done.stderr.startswith("inbox-submit: neither OUTBOX_DIR")


def test_a_result_is_pending_until_it_is_there(tmp_path: Path) -> None:
    pending = run(SUBMIT, "submit-result", "00000000", OUTBOX_DIR=str(tmp_path))
    (tmp_path / "results").mkdir()
    (tmp_path / "results/00000000.json").write_text('{"outcome":"accepted"}')
    there = run(SUBMIT, "submit-result", "00000000", OUTBOX_DIR=str(tmp_path))
    assert (pending.stdout, pending.returncode, there.returncode) == ("pending\n", 0, 0)
    assert json.loads(there.stdout) == {"outcome": "accepted"}


def test_attachments_lie_beside_the_request_and_pass_the_router(tmp_path: Path) -> None:
    fleet = Fleet(tmp_path / "home")
    fleet.poll()
    (tmp_path / "note.txt").write_text("hello")
    outbox = str(fleet.lane("alpha", "outbox"))
    run(SUBMIT, "submit", "--to", address("beta"), "--body", "x", "--attach", tmp_path / "note.txt", OUTBOX_DIR=outbox)
    fleet.poll()
    assert fleet.answer("alpha", "00000000")["reason_code"] == "peer_routed"
    assert fleet.notices("beta")[0]["message"]["attachments"][0]["filename"] == "note.txt"


def test_the_mcp_server_submits_and_reports(tmp_path: Path) -> None:
    given = {"to": ["b@x.example"], "body_text": "hi", "in_reply_to": "abc"}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("submit", given),
        ("submit_result", {"req_id": "00000000"}),
        ("submit", {"to": []}),
        ("dance", {}),
    ]
    hello, *answers = mcp("inbox-submit", calls, OUTBOX_DIR=str(tmp_path))
    assert hello["result"]["serverInfo"] == {"name": "inbox-lab-submit", "version": "0.1"}
    assert json.loads(text_of(answers[0])) == {"req_id": "00000000", "status": "queued"}
    assert text_of(answers[1]) == "pending"
    assert answers[2]["result"]["isError"] is True
    assert answers[3]["error"]["code"] == -32602
    assert read(tmp_path / "req-00000000.json")["draft"]["reply_to_message_id"] == "abc"


OTHER_VERSION = {"contract_version": "1", "written_at": "2026-01-02T03:04:05Z", "members": []}


@pytest.mark.parametrize("roster", [None, OTHER_VERSION])
def test_an_unreadable_roster_is_unknown_not_empty(tmp_path: Path, roster: dict[str, Any] | None) -> None:
    if roster is not None:
        (tmp_path / "roster.json").write_text(json.dumps(roster))
    answer = mcp("inbox-submit", [("peers", {"query": "beta"})], AMAP_ROSTER_DIR=str(tmp_path))[1]
    assert answer["result"]["isError"] is True


def test_peers_finds_a_member_and_marks_oneself(tmp_path: Path) -> None:
    members = [{"address": address(name), "state": "admitted"} for name in ("alpha", "beta")]
    roster = {"contract_version": "2", "written_at": "2026-01-02T03:04:05Z", "interval_s": 5, "members": members}
    (tmp_path / "roster.json").write_text(json.dumps(roster))
    environment = {"AMAP_ROSTER_DIR": str(tmp_path), "AMAP_SELF": address("alpha")}
    found, everyone = mcp("inbox-submit", [("peers", {"query": "BETA"}), ("peers", {})], **environment)[1:]
    assert json.loads(text_of(found))["members"] == [members[1]]
    assert json.loads(text_of(everyone))["ambiguous"] is True
    assert json.loads(text_of(everyone))["members"][0]["self"] is True


def test_the_reader_lists_and_reads_but_leaves_its_lane(tmp_path: Path) -> None:
    body = {"notice_id": "n1", "from": "a@x.example", "subject": "s", "date": "d", "body_text": "hello"}
    (tmp_path / "notice-n1.json").write_text(json.dumps(body))
    (tmp_path / "notice-n2.json").symlink_to("/etc/passwd")
    calls = [("read_message", {"id": "n1"}), ("read_message", {"id": "n2"}), ("read_message", {"id": "../x"})]
    answers = mcp("inbox-mcp-vol", calls, INBOX_MESSAGE_DIR=str(tmp_path), INBOX_LANE="peer")[1:]
    assert json.loads(text_of(answers[0])) == body
    assert [answer["result"]["isError"] for answer in answers] == [False, True, True]
    assert run(CONNECTOR / "inbox-mcp-vol", INBOX_LANE="other").returncode == 2
