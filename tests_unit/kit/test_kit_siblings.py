"""Where the sibling checkouts are looked for, and the pins."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kit import siblings
from kit.errors import Refused


def checkout(path: Path, witness: str) -> Path:
    (path / witness).parent.mkdir(parents=True)
    (path / witness).touch()
    return path


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "a" / "b" / "repository").mkdir(parents=True)
    return tmp_path / "a" / "b" / "repository"


@pytest.mark.parametrize("name", siblings.KINDS)
def test_a_checkout_beside_or_further_up_is_found(name: str, repository: Path, tmp_path: Path) -> None:
    kind = siblings.KINDS[name]
    far = checkout(tmp_path / kind.directories[0], kind.witness)
    assert siblings.find(name, {}, repository) == siblings.Sibling(name, far, "beside")
    (repository.parent / kind.directories[0]).mkdir()  # the right name without the witness is passed over
    assert siblings.find(name, {}, repository).path == far
    near = checkout(repository.parent.parent / kind.directories[-1], kind.witness)
    assert siblings.find(name, {kind.variable: ""}, repository).path == near


@pytest.mark.parametrize("name", siblings.KINDS)
def test_a_variable_is_the_only_place(name: str, repository: Path, tmp_path: Path) -> None:
    kind = siblings.KINDS[name]
    checkout(repository.parent / kind.directories[0], kind.witness)
    elsewhere = checkout(tmp_path / "elsewhere", kind.witness)
    assert siblings.find(name, {kind.variable: str(elsewhere)}, repository).how == "variable"
    with pytest.raises(Refused, match=kind.variable):
        siblings.find(name, {kind.variable: str(tmp_path / "nowhere")}, repository)


@pytest.mark.parametrize("name", siblings.KINDS)
def test_a_missing_checkout_names_its_variable(name: str, repository: Path) -> None:
    with pytest.raises(Refused, match=siblings.KINDS[name].variable):
        siblings.find(name, {}, repository)


def test_found_leaves_out_what_is_not_there(repository: Path, tmp_path: Path) -> None:
    kind = siblings.KINDS["spec"]
    checkout(repository.parent / ".amap-spec", kind.witness)
    assert [sibling.name for sibling in siblings.found({}, repository)] == ["spec"]
    with pytest.raises(Refused, match="AMAP_ROUTER_REPO"):
        siblings.found({"AMAP_ROUTER_REPO": "/nowhere"}, repository)


def test_a_link_is_not_resolved(repository: Path, tmp_path: Path) -> None:
    kind = siblings.KINDS["connector"]
    checkout(tmp_path / "real", kind.witness)
    link = repository.parent / kind.directories[0]
    link.symlink_to(tmp_path / "real")
    assert siblings.find("connector", {}, repository).path == link


def test_the_pins_are_those_of_the_kinds() -> None:
    pins = {pin.name: pin for pin in siblings.load_pins()}
    assert set(pins) == {kind.directories[0] for kind in siblings.KINDS.values()}
    assert pins["amap-spec"].commit is None
    assert all(pin.url == f"https://github.com/proofpoint/{name}" for name, pin in pins.items())


def pin(**changes: Any) -> dict[str, Any]:
    return {"name": "a", "url": "https://example.org/a", "commit": None, **changes}


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"siblings": []},
        {"siblings": {}},
        {"siblings": [pin()], "more": 1},
        {"siblings": [pin(), pin()]},
        {"siblings": [pin(name="A")]},
        {"siblings": [pin(name="-a")]},
        {"siblings": [pin(url="http://example.org/a")]},
        {"siblings": [pin(commit="main")]},
        {"siblings": [pin(commit="A" * 40)]},
        {"siblings": [pin(branch="main")]},
    ],
)
def test_wrong_pins_are_refused(document: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "siblings.json"
    path.write_text(json.dumps(document))
    with pytest.raises(Refused, match=r"siblings\.json"):
        siblings.load_pins(path)
