"""Where the gateway's private keys are looked for, and what hides them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_amap.host import gateway_keys
from pytest_amap.parsers import gateway_toml


def found(home: Path, **overrides: str) -> list[str]:
    return [os.path.relpath(path, home) for path in gateway_keys.paths({"HOME": os.fspath(home)}, overrides)]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in (".config/openshell/gateways/a/mtls/tls.key", ".local/state/openshell/tls/server.key", "other/own.key"):
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.touch()
    return tmp_path


def test_registrations_and_the_packages_folder(home: Path) -> None:
    assert found(home) == [".config/openshell/gateways/a/mtls/tls.key", ".local/state/openshell/tls/server.key"]


def test_the_folder_that_the_services_environment_names(home: Path) -> None:
    assert found(home, OPENSHELL_LOCAL_TLS_DIR=os.fspath(home / "other"))[1:] == ["other/own.key"]


def test_the_files_that_gateway_toml_or_an_override_names(home: Path) -> None:
    text = "[openshell.gateway.tls]\nkey_path = '/a'\n[openshell.gateway.gateway_jwt]\nsigning_key_path = '/b'\n"
    named = gateway_toml.key_files(gateway_toml.gateway_file(text), {"OPENSHELL_TLS_KEY": "/c", "--tls-cert": "/d"})
    assert named == ("/a", "/b", "/c")
    assert gateway_keys.paths({"HOME": os.fspath(home)}, {}, named)[:3] == ["/a", "/b", "/c"]


def test_a_link_to_a_folder_is_not_passed_over(home: Path) -> None:
    (home / ".config/openshell/gateways/b").symlink_to(home / "other")
    assert ".config/openshell/gateways/b" in found(home)
    (home / "tls").symlink_to(home / "other")
    assert found(home, OPENSHELL_LOCAL_TLS_DIR=os.fspath(home / "tls"))[-1] == "tls"


def test_a_folder_that_cannot_be_listed_is_not_passed_over(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert found(home) == [".config/openshell/gateways", ".local/state/openshell/tls"]
