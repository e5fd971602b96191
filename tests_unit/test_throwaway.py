"""The throwaway probe: announced before it is made, removed by recorded id or label alone, never a foreign one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fake_openshell import Box, lab_with_openshell

from pytest_amap.host import intents, throwaway
from pytest_amap.host.throwaway import NAME, Throwaway


def announce(lab, **about):
    known = {"kind": "sandbox", "workspace": "default", "run": "r", "label": ""}
    intents.write(lab.home.evidence, NAME, known | about)


def test_it_is_made_from_the_senders_command_and_leaves_nothing(tmp_path):
    lab, fake = lab_with_openshell(tmp_path)
    probe = Throwaway(lab)
    made = probe.make()
    assert (made.id, made.problem) == ("id-new", "")
    assert intents.read(lab.home.evidence) == {NAME: "id-new"}
    assert fake.keyed == ["sandbox create"]
    assert probe.remove().problem == ""
    assert NAME not in fake.boxes
    assert intents.read(lab.home.evidence) == {}
    assert fake.ran.count("sandbox delete") == 1
    lab.run.cleanup.close()
    assert fake.ran.count("sandbox delete") == 1
    assert lab.run.left == {}


def test_its_policy_lacks_the_peer_lane_alone_and_its_command_differs_in_nothing_else(tmp_path):
    lab, _ = lab_with_openshell(tmp_path)
    create, label = Throwaway(lab)._prepare()
    argv, sender = list(create.argv), lab.home.command("alpha").read_text()
    policy_file = Path(argv[argv.index("--policy") + 1])
    whole = lab.home.policy("alpha").read_text().splitlines()
    assert set(whole) - set(policy_file.read_text().splitlines()) == {'    - "/opt/amap/lanes/peer"'}
    assert policy_file.stat().st_mode & 0o777 == 0o600
    assert argv[-3:] == ["--", "sleep", "3600"]
    assert argv[argv.index("--label") + 1] == f"amap.probe={label}"
    assert argv[argv.index("--driver-config-json") + 1] in sender


def test_the_announcement_is_on_disk_before_create_runs(tmp_path):
    lab, fake = lab_with_openshell(tmp_path)
    seen = []
    create = fake.create
    fake.create = lambda words: seen.append(intents.load(lab.home.evidence, NAME)) or create(words)
    Throwaway(lab).make()
    assert seen[0]["id"] == ""
    assert len(seen[0]["label"]) == 16


def test_without_the_label_flag_the_id_of_a_create_that_worked_is_recorded(tmp_path):
    lab, fake = lab_with_openshell(tmp_path, label=False)
    probe = Throwaway(lab)
    assert probe.make().id == "id-new"
    assert probe.remove().problem == ""
    assert NAME not in fake.boxes


def test_a_foreign_sandbox_of_the_name_is_named_and_left_alone(tmp_path):
    lab, fake = lab_with_openshell(tmp_path)
    fake.boxes[NAME] = Box("id-foreign")
    probe = Throwaway(lab)
    assert "id-foreign" in probe.make().problem
    assert "id-foreign" in probe.remove().problem
    assert NAME in fake.boxes
    assert {"sandbox create", "sandbox delete"}.isdisjoint(fake.ran)


@pytest.mark.parametrize(
    "about", [{"id": "id-old"}, {"id": "", "label": "abcd"}], ids=["recorded id", "label of a create cut off"]
)
def test_an_orphan_of_an_earlier_run_is_removed_first(tmp_path, about):
    lab, fake = lab_with_openshell(tmp_path)
    fake.boxes[NAME] = Box("id-old", labels={"amap.probe": "abcd"})
    announce(lab, **about)
    assert throwaway.tidy(lab).problem == ""
    assert NAME not in fake.boxes
    assert intents.read(lab.home.evidence) == {}


@pytest.mark.parametrize(
    "about", [{"id": "id-old"}, {"id": "", "label": "abcd"}, {"id": "", "label": ""}], ids=["id", "label", "neither"]
)
def test_an_announcement_that_does_not_fit_deletes_nothing(tmp_path, about):
    lab, fake = lab_with_openshell(tmp_path)
    fake.boxes[NAME] = Box("id-other", labels={"amap.probe": "ffff"})
    announce(lab, **about)
    assert "id-other" in throwaway.tidy(lab).problem
    assert NAME in fake.boxes
    assert "id-other" in next(iter(lab.run.left))


def test_nothing_is_run_where_nothing_is_announced(tmp_path):
    lab, fake = lab_with_openshell(tmp_path)
    assert throwaway.tidy(lab).problem == ""
    assert fake.ran == []


def test_a_create_that_failed_half_way_is_recorded_by_its_label_and_removed(tmp_path):
    lab, fake = lab_with_openshell(tmp_path)
    fake.create_fails = "sandbox entered error phase while provisioning"
    probe = Throwaway(lab)
    made = probe.make()
    assert made.id == "id-new"
    assert "error phase" in made.problem
    assert probe.remove().problem == ""
    assert NAME not in fake.boxes


def test_a_create_that_was_refused_says_so_and_leaves_no_announcement(tmp_path):
    lab, fake = lab_with_openshell(tmp_path)
    fake.create_fails = "refused"
    probe = Throwaway(lab)
    assert "refused" in probe.make().problem
    assert probe.remove().problem == ""
    assert intents.read(lab.home.evidence) == {}


def test_somebody_elses_sandbox_that_took_the_name_meanwhile_is_left_alone(tmp_path):
    lab, fake = lab_with_openshell(tmp_path)
    fake.create_is_somebody_elses, fake.create_fails = True, "sandbox 'amap-l1-probe' already exists"
    probe = Throwaway(lab)
    assert "did not record" in probe.make().problem
    assert probe.remove().problem
    assert NAME in fake.boxes


def test_a_probe_that_cannot_be_deleted_is_named_with_the_command_and_stays_announced(tmp_path):
    lab, fake = lab_with_openshell(tmp_path)
    probe = Throwaway(lab)
    probe.make()
    fake.delete_fails = True
    removed = probe.remove()
    assert "sandbox delete amap-l1-probe" in removed.problem
    assert list(lab.run.left) == [removed.problem]
    assert intents.read(lab.home.evidence) == {NAME: "id-new"}


def test_an_interrupt_while_it_stands_is_cleaned_up_when_the_run_ends(tmp_path):
    lab, fake = lab_with_openshell(tmp_path)
    probe = Throwaway(lab)
    probe.make()
    lab.run.cleanup.close()
    assert NAME not in fake.boxes
    assert json.dumps(intents.read(lab.home.evidence)) == "{}"


def test_a_create_file_that_cannot_be_used_is_a_reason_and_no_traceback(tmp_path):
    lab, _ = lab_with_openshell(tmp_path)
    lab.home.command("alpha").unlink()
    assert "ENOENT" in Throwaway(lab).make().problem
