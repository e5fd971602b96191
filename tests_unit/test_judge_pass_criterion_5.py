"""Pass criterion 5's judge, by tables of observations."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from judge_tables import part_of
from request_samples import ALPHA, BETA, N1, N2, N3, placed, private, ran, read, result, unread

from pytest_amap.checks.pass_criterion_5 import Seen, judge
from pytest_amap.delegations import Delegation
from pytest_amap.observations import Listing, build, plain
from pytest_amap.verdicts import FAIL, PASS, UNKNOWN, Outcome, verdict

HELD, UNGRANTED = "queued_for_human", "recipient_not_allowlisted"
SUBJECT = "L1 reverse task 20261129T120000Z: never granted"
BEFORE, JUDGED, ENDED = (f"2026-11-29T12:00:0{second}.000Z" for second in "123")
OLD = placed(N1, "beta", "alpha", "00000000", N2)
LINE = "2026-11-29 12:00:02,100 INFO amap_router_local: drained beta: {'drained': 1, 'queued_for_human': 1}"


def lane(*notices: str) -> Listing:
    return Listing("/home/instances/alpha/peer/notices", tuple(f"notice-{one}.json" for one in notices), record="lane")


def mail(*notices: str) -> Listing:
    return replace(lane(*notices), path="/home/instances/alpha/inbox/notices")


def notice(identity: str, subject: str, lane: str = "peer") -> Any:
    return read({"message": {"subject": subject}}, f"/home/instances/alpha/{lane}/notices/notice-{identity}.json")


def request(key: str | None = None, **changes: Any) -> dict[str, Any]:
    draft = {"to": [ALPHA], "cc": [], "subject": SUBJECT, "body_text": "-", "reply_to_message_id": key}
    return {"contract_version": "2", "req_id": "00000001", "draft": draft, **changes}


GOOD = Seen(
    task=Delegation("beta", "alpha", "00000001", submitted=ran("submitted", ended=BEFORE)),
    subject=SUBJECT,
    requester=BETA,
    recipient=ALPHA,
    log_before=read(OLD),
    notices_before=lane(N1),
    mail_before=mail(),
    answer=read(private(HELD, UNGRANTED), mtime=JUDGED),
    status=read({"admitted": ["alpha", "beta"]}, mtime=ENDED),
    held=read(request()),
    log_after=read(OLD),
    notices_after=lane(N1),
    mail_after=mail(),
    told=ran(json.dumps(result(HELD, UNGRANTED))),
    log=ran(stderr=f"{LINE}\n"),
)

ROUTING, ANSWER, COPY = "routing meanwhile", "held the request", "held copy"
PLACED, LANE, TOLD = "was placed", "stands in alpha's lanes", "submit-result"


def with_(**changes: Any) -> Seen:
    return replace(GOOD, **changes)


part = partial(part_of, judge)


def test_a_held_task_is_pass() -> None:
    parts = judge(GOOD)
    assert verdict(parts)[0] is PASS
    assert [one.outcome for one in parts] == [PASS] * 6
    assert all(one.records for one in parts)


def test_what_was_seen_survives_its_record() -> None:
    seen = with_(arrived=(notice(N3, "other"),))
    again = build(Seen, json.loads(json.dumps(plain(seen))))
    assert again == seen
    assert judge(again) == judge(seen)


@pytest.mark.parametrize(
    ("seen", "words", "expected"),
    [
        (with_(answer=read(private("accepted", "peer_routed", N3), mtime=JUDGED)), ANSWER, FAIL),
        (with_(answer=read(private("rejected", "recipient_unknown"), mtime=JUDGED)), ANSWER, FAIL),
        (with_(answer=read(private(HELD, "delivery_failed"), mtime=JUDGED)), ANSWER, FAIL),
        (with_(answer=read(private(HELD, UNGRANTED, N3), mtime=JUDGED)), ANSWER, FAIL),
        (with_(answer=read(private(HELD, UNGRANTED, request="00000007"), mtime=JUDGED)), ANSWER, UNKNOWN),
        (with_(answer=read("{}", mtime=JUDGED)), ANSWER, UNKNOWN),
        (with_(answer=unread(), waited="nothing after 900 s"), ANSWER, UNKNOWN),
        (with_(answer=None), ANSWER, UNKNOWN),
        (with_(held=unread()), COPY, FAIL),
        (with_(held=unread("EACCES")), COPY, UNKNOWN),
        (with_(held=unread(), answer=unread()), COPY, UNKNOWN),
        (with_(held=read(request(N1))), COPY, UNKNOWN),
        (with_(held=read(request(in_reply_to=N1))), COPY, UNKNOWN),
        (with_(held=read(request(req_id="00000002"))), COPY, UNKNOWN),
        (with_(held=read(request(draft=["to"]))), COPY, UNKNOWN),
        (with_(held=read("{")), COPY, UNKNOWN),
        (with_(log_after=read(OLD + placed(N3, "beta", "alpha", "00000001"))), PLACED, FAIL),
        (with_(log_after=read(OLD + placed(N3, "gamma", "alpha", "00000001"))), PLACED, PASS),
        (with_(log_after=read(OLD + '{"torn')), PLACED, UNKNOWN),
        (with_(log_after=unread("EACCES")), PLACED, UNKNOWN),
        (with_(log_before=unread("EACCES")), PLACED, UNKNOWN),
        (with_(log_before=unread(), log_after=unread()), PLACED, PASS),
        (with_(notices_after=lane(N1, N3), arrived=(notice(N3, SUBJECT),)), LANE, FAIL),
        (
            with_(notices_after=lane(N1, N3), log_after=read(OLD + placed(N3, "beta", "alpha", "00000001"))),
            LANE,
            FAIL,
        ),
        (
            with_(notices_after=lane(N1, N3), log_after=read(OLD + placed(N3, "beta", "alpha", "00000002", N2))),
            LANE,
            PASS,
        ),
        (with_(notices_after=lane(N1, N3), arrived=(notice(N3, "other"),)), LANE, UNKNOWN),
        (with_(notices_after=lane(N1, N3)), LANE, UNKNOWN),
        (with_(notices_after=Listing("lane", (), "EACCES")), LANE, UNKNOWN),
        (with_(notices_after=None), LANE, UNKNOWN),
        (with_(notices_after=lane()), LANE, UNKNOWN),
        (with_(mail_after=mail(N3), arrived=(notice(N3, SUBJECT, "inbox"),)), LANE, FAIL),
        (with_(mail_after=mail(N3), arrived=(notice(N3, "Not delivered: refused", "inbox"),)), LANE, PASS),
        (with_(mail_after=mail(N3), arrived=(notice(N3, "of another lane"),)), LANE, UNKNOWN),
        (with_(mail_after=mail(N3)), LANE, UNKNOWN),
        (with_(mail_after=None), LANE, UNKNOWN),
        (with_(mail_before=Listing("lane", (), "EACCES")), LANE, UNKNOWN),
        (with_(log_after=read("")), PLACED, UNKNOWN),
        (with_(log_after=unread()), PLACED, UNKNOWN),
        (with_(log_after=read(placed(N2, "gamma", "alpha", "00000004"))), PLACED, UNKNOWN),
        (with_(log_before=unread(), log_after=read(OLD)), PLACED, PASS),
        (with_(told=ran(json.dumps(result("accepted", "peer_routed", N3)))), TOLD, UNKNOWN),
        (with_(told=ran(json.dumps(result("rejected", "self_send")))), TOLD, UNKNOWN),
        (with_(told=ran("pending\n")), TOLD, UNKNOWN),
        (with_(told=ran(exit=None)), TOLD, UNKNOWN),
        (with_(status=unread()), ROUTING, UNKNOWN),
        (with_(status=read({"admitted": ["alpha", "beta"]}, mtime=BEFORE)), ROUTING, UNKNOWN),
        (with_(status=read({"admitted": ["beta"]}, mtime=ENDED)), ROUTING, UNKNOWN),
        (with_(status=read("old", mtime=ENDED)), ROUTING, UNKNOWN),
    ],
)
def test_each_question_has_its_own_answer(seen: Seen, words: str, expected: Outcome) -> None:
    found = part(seen, words)
    assert found.outcome is expected, found.seen
    assert (verdict(judge(seen))[0] is PASS) is (expected is PASS)


def test_an_absence_counts_only_while_the_router_routes() -> None:
    seen = with_(status=read({"admitted": ["alpha", "beta"]}, mtime=BEFORE))
    assert part(seen, PLACED).outcome is UNKNOWN
    assert part(seen, LANE).outcome is UNKNOWN
    placed_after_all = replace(seen, log_after=read(OLD + placed(N3, "beta", "alpha", "00000001")))
    assert part(placed_after_all, PLACED).outcome is FAIL


def test_a_request_id_that_was_used_before_is_no_placement_of_this_one() -> None:
    old = read(OLD + placed(N2, "beta", "alpha", "00000001"))
    assert verdict(judge(with_(log_before=old, log_after=old)))[0] is PASS


def test_the_polls_line_is_shown_from_either_stream_and_never_decides() -> None:
    assert LINE in part(GOOD, ANSWER).seen
    assert LINE in part(with_(log=ran(f"{LINE}\n")), ANSWER).seen
    silent = part(with_(log=ran(exit=1, stderr="no such container")), ANSWER)
    assert (silent.outcome, LINE in silent.seen) == (PASS, False)


def test_nothing_submitted_leaves_one_open_question() -> None:
    task = Delegation("beta", "alpha", submitted=ran(exit=1), problem="nothing was submitted (sandbox not found)")
    parts = judge(with_(task=task))
    assert [(one.outcome, one.seen) for one in parts] == [(UNKNOWN, task.problem)]
