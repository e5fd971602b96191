"""Unknown 5: what makes it PASS, FAIL and UNKNOWN."""

from __future__ import annotations

from dataclasses import replace

import judge_tables
import pytest
from receiver_samples import (
    ANSWERED,
    BY_APPROVAL,
    BY_SETTING,
    REFUSING,
    SILENCE,
    answer,
    delegation,
    not_begun,
    round_of,
)
from request_samples import ran, read, unread

from pytest_amap.checks.unknown_5 import Seen, judge
from pytest_amap.rounds import PROJECT, Restore

ACCEPT, HOLD = '{"crossSessionInbound": "accept"}', '{"crossSessionInbound": "hold"}'
UNCHANGED = round_of(("delivered", SILENCE), path=PROJECT, reply=True, after=())
TIGHTENED = round_of(("held", BY_SETTING), path=PROJECT)
GOOD = Seen(
    delegation=ANSWERED,
    router=ran("running\n"),
    payload=read(ACCEPT),
    inside=answer(errno=None, text=ACCEPT),
    append=answer(errno="EROFS", exists=True),
    agents=answer(errno=None, entries=["drwx------ 1000:1000 projects"], writable=None),
    local=REFUSING,
    project=UNCHANGED,
)


def but(**fields: object) -> Seen:
    return replace(GOOD, **fields)


HOLDS = {
    "settings.json changes nothing": GOOD,
    "settings.json tightens": but(project=TIGHTENED),
    "other settings beside it": but(inside=answer(errno=None, text='{"a": 1, "crossSessionInbound": "accept"}')),
}
BROKEN = {
    "the payload can be written": (but(append=answer(errno=None, exists=True)), "opened for appending"),
    "another value on the host": (but(payload=read(HOLD)), "host: hold"),
    "another value inside": (but(inside=answer(errno=None, text=HOLD)), "inside: hold"),
    "no value at all": (but(payload=read("{}"), inside=answer(errno=None, text="{}")), "not set"),
    "silence counted under refuse": (but(local=round_of(("delivered", SILENCE), after=())), "silence was counted"),
    "the delegation was held by a setting": (but(delegation=delegation(("held", BY_SETTING), reply=False)), "held"),
}
OPEN = {
    "the file is not there": (but(append=answer(errno="ENOENT", exists=False)), "not there"),
    "another layer's denial": (but(append=answer(errno="EACCES", exists=True)), "EACCES"),
    "the append could not be tried": (but(append=ran("", exit=127)), "no answer"),
    "no control beside the denial": (
        but(agents=answer(errno=None, entries=[], writable="EROFS")),
        "control did not hold",
    ),
    "the payload cannot be read on the host": (but(payload=unread("EACCES")), "host"),
    "the payload is no JSON inside": (but(inside=answer(errno=None, text="{")), "inside"),
    "no delivery was seen": (but(delegation=delegation(reply=False)), "no outcome"),
    "the local file was not tried": (but(local=not_begun("an agent's own file")), "an agent's own file"),
    "held for approval": (but(local=round_of(("held", BY_APPROVAL))), "not a refusal by the setting"),
    "settings.json was not read anew": (
        but(project=replace(UNCHANGED, restart=replace(UNCHANGED.restart, ready=UNCHANGED.restart.before))),
        "from before the stop went on",
    ),
    "settings.local.json was not read anew": (
        but(local=replace(round_of(("held", BY_SETTING)), restart=replace(UNCHANGED.restart, problem="it was not"))),
        "it was not",
    ),
    "settings.json is the agent's own": (but(project=not_begun("settings.json is other", PROJECT)), "is other"),
    "settings.json was lost": (
        but(project=round_of(path=PROJECT, kept=answer(state="absent"), problem="it was not kept")),
        "not kept",
    ),
    "delivered under settings.json, no reply": (
        but(project=round_of(("delivered", SILENCE), path=PROJECT, after=())),
        "no reply beside it",
    ),
    "held for approval under settings.json": (
        but(project=round_of(("held", BY_APPROVAL), path=PROJECT)),
        "not a refusal",
    ),
    "held by the setting, and yet answered": (
        but(project=round_of(("held", BY_SETTING), path=PROJECT, reply=True)),
        "held",
    ),
    "settings.json was not taken back": (
        but(project=round_of(("held", BY_SETTING), path=PROJECT, restore=Restore("was not taken back (other)"))),
        "not taken back",
    ),
    "the agent's directory cannot be listed": (but(agents=answer(errno="EACCES", entries=[], writable=None)), "EACCES"),
}


test_pass, test_fail, test_unknown = judge_tables.tests_of(judge, HOLDS, BROKEN, OPEN)


@pytest.mark.parametrize("project", [UNCHANGED, TIGHTENED], ids=["unchanged", "tightened"])
def test_that_loosening_was_not_tried_is_said(project):
    assert any("loosening was not tried" in part.seen for part in judge(but(project=project)))
