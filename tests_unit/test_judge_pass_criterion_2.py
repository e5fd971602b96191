"""Pass criterion 2's judge, by tables of observations."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import pytest
from judge_tables import part_of
from receiver_samples import ROW, answer
from request_samples import ALPHA, BETA, N1, N2, N3, outcome, placed, private, ran, read, result, unread

from pytest_amap.checks.pass_criterion_2 import Seen, judge
from pytest_amap.delegations import Delegation
from pytest_amap.observations import Ran, build, plain
from pytest_amap.verdicts import FAIL, PASS, UNKNOWN, Outcome, verdict

TASK = placed(N1, "alpha", "beta", "00000001")
REPLY = placed(N2, "beta", "alpha", "00000000", N1)


def sessions(*rows: str, main: int | None = 7) -> Ran:
    return answer(main=main, rows=rows)


def log(*words: str) -> str:
    return TASK + "".join(outcome(N1, word) for word in words)


GOOD = Seen(
    delegation=Delegation(
        "alpha",
        "beta",
        "00000001",
        N1,
        N2,
        submitted=ran("submitted"),
        result=read(private("accepted", "peer_routed", N1)),
        receiver_audit=read(log("delivered")),
        sender_audit=read(REPLY),
        reply_notice=read({"message": {"from": BETA, "in_reply_to": N1}}),
    ),
    receiver_address=BETA,
    router=ran("running\n"),
    sessions={"alpha": sessions(ROW), "beta": sessions(ROW)},
    body=read({"notice_id": N1, "body_text": "Please list the files."}),
    told=ran(json.dumps(result("accepted", "peer_routed", N1))),
)


def delegation(**changes: object) -> Seen:
    return replace(GOOD, delegation=replace(GOOD.delegation, **changes))  # type: ignore[arg-type]


def history(*words: str, reply: str = REPLY) -> Seen:
    return delegation(receiver_audit=read(log(*words)), sender_audit=read(reply))


part = partial(part_of, judge)


def test_a_whole_run_is_pass() -> None:
    parts = judge(GOOD)
    assert verdict(parts)[0] is PASS
    assert [one.outcome for one in parts] == [PASS] * 7
    assert all(one.records for one in parts)


def test_what_was_seen_survives_its_record() -> None:
    again = build(Seen, json.loads(json.dumps(plain(GOOD))))
    assert again == GOOD
    assert judge(again) == judge(GOOD)


@pytest.mark.parametrize(
    ("seen", "expected", "says"),
    [
        (history("inject_failed", "delivered"), PASS, "claimed by beta: inject_failed, then delivered"),
        (history("held", "delivered"), PASS, "the router bound a reply"),
        (history("delivered", reply=""), UNKNOWN, "no reply stands beside it"),
        (history("held", reply=""), FAIL, "claimed by beta: held"),
        (history("ambiguous_target", reply=""), FAIL, "ambiguous_target"),
        (history("inject_failed"), UNKNOWN, "never delivered by its own account"),
        (replace(history("held", reply=""), router=ran("exited")), UNKNOWN, "not known to be running"),
        (replace(history("held", reply=""), router=ran(exit=None)), UNKNOWN, "not known to be running"),
        (history("refused"), FAIL, "claimed by beta: refused"),
        (history("held", "denied", reply=""), FAIL, "held, then denied"),
        (history("delivered", "refused"), UNKNOWN, "decides nothing"),
        (history("delivered", "blessed"), UNKNOWN, "decides nothing"),
        (history(), UNKNOWN, "no outcome"),
        (delegation(receiver_audit=read(log("delivered") + '{"torn')), UNKNOWN, "1 lines"),
        (delegation(receiver_audit=unread("EACCES")), UNKNOWN, "no outcome"),
        (delegation(notice="", problem="the router's result is rejected"), UNKNOWN, "is rejected"),
    ],
)
def test_outcomes_count_in_order_and_beside_the_reply(seen: Seen, expected: Outcome, says: str) -> None:
    found = part(seen, "relayed the notice")
    assert (found.outcome, says in found.seen) == (expected, True), found.seen


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (replace(GOOD, body=unread()), FAIL),
        (replace(GOOD, body=read({"notice_id": N2, "body_text": "other"})), FAIL),
        (replace(GOOD, body=read({"notice_id": N1})), FAIL),
        (replace(GOOD, body=read({"notice_id": N1, "body_text": " \n"})), FAIL),
        (replace(GOOD, body=read("torn {")), UNKNOWN),
        (replace(GOOD, body=unread("EACCES")), UNKNOWN),
        (replace(GOOD, body=None), UNKNOWN),
    ],
)
def test_the_body_stands_in_the_lane(seen: Seen, expected: Outcome) -> None:
    assert part(seen, "body stands").outcome is expected


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (delegation(reply_notice=read({"message": {"from": BETA.upper(), "in_reply_to": N1}})), PASS),
        (delegation(reply_notice=read({"message": {"from": BETA, "in_reply_to": N2}})), FAIL),
        (delegation(reply_notice=read({"message": {"from": ALPHA, "in_reply_to": N1}})), FAIL),
        (delegation(reply_notice=unread()), FAIL),
        (delegation(reply_notice=unread("EACCES")), UNKNOWN),
        (delegation(reply_notice=read("nothing")), UNKNOWN),
        (delegation(sender_audit=read("")), UNKNOWN),
        (delegation(sender_audit=unread("EACCES")), UNKNOWN),
        (delegation(sender_audit=read(placed(N2, "gamma", "alpha", "00000000", N1))), UNKNOWN),
    ],
)
def test_the_reply_is_the_routers_own_placement(seen: Seen, expected: Outcome) -> None:
    assert part(seen, "reply stands").outcome is expected


def test_a_router_that_placed_it_twice_contradicts_nothing() -> None:
    again = read(log("delivered") + placed(N3, "alpha", "beta", "00000001"))
    seen = delegation(result=read(private("accepted", "peer_routed", N3)), receiver_audit=again)
    assert part(seen, "router took").outcome is UNKNOWN
    assert part(delegation(receiver_audit=again), "router took").outcome is PASS


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (read(private("accepted", "peer_routed", N2)), FAIL),
        (read(private("accepted", "recipient_bound", N1)), FAIL),
        (read(private("queued_for_human", "recipient_not_allowlisted")), FAIL),
        (read(private("rejected", "recipient_unknown")), FAIL),
        (read(private("accepted", "peer_routed", N1, "00000009")), UNKNOWN),
        (read({"digest": None}), UNKNOWN),
        (read("[]"), UNKNOWN),
        (unread(), UNKNOWN),
        (None, UNKNOWN),
    ],
)
def test_the_router_took_the_request_by_its_private_result(found: object, expected: Outcome) -> None:
    assert part(delegation(result=found), "router took").outcome is expected


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (ran(json.dumps(result("accepted", "peer_routed", N1)), exit=1), PASS),
        (ran(json.dumps(result("rejected", "recipient_unknown"))), UNKNOWN),
        (ran(json.dumps(result("queued_for_human", "recipient_not_allowlisted"))), UNKNOWN),
        (ran(json.dumps(result("accepted", "peer_routed", N1, "00000009"))), UNKNOWN),
        (ran("pending\n"), UNKNOWN),
        (ran(""), UNKNOWN),
        (ran(exit=1, stderr="sandbox not found"), UNKNOWN),
        (ran(exit=None), UNKNOWN),
        (None, UNKNOWN),
    ],
)
def test_the_sender_is_told_so(told: Ran | None, expected: Outcome) -> None:
    assert part(replace(GOOD, told=told), "submit-result").outcome is expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (sessions(), FAIL),
        (sessions(ROW, ROW.replace("7", "8")), FAIL),
        (sessions("claude\t-\t-\t41\t-\t/sandbox/key"), FAIL),
        (sessions("claude\t-\t-\t41\t/tmp/s.sock\t-"), FAIL),
        (sessions("claude 41"), UNKNOWN),
        (sessions(main=None), UNKNOWN),
        (ran(""), UNKNOWN),
        (ran(exit=127, stderr="python3: not found"), UNKNOWN),
    ],
)
def test_exactly_one_session_with_socket_and_key(answer: Ran, expected: Outcome) -> None:
    seen = replace(GOOD, sessions={"alpha": sessions(ROW), "beta": answer})
    assert part(seen, "lister in beta").outcome is expected
    assert part(seen, "lister in alpha").outcome is PASS


QUESTION = ran("Do you trust this folder?\r\n> 1. Yes\r\n  2. No\r\n")


def silent(outcomes: tuple[str, ...], screen: Ran) -> Seen:
    """No session to speak to in beta, and what its terminal shows."""
    lost = history(*outcomes, reply="")
    return replace(lost, sessions={"alpha": sessions(ROW), "beta": sessions()}, screens={"beta": screen})


def test_a_session_that_waits_for_a_person_contradicts_nothing() -> None:
    seen = silent(("inject_failed",), QUESTION)
    parts = [part(seen, "relayed the notice"), part(seen, "lister in beta")]
    assert [one.outcome for one in parts] == [UNKNOWN, UNKNOWN]
    assert all("beta's screen asks: Do you trust this folder?" in one.seen for one in parts)
    assert verdict(judge(seen))[0] is UNKNOWN


@pytest.mark.parametrize("screen", [ran("Ready.\r\n>"), ran(), ran(exit=1)])
def test_without_a_question_its_silence_is_a_fail(screen: Ran) -> None:
    seen = silent(("inject_failed",), screen)
    assert part(seen, "relayed the notice").outcome is FAIL
    assert part(seen, "lister in beta").outcome is FAIL


def test_a_question_excuses_no_refusal_and_no_other_member() -> None:
    assert part(silent(("refused",), QUESTION), "relayed the notice").outcome is FAIL
    asked = silent(("held",), ran())
    assert part(replace(asked, screens={"alpha": QUESTION}), "relayed the notice").outcome is FAIL
