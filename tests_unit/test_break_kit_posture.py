"""Any single setting of gateway.toml, or of what overrides it, that is changed is noticed, wherever it stands."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_amap.cli import gateway as cli_gateway
from pytest_amap.cli.gateway_merge import merged
from pytest_amap.host import posture_files
from pytest_amap.host.posture_files import GatewayFiles
from pytest_amap.parsers import gateway_toml, units
from pytest_amap.parsers.gateway_settings import ALIAS, State

RIGHT = merged("")
OPENING = ("OPENSHELL_BIND_ADDRESS", "0.0.0.0")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The user's openshell folder, with a gateway.toml that holds."""
    made = tmp_path / "config" / "openshell"
    made.mkdir(parents=True)
    (made / "gateway.toml").write_text(RIGHT)
    return made


def locate(folder: Path, unit: units.Unit | None = None, **environ: str) -> GatewayFiles:
    return posture_files.locate({"XDG_CONFIG_HOME": str(folder.parent)} | environ, unit)


def service(
    *flags: str, environment: dict[str, str] | None = None, environment_files: tuple[Path, ...] = ()
) -> units.Unit:
    listed = tuple(map(str, environment_files))
    return units.Unit(("/usr/bin/openshell-gateway", *flags), environment or {}, listed, (), "active", "")


def noticed(found: GatewayFiles) -> bool:
    """Step 0, step 2 and unknown_6 alike: they judge these two."""
    return bool(found.unread or found.undecided) or not all(finding.ok for finding in found.findings(17670, ALIAS))


def test_the_right_file_alone_holds(folder: Path) -> None:
    assert not noticed(locate(folder))
    assert not noticed(locate(folder, service()))
    assert posture_files.problems(locate(folder), 17670, ALIAS) == []


@pytest.mark.parametrize("number", [number for number, line in enumerate(RIGHT.splitlines()) if line])
def test_each_line_of_the_file_counts(folder: Path, number: int) -> None:
    lines = RIGHT.splitlines()
    (folder / "gateway.toml").write_text("\n".join(lines[:number] + lines[number + 1 :]))
    assert noticed(locate(folder))
    assert posture_files.problems(locate(folder), 17670, ALIAS)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        OPENING,
        ("OPENSHELL_BIND_ADDRESS", "0.0.0.0:17670"),
        ("OPENSHELL_HEALTH_BIND_ADDRESS", "10.0.0.1:9000"),
        ("OPENSHELL_METRICS_BIND_ADDRESS", "[::]:9000"),
        ("OPENSHELL_SERVER_PORT", "8080"),
        ("OPENSHELL_COMPUTE_DRIVER", "podman"),
        ("OPENSHELL_OIDC_ISSUER", "https://a.example"),
        ("OPENSHELL_DISABLE_TLS", "true"),
        ("OPENSHELL_ALLOW_UNAUTHENTICATED_USERS", "1"),
        ("OPENSHELL_GATEWAY_CONFIG", "/none/gateway.toml"),
    ],
)
def test_each_override_counts_wherever_it_stands(folder: Path, tmp_path: Path, name: str, value: str) -> None:
    flag = "--" + name.removeprefix("OPENSHELL_").lower().replace("_", "-").replace("gateway-config", "config")
    other = tmp_path / "other.env"
    other.write_text(f"{name}={value}\n")
    assert noticed(locate(folder, service(flag, value)))
    assert noticed(locate(folder, service(f"{flag}={value}")))
    assert noticed(locate(folder, service(environment={name: value})))
    assert noticed(locate(folder, service(environment_files=(other,))))
    (folder / "gateway.env").write_text(other.read_text())
    assert noticed(locate(folder))
    assert noticed(locate(folder, service()))
    assert posture_files.problems(locate(folder), 17670, ALIAS)


def test_an_override_is_not_told_as_a_line_of_the_file(folder: Path) -> None:
    (folder / "gateway.env").write_text("=".join(OPENING))
    ((what, _),) = posture_files.problems(locate(folder), 17670, ALIAS)
    assert what.startswith("what overrides gateway.toml: OPENSHELL_BIND_ADDRESS must be")


def test_a_gateway_env_that_the_unit_does_not_list_hides_nothing(folder: Path, tmp_path: Path) -> None:
    (folder / "gateway.env").write_text("OPENSHELL_BIND_ADDRESS=127.0.0.1:17670\n")
    assert noticed(locate(folder, service(environment=dict([OPENING]))))
    other = tmp_path / "other.env"
    other.write_text("=".join(OPENING))
    assert noticed(locate(folder, service(environment_files=(other,))))


def test_an_environment_file_behind_a_link_is_read_as_systemd_reads_it(folder: Path, tmp_path: Path) -> None:
    kept, other = tmp_path / "kept.env", tmp_path / "other.env"
    kept.write_text("OPENSHELL_LOG_LEVEL=debug\n")
    for link in (folder / "gateway.env", other):
        link.symlink_to(kept)
    unit = service(environment_files=(other,))
    assert not noticed(locate(folder, unit))
    assert locate(folder, unit).overrides == {"OPENSHELL_LOG_LEVEL": "debug"}
    kept.write_text("=".join(OPENING))
    assert noticed(locate(folder))
    assert noticed(locate(folder, unit))


def test_the_last_environment_file_wins(folder: Path, tmp_path: Path) -> None:
    other, own = tmp_path / "other.env", folder / "gateway.env"
    other.write_text("=".join(OPENING))
    own.write_text("OPENSHELL_BIND_ADDRESS=127.0.0.1\n")
    assert noticed(locate(folder, service(environment_files=(own, other))))
    assert not noticed(locate(folder, service(environment_files=(other, own))))


def test_a_pattern_of_environment_files_is_read(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "10-open.env").write_text("=".join(OPENING))
    assert noticed(locate(folder, service(environment_files=(tmp_path / "*.env",))))
    assert not noticed(locate(folder, service(environment_files=(tmp_path / "*.none",))))


@pytest.mark.parametrize("variable", ["XDG_CONFIG_HOME", "HOME"])
def test_the_services_own_folder_is_the_one_that_counts(folder: Path, tmp_path: Path, variable: str) -> None:
    own = tmp_path / "service" if variable == "XDG_CONFIG_HOME" else tmp_path / "service" / ".config"
    (own / "openshell").mkdir(parents=True)
    (own / "openshell" / "gateway.toml").write_text(RIGHT.replace("docker", "podman"))
    unit = service(environment={variable: str(tmp_path / "service")})
    terminal = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": "" if variable == "HOME" else str(folder.parent)}
    found = posture_files.locate(terminal, unit)
    assert found.toml.path == str(own / "openshell" / "gateway.toml")
    assert noticed(found)


@pytest.mark.parametrize("environ", [{}, {"HOME": ""}, {"HOME": "here"}, {"XDG_CONFIG_HOME": "config"}])
def test_a_folder_that_cannot_be_located_is_not_the_current_one(
    folder: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent.parent)
    found = posture_files.locate(environ)
    assert found.toml.text is None
    assert "not located" in str(found.toml.problem)
    assert noticed(found)


def test_a_relative_config_is_not_sought_here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    found = locate(folder, service("--config", "gateway.toml"))
    assert found.toml.problem == "named by a relative path"
    assert noticed(found)


def test_who_named_the_file_is_told(folder: Path) -> None:
    path = str(folder / "gateway.toml")
    assert locate(folder).how == "the user's configuration folder"
    assert locate(folder, service("--config", path)).how == "named by the gateway's own settings"
    assert "in this terminal" in locate(folder, OPENSHELL_GATEWAY_CONFIG=path).how


def test_other_variables_of_the_service_are_neither_judged_nor_kept(folder: Path) -> None:
    found = locate(folder, service(environment={"PORT": "8080", "TOKEN": "secret"}))
    assert found.overrides == {}
    assert not noticed(found)


@pytest.mark.parametrize("damage", ["directory", "link to a directory", "not UTF-8", "open quote"])
def test_an_environment_file_that_cannot_be_read_is_noticed_by_everybody(
    folder: Path, damage: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / "gateway.env"
    match damage:
        case "directory":
            path.mkdir()
        case "link to a directory":
            path.symlink_to(folder)
        case "not UTF-8":
            path.write_bytes(b"OPENSHELL_BIND_ADDRESS\xff=0.0.0.0\n")
        case _:
            path.write_text('OPENSHELL_BIND_ADDRESS="0.0.0.0\n')
    assert locate(folder).unread
    assert any(
        "what overrides gateway.toml is not known" in what
        for what, _ in posture_files.problems(locate(folder), 17670, ALIAS)
    )
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder.parent))
    monkeypatch.delenv("OPENSHELL_GATEWAY_CONFIG", raising=False)
    monkeypatch.setattr(cli_gateway, "service", lambda options: (None, None))
    assert cli_gateway.main([]) == 1
    assert "WRONG  gateway.env: " in capsys.readouterr().out


def test_a_file_that_is_no_utf8_is_unreadable(folder: Path) -> None:
    (folder / "gateway.toml").write_bytes(RIGHT.encode() + b'[openshell.gateway.tls]\ncert_path = "\xff"\n')
    assert noticed(locate(folder))


def test_a_loopback_host_without_a_port_is_loopback(folder: Path) -> None:
    assert not noticed(locate(folder, service(environment={"OPENSHELL_BIND_ADDRESS": "127.0.0.1"})))
    assert os.listdir(folder) == ["gateway.toml"]


def test_a_file_that_cannot_be_read_is_one_problem_and_not_one_a_setting(folder: Path) -> None:
    (folder / "gateway.toml").unlink()
    (folder / "gateway.toml").mkdir()
    told = [what for what, _ in posture_files.problems(locate(folder), 17670, ALIAS)]
    assert told == ["gateway.toml must be readable, saw gateway.toml: not a regular file"]


@pytest.mark.parametrize("damage", ["symlink", "FIFO", "directory", "too large", "byte order mark", "NUL", "no right"])
def test_what_hides_the_file_is_unreadable_and_neither_right_nor_wrong(
    folder: Path, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder / "gateway.toml"
    path.unlink()
    match damage:
        case "symlink":
            (folder / "other.toml").write_text(RIGHT)
            path.symlink_to(folder / "other.toml")
        case "FIFO":
            os.mkfifo(path)
        case "directory":
            path.mkdir()
        case "too large":
            path.write_text(f"{RIGHT}# {'x' * gateway_toml.LIMIT}")
        case "byte order mark":
            path.write_bytes(b"\xef\xbb\xbf" + RIGHT.encode())
        case "NUL":
            path.write_text(f"{RIGHT}\0")
        case _:
            path.write_text(RIGHT)
            monkeypatch.setattr(os, "open", refuse)
    found = locate(folder).findings(17670, ALIAS)
    assert {finding.state for finding in found} == {State.UNREADABLE}
    assert not any(finding.ok for finding in found)


def refuse(path: str, *_: object, **__: object) -> int:
    raise PermissionError(13, "Permission denied", path)
