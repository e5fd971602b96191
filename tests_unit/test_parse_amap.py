"""What AMAP's own programs write: logs, roster, requests, sessions, the validator's list."""

from __future__ import annotations

import json

import pytest

from pytest_amap.parsers import Unreadable, audit, lister, roster, router_log, spec_items, submit

N1, N2 = "a" * 32, "b" * 32


def line(event: str, **fields: object) -> str:
    return json.dumps({"ts": "2026-11-29T10:00:00Z", "event": event, "instance": "beta", **fields}) + "\n"


def placed(notice: str = N1, **more: object) -> str:
    fields = {"notice_id": notice, "from_instance": "alpha", "to_instance": "beta", "req_id": "00000000"}
    return line("peer_notice_placed", **(fields | {"tree": "peer", "in_reply_to": None, "reply_basis": None} | more))


def consumed(outcome: str, notice: str = N1, **more: object) -> str:
    return line(
        "outcome_consumed", **({"notice_id": notice, "tree": "peer", "outcome": outcome, "detail": None} | more)
    )


def test_placements() -> None:
    reply = placed(N2, from_instance="beta", to_instance="alpha", in_reply_to=N1, reply_basis="reply_window")
    when = "2026-11-29T10:00:00Z"
    assert audit.placements(audit.events(placed() + "\n" + reply)) == (
        audit.Placement(when, N1, "alpha", "beta", "00000000", ""),
        audit.Placement(when, N2, "beta", "alpha", "00000000", N1),
    )


@pytest.mark.parametrize(
    "bad",
    [
        "not json",
        placed()[:-5],
        "[]",
        '{"event": "peer_notice_placed"}',
        placed(notice_id=7),
        placed(req_id=None),
        consumed("held").replace('"tree"', '"three"'),
        placed()[:-2] + ', "notice_id": "x"}',
    ],
)
def test_a_line_that_cannot_be_read_is_kept(bad: str) -> None:
    first, second = audit.events(bad.rstrip("\n") + "\n" + placed())
    assert first == audit.Event("", "", "", {"line": bad.rstrip("\n")})
    assert second.event == "peer_notice_placed"


@pytest.mark.parametrize(
    ("words", "end"),
    [
        pytest.param(["held"], None, id="A37-held"),
        pytest.param(["refused"], "refused", id="A37-refused"),
        pytest.param(["delivered"], "delivered", id="A37-delivered"),
        pytest.param([], None, id="A37-nothing"),
        pytest.param(["held", "delivered"], "delivered", id="held-then-delivered"),
        pytest.param(["inject_failed", "ambiguous_target", "denied"], "denied", id="transient-then-denied"),
        pytest.param(["delivered", "refused"], "delivered", id="the-first-end-counts"),
        pytest.param(["Delivered", "sent"], None, id="unknown-words"),
    ],
)
def test_the_history_of_a_notice(words: list[str], end: str | None) -> None:
    text = consumed("delivered", N2) + "".join(consumed(word, detail=f"about {word}") for word in words)
    history = audit.outcomes(audit.events(text + consumed("delivered", tree="inbox")), N1)
    assert [outcome.outcome for outcome in history] == words
    assert [outcome.detail for outcome in history] == [f"about {word}" for word in words]
    last = audit.terminal(history)
    assert (last.outcome if last else None) == end


def test_every_outcome_of_the_contract_is_either_transient_or_terminal() -> None:
    words = {"delivered", "held", "denied", "refused", "ambiguous_target", "inject_failed"}
    assert words == audit.TRANSIENT | audit.TERMINAL
    assert not audit.TRANSIENT & audit.TERMINAL


ROSTER = {
    "contract_version": "2",
    "router": "amap.router@agents.example.org",
    "written_at": "2026-11-29T10:00:00Z",
    "interval_s": 5,
    "members": [{"address": "alpha@agents.example.org", "state": "admitted"}],
}


def test_a_roster() -> None:
    found = roster.roster(json.dumps(ROSTER, indent=2) + "\n")
    assert found == roster.Roster(5, ("alpha@agents.example.org",))


@pytest.mark.parametrize(
    "changes",
    [
        {"contract_version": 2},
        {"contract_version": None, "schema": 1},
        {"members": {}},
        {"members": [{"address": "a@b"}]},
        {"members": ["a@b"]},
        {"router": ""},
        {"interval_s": -1},
        {"interval_s": True},
        {"interval_s": "5"},
    ],
)
def test_a_roster_that_cannot_be_read(changes: dict[str, object]) -> None:
    assert isinstance(roster.roster(json.dumps(ROSTER | changes)), Unreadable)


def test_an_older_routers_roster_is_named() -> None:
    found = roster.roster('{"schema": 1, "generated_ts": "x", "members": []}')
    assert isinstance(found, Unreadable)
    assert "schema 1" in found.why


def log(message: str) -> str:
    return f"2026-11-29 13:37:28,123 INFO amap_router_local: {message}\n"


def test_drained_lines() -> None:
    text = log("drained beta: {'drained': 1, 'queued_for_human': 1, 'peer_alerts': ['x: 1'], 'ok': True}")
    (found,) = router_log.drained("noise\n" + text)
    assert found.instance == "beta"
    assert found.counters == {"drained": 1, "queued_for_human": 1}
    assert found.line == text.rstrip()


@pytest.mark.parametrize(
    "text",
    [
        log("drained beta: {'a': __import__('os')}"),
        log("drained beta: {'a': 1"),
        log("drained beta: [1]"),
        log("drained beta: {1, 2}"),
        log("drained beta: {" + "[" * 9000 + "}"),
        log("drained beta: {1: " + "-" * 9000 + "1}"),
        log("drained beta: {'a': '" + "x" * 20_000 + "'}"),
        log("drained ../x: {'a': 1}"),
        "drained beta: {'a': 1}",
    ],
)
def test_what_is_no_drained_line(text: str) -> None:
    assert router_log.drained(text) == ()


def test_refusals() -> None:
    bad = [
        log("config reload FAILED: unknown key 'x'"),
        log("discovery:\n  SKIPPED gamma (symlink)\n  NO VERDICT delta\n"),
        log("roster: skipped: verdict unavailable"),
        log("instance 'beta': FIRST SIGHT. 2 request(s) already in the outbox"),
    ]
    good = [
        log("instance 'beta': FIRST SIGHT. 0 request(s) already in the outbox"),
        log("roster: written"),
        log("router starting: interval=5.0s, instances=['alpha', 'beta']"),
        log("drained beta: {'peer_alerts': ['config reload FAILED', 'SKIPPED']}"),
        log("drained beta: {'outbound_skipped_bad_name': 0}"),
    ]
    assert router_log.refusals("".join(good)) == ()
    assert len(router_log.refusals("".join(good + bad))) == 5


def test_a_submitted_request() -> None:
    stdout = "Submitted request 00000000 to the relay drop-box (/opt/amap/lanes/outbox/req-00000000.json).\nResult\n"
    assert submit.submitted(stdout) == "00000000"


@pytest.mark.parametrize(
    "stdout",
    [
        "",
        "Submitted request ../x to the relay drop-box (x).",
        "Submitted request  to the relay drop-box (x).",
        "Submitted request a to the relay drop-box (x).\nSubmitted request b to the relay drop-box (x).",
        "inbox-submit: no drop-box",
    ],
)
def test_no_submitted_request(stdout: str) -> None:
    assert isinstance(submit.submitted(stdout), Unreadable)


def test_the_answer_to_a_request() -> None:
    document = {"req_id": "00000000", "outcome": "queued_for_human", "reason_code": "recipient_not_allowlisted"}
    document |= {"message_id": None}
    expected = submit.SubmitResult("queued_for_human", "00000000", "recipient_not_allowlisted")
    assert submit.submit_result(json.dumps(document, indent=2)) == expected
    assert submit.submit_result("pending\n") == submit.SubmitResult("pending")
    for bad in (
        "",
        "not pending",
        "{}",
        json.dumps(document | {"outcome": "pending"}),
        json.dumps(document | {"message_id": 1}),
    ):
        assert isinstance(submit.submit_result(bad), Unreadable)
    assert isinstance(submit.result("pending"), Unreadable)


def test_lister_rows() -> None:
    text = (
        "claude\t-\t-\t7\t/tmp/cc-socks/7.sock\t/sandbox/.claude/sessions/7.x.key\nclaude\t-\t-\t9\t-\t-\nother row\n"
    )
    first, second = lister.rows(text) or ()
    assert first == lister.Row(7, "/tmp/cc-socks/7.sock", "/sandbox/.claude/sessions/7.x.key")
    assert (first.ready, second.ready) == (True, False)
    assert lister.rows("") == ()
    assert lister.rows("claude - - 7 /a /b more 9\n") == (lister.Row(7, "/a", "/b"),)


@pytest.mark.parametrize(
    "text", ["claude", "claude - - x /a /b", "claude - - 0 /a /b", "claude - - 7 /a b /c", "claude - - 7 a /c"]
)
def test_a_lister_row_that_cannot_be_read(text: str) -> None:
    assert isinstance(lister.rows("claude - - 7 /a /b\n" + text), Unreadable)


VALIDATOR = '''\
"""Check documents.

NOT CHECKED HERE - what a document alone
cannot show, and so what the operator
has to look at:
  - sidecar files exist, with no extras
    and no directory when the array is empty
  - write-side path discipline: (a) no symlink,
    (b) O_NOFOLLOW|O_DIRECTORY, (c) no write-
    through rename
  - peer-origin profile:
    - write-authority partition: a touch
      into peer/ must fail
    - intake isolation

More prose.
  - not an item
"""
'''


def test_the_list_of_what_is_not_checked() -> None:
    assert spec_items.items(VALIDATOR) == (
        "sidecar files exist, with no extras and no directory when the array is empty",
        "write-side path discipline: (a) no symlink, (b) O_NOFOLLOW|O_DIRECTORY, (c) no write-through rename",
        "peer-origin profile: write-authority partition: a touch into peer/ must fail",
        "peer-origin profile: intake isolation",
    )


def test_numbers_begin_items_as_dashes_do() -> None:
    numbered = "NOT CHECKED HERE\n  1. one,\n     2 bits\n  2) two:\n    + three\n    10. four,\n      2026. five\n"
    assert spec_items.items(numbered) == ("one, 2 bits", "two: three", "two: four, 2026. five")


def test_the_list_ends_with_the_docstring_too() -> None:
    assert spec_items.items('"""NOT CHECKED HERE\n  - one\n  - two"""\n  - code\n') == ("one", "two")
    assert spec_items.items("NOT CHECKED HERE\r\n  - one\r\n  - two\r\n\r\n  - three") == ("one", "two")


@pytest.mark.parametrize(
    "source",
    [
        "",
        "NOT CHECKED HERE",
        "NOT CHECKED HERE\n\n  - one",
        "NOT CHECKED HERE\n - " + "x" * 40_000,
        "NOT CHECKED HERE\n" + "\n".join(" " * n + "- x" for n in range(20)),
    ],
)
def test_no_list(source: str) -> None:
    assert isinstance(spec_items.items(source), Unreadable)
