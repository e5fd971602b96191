"""`amap doctor`: what stands in a run's way, each with its remedy, and nothing written."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.fleet import load
from kit.home import Home
from kit.siblings import Sibling
from pytest_amap.checks import unknown_6
from pytest_amap.cli import doctor as cli_doctor
from pytest_amap.cli.looking import Unkept
from pytest_amap.evidence.redaction import Redactor
from pytest_amap.failures import StepRefused
from pytest_amap.host import identity, lock, survey
from pytest_amap.host.lab import Lab
from pytest_amap.host.survey import Ground, Problem
from pytest_amap.options import Options
from pytest_amap.verdicts import FAIL, PASS, UNKNOWN, Part

FLEET = Path(__file__).resolve().parents[1] / "examples" / "fleet.json"


@pytest.fixture
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ground:
    """A host where all is good, with nothing on it asked."""
    ground = Ground(home=Home(tmp_path / "home"), fleet=load(FLEET))
    parts = [Part("settings", PASS, "good", "good"), Part(unknown_6.STATEMENT, UNKNOWN, "a statement", "not stated")]
    monkeypatch.setattr(survey, "look", lambda options, environ: ground)
    monkeypatch.setattr(cli_doctor, "ask_versions", lambda lab: ("openshell 0.1.2", "28.0"))
    monkeypatch.setattr(unknown_6, "collect", lambda lab: None)
    monkeypatch.setattr(unknown_6, "judge", lambda seen: parts)
    return ground


def test_nothing_in_the_way_is_0_and_the_statement_is_told(
    ground: Ground, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli_doctor.main(["--amap-home", str(tmp_path / "home"), "-o", "amap_port=1"]) == 0
    out = capsys.readouterr().out
    assert "MEND" not in out
    assert f"UNKNOWN {unknown_6.STATEMENT}: expected a statement, saw not stated" in out
    assert not list(tmp_path.iterdir())


def test_every_problem_is_a_line_with_its_remedy(ground: Ground, capsys: pytest.CaptureFixture[str]) -> None:
    ground.problems += [Problem("a is missing", "get a"), Problem("b is missing", "get b")]
    ground.home = None
    assert cli_doctor.main(["-o", "amap_port=1"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "MEND  step 0: a is missing; get a",
        "MEND  step 0: b is missing; get b",
        "MEND  step 0: versions were not asked; mend the above first",
        "MEND  step 2: not asked, since step 0 found no home or no fleet",
    ]


def test_a_sibling_is_told_with_its_pin_and_stands_in_no_runs_way(
    ground: Ground, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ground.siblings["router"] = Sibling("router", tmp_path, "variable")
    assert cli_doctor.main(["-o", "amap_port=1"]) == 0
    none = "not measured: no git checkout"
    told = f"ok    step 0: router checkout {tmp_path}: {none}; {none}, found by its variable"
    assert told in capsys.readouterr().out.splitlines()


def test_a_broken_posture_is_1(
    ground: Ground, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(unknown_6, "judge", lambda seen: [Part("listener", FAIL, "loopback", "0.0.0.0")])
    assert cli_doctor.main(["-o", "amap_port=1"]) == 1
    assert "MEND  step 2: FAIL listener: expected loopback, saw 0.0.0.0" in capsys.readouterr().out


def test_recorded_members_are_no_strangers_on_the_gateway(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    known: list[dict[str, str]] = []
    monkeypatch.setattr(unknown_6, "collect", lambda lab: known.append(dict(lab.ids)))
    monkeypatch.setattr(identity, "recorded", lambda lab: {"alpha": "id-1"})
    assert cli_doctor.main(["-o", "amap_port=1"]) == 0
    assert known == [{"alpha": "id-1"}]


def test_a_membership_that_cannot_be_read_is_told(ground: Ground, capsys: pytest.CaptureFixture[str]) -> None:
    assert ground.home is not None
    ground.home.path.mkdir()
    ground.home.membership.write_text("{")
    assert cli_doctor.main(["-o", "amap_port=1"]) == 1
    assert "MEND  step 2: " in capsys.readouterr().out


def test_a_version_that_is_refused_is_1(
    ground: Ground, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(lab: Lab) -> tuple[str, str]:
        raise StepRefused("OpenShell 0.1.2 or later is needed")

    monkeypatch.setattr(cli_doctor, "ask_versions", refuse)
    assert cli_doctor.main(["-o", "amap_port=1"]) == 1
    assert "MEND  step 0: OpenShell 0.1.2 or later is needed" in capsys.readouterr().out


def test_a_run_at_work_is_named_and_the_name_given_back(ground: Ground, capsys: pytest.CaptureFixture[str]) -> None:
    with lock.endpoint(2):
        assert cli_doctor.main(["-o", "amap_port=2"]) == 1
    assert "the gateway on port 2 is in use by" in capsys.readouterr().out
    assert cli_doctor.main(["-o", "amap_port=2"]) == 0


def test_the_settings_are_those_of_a_run(
    ground: Ground, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Option before variable before ini, resolved by pytest itself."""
    seen: list[Options] = []

    def look(options: Options, environ: object) -> Ground:
        seen.append(options)
        return ground

    monkeypatch.setattr(survey, "look", look)
    monkeypatch.setenv("AMAP_OPENSHELL_HOME", "/from/environment")
    monkeypatch.setenv("PYTEST_ADDOPTS", "-o amap_label_prefix=example.org")
    assert (
        cli_doctor.main(
            ["-o", "amap_port=1", "-o", "amap_openshell=ryno", "-o", "amap_host_alias=h", "--fleet", str(FLEET)]
        )
        == 0
    )
    one = seen[0]
    assert (one.port, one.openshell, one.label_prefix, one.host_alias) == (1, "ryno", "example.org", "h")
    assert (one.home, one.fleet) == ("/from/environment", str(FLEET))
    assert not one.apply


@pytest.mark.parametrize("setting", ["amap_port=none", "amap_port=70000", "amap_deadline_exec=soon"])
def test_a_wrong_setting_is_2_in_one_sentence(setting: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert cli_doctor.main(["-o", setting]) == 2
    said = capfd.readouterr()
    assert setting.partition("=")[0] in said.out + said.err
    assert len((said.out + said.err).strip().splitlines()) == 1


def test_a_look_leaves_no_record(tmp_path: Path) -> None:
    unkept = Unkept(tmp_path, Redactor({}), host="live", run="")
    assert unkept.observation(step=0, check="", label="l", source="s", observed={}) == ""
    assert not list(tmp_path.iterdir())
