"""membership.json: a strict reader, and ids that never change silently."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kit import fleet, membership
from kit.errors import Refused
from kit.membership import Member

ALPHA = Member("default", "alpha", "id-a")
BETA = Member("default", "beta", "id-b")


def entry(**changes: Any) -> dict[str, Any]:
    return {"workspace": "default", "name": "alpha", "id": "id-a", **changes}


def test_nothing_recorded_is_not_nobody(tmp_path: Path) -> None:
    path = tmp_path / "membership.json"
    assert membership.load(path) is None
    path.write_text(membership.render(()))
    assert membership.load(path) == ()


def test_what_is_written_is_read_back_sorted() -> None:
    text = membership.render([BETA, ALPHA])
    assert text.startswith(
        '{\n  "version": 1,\n  "members": [\n    {\n      "workspace": "default",\n      "name": "alpha"'
    )
    assert membership.parse(text.encode(), "m") == (ALPHA, BETA)


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"version": 1},
        {"version": 1, "members": [], "more": 1},
        {"version": True, "members": []},
        {"version": 2, "members": []},
        {"version": 1, "members": {}},
        {"version": 1, "members": ["alpha"]},
        {"version": 1, "members": [entry(more=1)]},
        {"version": 1, "members": [entry(name="Alpha")]},
        {"version": 1, "members": [entry(workspace="")]},
        {"version": 1, "members": [entry(id="")]},
        {"version": 1, "members": [entry(id="a b")]},
        {"version": 1, "members": [entry(id=7)]},
        {"version": 1, "members": [entry(), entry(id="other")]},
        {"version": 1, "members": [entry(), entry(name="beta")]},
        {"version": 1, "members": [entry(), entry(name="beta", id="id-b", workspace="other")]},
    ],
)
def test_any_other_document_is_refused(document: dict[str, Any]) -> None:
    with pytest.raises(Refused, match=r"^m"):
        membership.parse(json.dumps(document).encode(), "m")


def test_an_empty_file_is_an_error_not_nobody() -> None:
    with pytest.raises(Refused, match="no JSON document"):
        membership.parse(b"", "m")


def test_the_same_sandbox_again_changes_nothing() -> None:
    assert membership.add((ALPHA, BETA), ALPHA) == (ALPHA, BETA)
    assert membership.add((BETA,), ALPHA) == (ALPHA, BETA)


def test_a_changed_id_is_a_mismatch_that_says_what_to_do() -> None:
    with pytest.raises(Refused) as caught:
        membership.add((ALPHA,), Member("default", "alpha", "id-new"))
    for words in ("ID mismatch", "alpha", "default", "id-a", "id-new", "different sandbox", "remove membership.json"):
        assert words in str(caught.value)


def test_one_sandbox_is_one_member() -> None:
    with pytest.raises(Refused, match="id-a is recorded as alpha already"):
        membership.add((ALPHA,), Member("default", "beta", "id-a"))


def test_a_recorded_stranger_or_workspace_is_refused(fleet_file: Path) -> None:
    example = fleet.load(fleet_file)
    membership.check_within((ALPHA, BETA), example)
    with pytest.raises(Refused, match="gamma"):
        membership.check_within((Member("default", "gamma", "g"),), example)
    with pytest.raises(Refused, match="workspace other"):
        membership.check_within((Member("other", "alpha", "a"),), example)
