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
    pins = siblings.load_pins()
    assert {name: pin.name for name, pin in pins.items()} == {
        name: kind.directories[0] for name, kind in siblings.KINDS.items()
    }
    assert pins["spec"].commit is None
    assert all(pin.url == f"https://github.com/proofpoint/{pin.name}" for pin in pins.values())


def test_a_commit_stands_to_its_pin() -> None:
    commit = "0123456789" * 4
    assert siblings.Pin("a", "https://h/a", commit).against(commit) == "at the pin"
    assert siblings.Pin("a", "https://h/a", commit).against("f" * 40) == "not at the pin 012345678901"
    assert siblings.Pin("a", "https://h/a", None).against(commit) == "unpinned"


def pin(**changes: Any) -> dict[str, Any]:
    return {"name": "amap-spec", "url": "https://example.org/a", "commit": None, **changes}


def pins(*more: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A whole document, whose last entry is the spec's."""
    others = [pin(name=kind.directories[0]) for name, kind in siblings.KINDS.items() if name != "spec"]
    return {"siblings": [*others, pin(**changes), *more]}


def test_the_bench_of_the_next_test_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "siblings.json"
    path.write_text(json.dumps(pins()))
    assert set(siblings.load_pins(path)) == set(siblings.KINDS)


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"siblings": []},
        {"siblings": {}},
        {"siblings": [pin()]},
        {**pins(), "more": 1},
        pins(pin()),
        pins(pin(name="another")),
        pins(name="A"),
        pins(name="-a"),
        pins(url="http://example.org/a"),
        pins(url="https://me:secret@example.org/a"),
        pins(url="https://example.org/a?token=secret"),
        pins(commit="main"),
        pins(commit="A" * 40),
        pins(branch="main"),
    ],
)
def test_wrong_pins_are_refused(document: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "siblings.json"
    path.write_text(json.dumps(document))
    with pytest.raises(Refused, match=r"siblings\.json") as refusal:
        siblings.load_pins(path)
    assert "secret" not in str(refusal.value)
