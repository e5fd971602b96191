"""A listing that shows nothing, or only its first page, is no proof that a sandbox is gone."""

from __future__ import annotations

import pytest
from fake_openshell import FakeOpenShell, lab_with_openshell

from pytest_amap.checks import unknown_3
from pytest_amap.host import intents, receiving, throwaway
from pytest_amap.host.standing import standing
from pytest_amap.rounds import LOCAL, REFUSE
from pytest_amap.verdicts import UNKNOWN, verdict

LISTINGS = {
    "silent": "",
    "a first page": "".join(f"default/box-{number:03}\n" for number in range(99)) + "default/alpha\n",
    "another workspace's": "other/alpha\nother/beta\n",
}


def listing(fake: FakeOpenShell, shown: str) -> None:
    fake.list = lambda words: fake.said(shown)


@pytest.mark.parametrize("shown", LISTINGS.values(), ids=LISTINGS)
def test_whether_a_sandbox_is_gone_is_not_known(tmp_path, shown):
    lab, fake = lab_with_openshell(tmp_path)
    listing(fake, shown)
    assert "could not be told" in standing(lab, throwaway.NAME).problem


@pytest.mark.parametrize("shown", LISTINGS.values(), ids=LISTINGS)
def test_a_probe_that_may_still_stand_stays_announced(tmp_path, shown):
    lab, fake = lab_with_openshell(tmp_path)
    made = throwaway.Throwaway(lab)
    assert made.make().problem == ""
    listing(fake, shown)
    fake.delete = lambda words: fake.said()
    assert "left behind" in made.remove().problem
    assert intents.load(lab.home.evidence, throwaway.NAME)
    assert any("left behind" in left for left in lab.run.left)


def test_unknown_3_does_not_hold_by_a_silent_listing(tmp_path):
    lab, fake = lab_with_openshell(tmp_path)
    listing(fake, "")
    assert verdict(unknown_3.judge(unknown_3.collect(lab)))[0] is UNKNOWN


def test_a_receiver_that_cannot_be_read_keeps_its_announcement(tmp_path):
    lab, fake = lab_with_openshell(tmp_path)
    receiving.announce(lab, LOCAL, REFUSE)
    fake.get = lambda words: fake.said(exit=1, stderr="Error:   × transport error")
    listing(fake, "")
    assert receiving.repair(lab)
    assert intents.load(lab.home.evidence, "settings.beta")
