"""Unknown 3: a lane that could be listed is FAIL only where mount, policy and sandbox are the ones asked about."""

from __future__ import annotations

from dataclasses import replace

import pytest
from request_samples import ran
from test_judge_unknown_3 import GOOD, LISTED, LOOKS, box, sandbox

from pytest_amap.checks.unknown_3 import judge
from pytest_amap.verdicts import FAIL, UNKNOWN, verdict


@pytest.mark.parametrize(
    "changed",
    [
        {"inspected": (box(destination="/opt/amap/lanes/inbox"),)},
        {"inspected": (box("/home/instances/beta/peer"),)},
        {"after": sandbox(identity="id-2")},
        {"after": ran(exit=1, stderr="Error: sandbox not found")},
    ],
    ids=["not mounted", "another lane mounted", "another sandbox by then", "no sandbox by then"],
)
def test_it_is_unknown_where_a_premise_was_not_shown(changed):
    assert verdict(judge(replace(GOOD, looks=replace(LOOKS, peer=LISTED, **changed))))[0] is UNKNOWN


def test_it_is_fail_where_they_were():
    assert verdict(judge(replace(GOOD, looks=replace(LOOKS, peer=LISTED))))[0] is FAIL
    assert verdict(judge(replace(GOOD, looks=replace(LOOKS, peer=LISTED, after=sandbox("Error")))))[0] is FAIL
