"""Announcements on disk: before the act, whole, and read with suspicion."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pytest_amap.evidence.recorded import EvidenceError
from pytest_amap.host import intents


def test_an_announcement_is_there_until_it_is_removed(tmp_path: Path) -> None:
    assert intents.load(tmp_path, "alpha") is None
    intents.write(tmp_path, "alpha", {"kind": intents.MEMBER, "id": ""})
    assert intents.load(tmp_path, "alpha") == {"name": "alpha", "kind": intents.MEMBER, "id": ""}
    intents.write(tmp_path, "alpha", {"kind": intents.MEMBER, "id": "id-1"})
    assert intents.read(tmp_path) == {"alpha": "id-1"}
    intents.remove(tmp_path, "alpha")
    intents.remove(tmp_path, "alpha")
    assert intents.read(tmp_path) == {}


def test_a_member_without_an_id_is_ours_a_probe_without_one_nobodys(tmp_path: Path) -> None:
    intents.write(tmp_path, "alpha", {"kind": intents.MEMBER, "id": ""})
    intents.write(tmp_path, "probe-1", {"kind": intents.PROBE, "id": ""})
    intents.write(tmp_path, "probe-2", {"kind": intents.PROBE, "id": "id-2"})
    intents.write(tmp_path, "beta-setting", {"kind": intents.SETTING, "id": "x"})
    assert intents.read(tmp_path) == {"alpha": "", "probe-2": "id-2"}


def test_files_are_private_and_no_half_is_left(tmp_path: Path) -> None:
    intents.write(tmp_path, "alpha", {"kind": intents.MEMBER})
    folder = tmp_path / intents.FOLDER
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()} == {"alpha.json": 0o600}


def test_a_symlink_in_its_place_is_replaced_and_never_written_through(tmp_path: Path) -> None:
    (tmp_path / intents.FOLDER).mkdir(mode=0o700)
    (tmp_path / "precious").write_text("precious")
    intents.path_of(tmp_path, "alpha").symlink_to(tmp_path / "precious")
    assert intents.load(tmp_path, "alpha") is None
    intents.write(tmp_path, "alpha", {"kind": intents.MEMBER})
    assert (tmp_path / "precious").read_text() == "precious"
    assert intents.load(tmp_path, "alpha") is not None


def test_a_symlink_in_the_parts_place_is_an_error_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / intents.FOLDER).mkdir(mode=0o700)
    (tmp_path / intents.FOLDER / ".alpha.part").symlink_to(tmp_path / "precious")
    with pytest.raises(EvidenceError, match="alpha"):
        intents.write(tmp_path, "alpha", {"kind": intents.MEMBER})
    assert not (tmp_path / "precious").exists()


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '"text"', "[" * 100_000, '{"kind": "sandbox", "id": 3}'])
def test_what_is_no_announcement_announces_nothing(tmp_path: Path, content: str) -> None:
    intents.write(tmp_path, "alpha", {"kind": intents.MEMBER, "id": "id-1"})
    path = tmp_path / intents.FOLDER / "beta.json"
    path.write_text(content)
    (tmp_path / intents.FOLDER / "notes.txt").write_text(json.dumps({"kind": intents.MEMBER, "id": "id-3"}))
    os.mkfifo(tmp_path / intents.FOLDER / "gamma.json")
    assert intents.read(tmp_path) == {"alpha": "id-1"}


def test_an_announcement_without_a_name_announces_nothing(tmp_path: Path) -> None:
    (tmp_path / intents.FOLDER).mkdir(mode=0o700)
    (tmp_path / intents.FOLDER / "beta.json").write_text('{"kind": "sandbox", "id": "id-1"}')
    assert intents.read(tmp_path) == {}
