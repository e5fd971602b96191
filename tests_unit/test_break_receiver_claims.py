"""Unknowns 4 and 5 against outcomes that a receiver makes up, contradicts, or gives for another reason."""

from __future__ import annotations

from dataclasses import replace

import pytest
from receiver_samples import BY_SETTING, REFUSING, RESTARTED, STATE_ABSENT, delegation, history, round_of
from request_samples import N1, N2, N3, placed, ran, read, unread
from test_judge_unknown_4 import GOOD as GOOD_4
from test_judge_unknown_5 import GOOD as GOOD_5

from pytest_amap.checks import unknown_4, unknown_5
from pytest_amap.rounds import PROJECT, Restore, Round
from pytest_amap.verdicts import FAIL, PASS, UNKNOWN, verdict

OWN_GATE = "the message is addressed to gamma@openshell.test.internal"
BY_A_PERSON = "held by the receiving sandbox. a person has not yet approved or refused it"


def local(seen: Round) -> unknown_5.Seen:
    return replace(GOOD_5, local=seen)


def project(seen: Round) -> unknown_5.Seen:
    return replace(GOOD_5, project=seen)


def in_project(*outcomes: tuple[str, str], **more: object) -> Round:
    return round_of(*outcomes, path=PROJECT, **more)


LOG_UNREAD = replace(in_project(("held", BY_SETTING)).task, sender_audit=unread("EACCES"))
LOG_TORN = replace(in_project(("held", BY_SETTING)).task, sender_audit=read('{"ts": "cut'))


def test_a_reply_under_refuse_contradicts_that_the_file_tightens():
    outcome, reason = verdict(unknown_5.judge(local(round_of(("held", BY_SETTING), reply=True))))
    assert outcome is FAIL
    assert "reply" in reason


@pytest.mark.parametrize("task", [LOG_UNREAD, LOG_TORN], ids=["not readable", "torn"])
def test_that_no_reply_came_is_nothing_that_an_unread_log_shows(task):
    seen = replace(in_project(("held", BY_SETTING)), task=task)
    assert verdict(unknown_5.judge(project(seen)))[0] is UNKNOWN


@pytest.mark.parametrize("place", [local, project])
def test_a_refusal_by_the_daemons_own_gate_is_not_the_files_doing(place):
    seen = (in_project if place is project else round_of)(("refused", OWN_GATE), after=())
    outcome, reason = verdict(unknown_5.judge(place(seen)))
    assert outcome is UNKNOWN
    assert "not a refusal by the setting" in reason


def test_it_is_a_message_that_was_not_counted_as_delivered_all_the_same():
    seen = replace(GOOD_4, refused=round_of(("refused", OWN_GATE), after=()))
    assert verdict(unknown_4.judge(seen))[0] is PASS


@pytest.mark.parametrize("judged", ["unknown_4", "unknown_5"])
def test_a_hold_for_a_person_that_speaks_of_refusing_is_not_the_setting(judged):
    held = round_of(("held", BY_A_PERSON))
    parts = unknown_4.judge(replace(GOOD_4, refused=held)) if judged == "unknown_4" else unknown_5.judge(local(held))
    assert verdict(parts)[0] is UNKNOWN


@pytest.mark.parametrize("ends", [("delivered", "refused"), ("delivered", "denied"), ("refused", "delivered")])
@pytest.mark.parametrize("reply", [True, False])
def test_ends_that_contradict_each_other_decide_nothing(ends, reply):
    claimed = delegation(*((word, "") for word in ends), reply=reply)
    assert verdict(unknown_4.judge(replace(GOOD_4, delegation=claimed)))[0] is UNKNOWN
    assert verdict(unknown_5.judge(replace(GOOD_5, delegation=claimed)))[0] is UNKNOWN


def test_an_unheard_of_outcome_decides_nothing():
    claimed = delegation(("delivered", ""), ("eaten", ""))
    assert verdict(unknown_4.judge(replace(GOOD_4, delegation=claimed)))[0] is UNKNOWN


def test_a_receiver_that_vanished_was_not_put_back():
    gone = round_of(("refused", BY_SETTING), after=(), restore=Restore())
    outcome, reason = verdict(unknown_4.judge(replace(GOOD_4, refused=gone)))
    assert outcome is UNKNOWN
    assert "was not put back" in reason


def test_what_the_sender_was_told_of_another_request_is_not_an_answer():
    other = '{"req_id": "00000099", "outcome": "accepted", "reason_code": "peer_routed", "message_id": null}'
    seen = replace(GOOD_4, refused=replace(REFUSING, told=ran(other)))
    assert verdict(unknown_4.judge(seen))[0] is UNKNOWN


@pytest.mark.parametrize("judged", ["unknown_4", "unknown_5"])
def test_a_delivery_that_slips_in_before_the_receiver_is_started_again_was_under_the_setting(judged):
    seen = round_of(("held", BY_SETTING), restore=put_back_after(("held", BY_SETTING), ("delivered", "")))
    slipped = unknown_4.judge(replace(GOOD_4, refused=seen)) if judged == "unknown_4" else unknown_5.judge(local(seen))
    assert verdict(slipped)[0] is FAIL


def test_a_delivery_after_that_is_the_held_notices_end():
    seen = round_of(("held", BY_SETTING), restore=put_back_after(("held", BY_SETTING)))
    assert verdict(unknown_4.judge(replace(GOOD_4, refused=seen)))[0] is PASS


@pytest.mark.parametrize("started", ["2026-11-29T13:00:00.000Z", "2026-11-29T14:00:00.000+02:00", "1970-01-01", ""])
def test_no_clock_decides_which_of_the_two_it_was(started):
    back = replace(RESTARTED, claims=read(history(N3, ("held", BY_SETTING))), start=replace(ran(), started=started))
    seen = round_of(("held", BY_SETTING), restore=Restore(taken=STATE_ABSENT, restart=back))
    assert verdict(unknown_4.judge(replace(GOOD_4, refused=seen)))[0] is PASS


def put_back_after(*outcomes: tuple[str, str]) -> Restore:
    """These stood in the router's log when the receiver stood still."""
    return Restore(taken=STATE_ABSENT, restart=replace(RESTARTED, claims=read(history(N3, *outcomes))))


EARLIER = placed(N2, "beta", "alpha", "00000003", N1)


@pytest.mark.parametrize("replies", [read(EARLIER), None], ids=["the log was cut since", "not read before"])
def test_that_no_reply_came_is_nothing_that_a_cut_log_shows(replies):
    cut = replace(round_of(("held", BY_SETTING)), replies=replies)
    assert verdict(unknown_4.judge(replace(GOOD_4, refused=cut)))[0] is UNKNOWN
    assert verdict(unknown_5.judge(local(cut)))[0] is UNKNOWN


def test_the_samples_themselves_pass():
    assert verdict(unknown_4.judge(GOOD_4))[0] is PASS
    assert verdict(unknown_5.judge(local(round_of(("held", BY_SETTING)))))[0] is PASS
