"""fleet.json: what is read, how the graphs resolve, and every way to be refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kit import fleet
from kit.errors import Refused
from kit.fleet import Fleet

BASE = {"workspace": "default", "fleet_domain": "agents.example.org"}


def read(**keys: Any) -> Fleet:
    return fleet.parse(json.dumps({**BASE, **keys}).encode(), "f.json")


def test_the_example_lets_alpha_task_beta_and_nothing_else(fleet_file: Path) -> None:
    example = fleet.load(fleet_file)
    assert (example.workspace, example.domain) == ("default", "agents.example.org")
    assert example.members == ("alpha", "beta")
    assert example.task_graph == {"alpha": (), "beta": ("alpha",)}
    assert example.task_edges == (("alpha", "beta"),)
    assert example.mail == {"alpha": (), "beta": ()}
    assert example.address("beta") == "beta@agents.example.org"
    assert example.raw == fleet_file.read_bytes()
    assert example.warnings == ()


def test_the_mail_example_adds_a_mutual_pair(repository: Path) -> None:
    example = fleet.load(repository / "examples" / "fleet-mail.json")
    assert example.task_edges == (("alpha", "beta"),)
    assert example.mail == {"alpha": ("gamma",), "beta": (), "gamma": ("alpha",)}
    assert example.warnings == ()


def test_members_are_all_names_that_anything_mentions() -> None:
    found = read(
        groups={"team": ["zeta"]},
        default_peers=[],
        peers={"eta": ["theta"]},
        task_graph={"beta": ["alpha"], "iota": []},
        task_deny=[["zeta", "iota"]],
    )
    assert found.members == ("alpha", "beta", "eta", "iota", "theta", "zeta")


def test_a_denial_makes_no_member() -> None:
    with pytest.raises(Refused, match="task_deny names betta, who is no member"):
        read(task_graph={"beta": ["alpha"]}, task_deny=[["alpha", "betta"]])


def test_all_grants_every_ordered_pair_less_the_denied() -> None:
    found = read(task_graph="ALL", task_deny=[["alpha", "beta"]], groups={"all-of-us": ["alpha", "beta", "gamma"]})
    assert found.task_graph == {"alpha": ("beta", "gamma"), "beta": ("gamma",), "gamma": ("alpha", "beta")}
    assert not found.tasks_all
    assert read(task_graph="ALL", groups={"us": ["alpha", "beta"]}).tasks_all


def test_a_denied_pair_is_taken_off_an_object_too() -> None:
    assert read(task_graph={"beta": ["alpha", "gamma"]}, task_deny=[["gamma", "beta"]]).task_edges == (
        ("alpha", "beta"),
    )


def test_groups_and_defaults_expand_and_an_own_list_replaces_the_default() -> None:
    found = read(groups={"team": ["alpha", "beta"]}, default_peers=["@team"], peers={"gamma": ["@all"], "delta": []})
    assert found.mail == {
        "alpha": ("beta",),
        "beta": ("alpha",),
        "gamma": ("alpha", "beta", "delta"),
        "delta": (),
    }


def test_allow_any_lists_every_other_member() -> None:
    found = read(peers={"alpha": ["ALLOW_ANY"], "beta": ["alpha"]})
    assert found.mail == {"alpha": ("beta",), "beta": ("alpha",)}


def test_a_one_sided_mail_entry_is_a_warning() -> None:
    (warning,) = read(peers={"alpha": ["beta"]}).warnings
    assert "alpha lists beta, beta does not list alpha" in warning


def test_own_keys_are_free() -> None:
    assert read(_comment="x", **{"x-owner": {}}, task_graph={"beta": ["alpha"]}).members == ("alpha", "beta")


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({}, "names no instance"),
        ({"task_graph": "ALL"}, "names no instance"),
        ({"version": 2}, "version is 2"),
        ({"version": True}, "version is True"),
        ({"workspace": ["default"]}, "workspace must be a string"),
        ({"workspace": "De fault"}, "workspace is"),
        ({"fleet_domain": "Example.org"}, "fleet_domain is"),
        ({"fleet_domain": "example.org\n"}, "fleet_domain is"),
        ({"task_denny": []}, "unknown key 'task_denny'"),
        ({"agents": {}}, "another deployment"),
        ({"groups": []}, "groups is"),
        ({"groups": {"all": []}}, "group 'all'"),
        ({"groups": {"": []}}, "group ''"),
        ({"groups": {"team": ["@other"]}}, "groups.team"),
        ({"groups": {"team": ["ALLOW_ANY"]}}, "groups.team"),
        ({"peers": {"Alpha": []}}, "peers (key)"),
        ({"peers": {"alpha": "beta"}}, "peers.alpha"),
        ({"peers": {"alpha": ["@nobody"]}}, "no such group"),
        ({"peers": {"alpha": ["ALLOW_ANY", "beta"]}}, "mixes ALLOW_ANY"),
        ({"default_peers": ["beta", "beta"]}, "names somebody twice"),
        ({"task_graph": "all"}, "task_graph is 'all'"),
        ({"task_graph": {"Beta": []}}, "task_graph (key)"),
        ({"task_graph": {"beta": ["alpha", "alpha"]}}, "task_graph.beta names somebody twice"),
        ({"task_graph": {"beta": ["ALLOW_ANY"]}}, "task_graph.beta holds 'ALLOW_ANY'"),
        ({"task_graph": {"beta": ["@team"]}}, "task_graph.beta holds '@team'"),
        ({"task_graph": {"beta": ["beta"]}}, "no member tasks itself"),
        ({"task_graph": {"beta": ["probe"]}}, "kept for a throwaway probe"),
        ({"task_graph": {"beta": [1]}}, "task_graph.beta is"),
        ({"task_deny": {}}, "task_deny is"),
        ({"task_deny": [["alpha"]]}, "task_deny[0]"),
        ({"task_deny": [["alpha", "alpha"]]}, "task_deny[0]"),
        ({"task_graph": {"beta": ["alpha"]}, "peers": {"alpha": ["beta"]}}, "BOTH lanes"),
        ({"task_graph": {"beta": ["alpha"]}, "peers": {"beta": ["ALLOW_ANY"]}}, "BOTH lanes"),
    ],
)
def test_a_wrong_entry_is_refused_by_name(keys: dict[str, Any], says: str) -> None:
    with pytest.raises(Refused) as caught:
        read(**keys)
    message = str(caught.value)
    assert message.startswith("f.json: ")
    assert says in message
    assert "\n" not in message


@pytest.mark.parametrize("missing", ["workspace", "fleet_domain"])
def test_a_required_key_is_named(missing: str) -> None:
    document = {key: value for key, value in BASE.items() if key != missing}
    with pytest.raises(Refused, match=f"{missing} is missing"):
        fleet.parse(json.dumps(document).encode(), "f.json")


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"null", b"\xff", b'{"a": NaN}', b'{"peers": {}, "peers": {}}'])
def test_what_is_no_object_is_refused(raw: bytes) -> None:
    with pytest.raises(Refused, match=r"f\.json"):
        fleet.parse(raw, "f.json")


def test_an_absent_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="No such file"):
        fleet.load(tmp_path / "none.json")
