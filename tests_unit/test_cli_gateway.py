"""`amap gateway`: findings and a merge that is exact, or none."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from pytest_amap.cli import gateway as cli_gateway
from pytest_amap.cli import gateway_merge
from pytest_amap.cli.gateway_merge import ByHand, diff, merged
from pytest_amap.parsers.gateway_toml import REQUIRED, findings, gateway_file

GOOD = merged("")


def holds(text: str) -> bool:
    return all(found.ok for found in findings(gateway_file(text)))


def test_an_empty_file_becomes_one_that_holds() -> None:
    assert holds(GOOD)
    assert merged(GOOD) == GOOD
    assert diff(GOOD, "gateway.toml") == ""


@pytest.mark.parametrize(
    "text",
    [
        "# mine\n[openshell]\nversion = 1 # old\nname = 'x'\n",
        "[openshell]\nversion = 2\n\n[openshell.gateway]\ncompute_driver = 'podman'\nlog = [\n 1,\n 2,\n]\n",
        "[ openshell . drivers . docker ]\nallow_driver_config = false\n[other]\nenable_bind_mounts = false\n",
        "[[lists]]\nenabled = true\n[openshell.drivers.docker.resource_admission]\nenabled = true\n",
        GOOD.replace("true", "false"),
    ],
)
def test_only_the_required_settings_change(text: str) -> None:
    before, after = tomllib.loads(text), tomllib.loads(merged(text))
    assert holds(merged(text))
    for path, _ in REQUIRED:
        for data in (before, after):
            inner = data
            for key in path[:-1]:
                inner = inner.setdefault(key, {})
            inner.pop(path[-1], None)
    assert after == before
    assert set(text.splitlines()) - set(merged(text).splitlines()) <= {
        line for line in text.splitlines() if any(path[-1] in line for path, _ in REQUIRED)
    }


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("openshell = 1\n", "openshell in gateway.toml is no table"),
        ("openshell.version = 1\n", "another style"),
        ("openshell = {version = 1}\n", "another style"),
        ("[openshell\n", "cannot be read as TOML"),
        ("[openshell]\nversion = '''\n[x]\n'''\n", "another style"),
    ],
)
def test_what_would_not_come_out_exact_is_not_offered(text: str, why: str) -> None:
    with pytest.raises(ByHand, match=why):
        merged(text)


@pytest.mark.parametrize(("path", "value"), REQUIRED)
def test_every_single_setting_that_is_missing_is_put_back(path: tuple[str, ...], value: object) -> None:
    gone = "\n".join(line for line in GOOD.splitlines() if not line.startswith(f"{path[-1]} ="))
    assert not holds(gone)
    assert tomllib.loads(merged(gone)) == tomllib.loads(GOOD)


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("OPENSHELL_GATEWAY_CONFIG", raising=False)
    monkeypatch.setattr(cli_gateway, "service", lambda options: (None, None))
    (tmp_path / "openshell").mkdir()
    return tmp_path / "openshell" / "gateway.toml"


def test_a_posture_that_holds_is_0(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config.write_text(GOOD)
    assert cli_gateway.main([]) == 0
    out = capsys.readouterr().out
    assert "WRONG" not in out
    assert out.rstrip().endswith("merge: nothing to change")


def test_a_missing_file_is_1_with_the_whole_merge(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli_gateway.main([]) == 1
    out = capsys.readouterr().out
    assert f"file: {config} (the user's configuration folder; not there)" in out
    assert "+enable_bind_mounts = true" in out
    assert cli_gateway.RESTART in out
    assert "before the restart" not in out
    assert not config.exists()


def test_what_overrides_the_file_is_named(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config.write_text(GOOD)
    config.with_name("gateway.env").write_text("OPENSHELL_BIND_ADDRESS=0.0.0.0:17670\n")
    assert cli_gateway.main([]) == 1
    out = capsys.readouterr().out
    assert "WRONG  OPENSHELL_BIND_ADDRESS" in out
    assert "mend the lines marked WRONG by hand" in out


@pytest.mark.parametrize(
    ("toml", "environment"),
    [
        pytest.param('[openshell.gateway]\nbind_address = "0.0.0.0:17670"\n', "", id="in-the-file"),
        pytest.param("", "OPENSHELL_BIND_ADDRESS=0.0.0.0:17670\n", id="by-the-environment"),
        pytest.param("", "export OPENSHELL_BIND_ADDRESS\n", id="where-it-cannot-be-read"),
    ],
)
def test_no_restart_with_bind_mounts_before_the_rest_is_mended(
    config: Path, toml: str, environment: str, capsys: pytest.CaptureFixture[str]
) -> None:
    config.write_text(toml)
    config.with_name("gateway.env").write_text(environment)
    assert cli_gateway.main([]) == 1
    *_, mend, restart = capsys.readouterr().out.splitlines()
    assert mend.startswith("before the restart: mend the other lines marked WRONG by hand")
    assert cli_gateway.RESTART in restart


@pytest.mark.parametrize("text", ["[", "openshell = 1\n"])
def test_no_merge_of_what_cannot_be_edited(config: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    config.write_text(text)
    assert cli_gateway.main([]) == 1
    assert "merge: none; " in capsys.readouterr().out
    assert config.read_text() == text


def test_a_file_that_may_not_be_read(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config.mkdir()
    assert cli_gateway.main([]) == 1
    assert "could not be read (not a regular file)" in capsys.readouterr().out


def test_the_service_is_asked_and_may_be_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/none")
    assert cli_gateway.service(cli_gateway.Options()) == (None, None)


def test_the_fragment_is_a_part_of_the_merge() -> None:
    fragment = tomllib.loads(cli_gateway.FRAGMENT)
    assert gateway_merge.merged(cli_gateway.FRAGMENT).startswith("\n".join(cli_gateway.FRAGMENT.splitlines()))
    assert fragment["openshell"]["drivers"]["docker"]["enable_bind_mounts"] is True
