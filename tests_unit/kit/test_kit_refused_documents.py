"""A fleet file or a membership that is wrong is refused by every action that reads it, and nothing changes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from kit_bench import FLEET, Stage

from kit import cli


def entry(**changes: Any) -> bytes:
    return json.dumps(FLEET | changes).encode()


FLEETS: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "no JSON document"),
    "a BOM": (b"\xef\xbb\xbf" + entry(), "no JSON document"),
    "UTF-16": (entry().decode().encode("utf-16"), "no JSON document"),
    "no UTF-8": (entry(_x="\u00e9").replace(b"\\u00e9", b"\xe9"), "no JSON document"),
    "NaN": (entry(_x=float("nan")), "NaN"),
    "infinity": (entry(_x=-float("inf")), "Infinity"),
    "two documents": (entry() + entry(), "no JSON document"),
    "a list": (b"[]", "one JSON object"),
    "deep": (b'{"_x":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "no JSON document"),
    "a huge number": (b'{"_x":' + b"9" * 5000 + b"}", "no JSON document"),
    "huge": (entry(_x="x" * 17_000_000), "More than"),
    "a key twice": (b'{"workspace":"a","workspace":"a"}', "duplicate key 'workspace'"),
    "a key twice, deep": (b'{"_x":[{"y":{"z":1,"z":1}}]}', "duplicate key 'z'"),
    "an unknown key": (entry(task_denny=[]), "unknown key 'task_denny'"),
    "a lookalike key": (entry().replace(b"task_graph", b"t\\u0430sk_graph"), r"unknown key 't\u0430sk_graph'"),
    "another's manifest": (entry(mounts=[]), "belong to the manifest of another deployment"),
    "another version": (entry(version=2), "version is 2"),
    "a version of another type": (entry(version=True), "version is True"),
    "no workspace": (b'{"fleet_domain":"a.example"}', "workspace is missing"),
    "a list of workspaces": (entry(workspace=["default"]), "workspace must be a string"),
    "a number as a workspace": (entry(workspace=1), "workspace must be a string"),
    "no domain": (b'{"workspace":"default"}', "fleet_domain is missing"),
    "a domain in capitals": (entry(fleet_domain="Agents.example.org"), "fleet_domain is"),
    "a domain with a dot at its end": (entry(fleet_domain="example.org."), "fleet_domain is"),
    "a domain with a line break": (entry(fleet_domain="example.org\n"), "fleet_domain is"),
    "a domain with a port": (entry(fleet_domain="example.org:25"), "fleet_domain is"),
    "a domain with a scheme": (entry(fleet_domain="https://example.org"), "fleet_domain is"),
    "an empty label": (entry(fleet_domain="a..example"), "fleet_domain is"),
    "a label's hyphen": (entry(fleet_domain="-a.example"), "fleet_domain is"),
    "a label of 64": (entry(fleet_domain="a" * 64 + ".example"), "fleet_domain is"),
    "a domain of 254": (entry(fleet_domain=".".join(["a" * 49] * 5 + ["aaaa"])), "fleet_domain is"),
    "a lookalike domain": (entry(fleet_domain="ex\u0430mple.org"), r"'ex\u0430mple.org'"),
    "nobody": (entry(task_graph={}), "names no instance"),
    "everybody, but nobody is named": (entry(task_graph="ALL"), "names no instance"),
    "a long list": (entry(task_graph={"beta": "x" * 100_000}), "(100002 characters)"),
    "a graph of another type": (entry(task_graph=[]), "task_graph is []"),
    "self": (entry(task_graph={"beta": ["beta"]}), "no member tasks itself"),
    "twice": (entry(task_graph={"beta": ["alpha", "alpha"]}), "names somebody twice"),
    "a group as a sender": (entry(task_graph={"beta": ["@all"]}), "single members only"),
    "a stranger denied": (entry(task_deny=[["alpha", "betta"]]), "task_deny names betta"),
    "a denial of oneself": (entry(task_deny=[["alpha", "alpha"]]), "task_deny[0]"),
    "a denial of three": (entry(task_deny=[["alpha", "beta", "beta"]]), "task_deny[0]"),
    "mail and task": (entry(peers={"alpha": ["beta"]}), "BOTH lanes"),
    "mail and task, the other way": (entry(peers={"beta": ["alpha"]}), "BOTH lanes"),
    "mail by default": (entry(default_peers=["beta"]), "BOTH lanes"),
    "mail to everybody": (entry(peers={"alpha": ["@all"]}), "BOTH lanes"),
    "mail by a group": (entry(groups={"g": ["beta"]}, peers={"alpha": ["@g"]}), "BOTH lanes"),
    "mail, and everybody tasks": (entry(task_graph="ALL", peers={"alpha": ["beta"]}), "BOTH lanes"),
    "no such group": (entry(peers={"alpha": ["@g"]}), "no such group"),
    "a group named all": (entry(groups={"all": ["alpha"]}), "group 'all'"),
    "a group in a group": (entry(groups={"g": ["@h"], "h": []}), "groups.g"),
}
NAMES = ("Alpha", "a b", "a" * 20, "-alpha", "alpha-", "al--pha", "al.pha", "al_pha", "\u0430lpha", "alpha\n", "")
NAMES += ("probe", "amap-l1-probe", "a@b", "a/b", "../a", "\ud800")
FLEETS |= {f"the name {name!a}": (entry(task_graph={"beta": [name]}), "task_graph.beta is") for name in NAMES}
FLEETS |= {f"the key {name!a}": (entry(task_graph={name: []}), "task_graph (key) is") for name in NAMES}
FLEETS |= {f"the name {name!r}": (entry(peers={"x": [name]}), "peers.x is") for name in (1, None, True, ["a"], {})}


@pytest.mark.parametrize("kind", FLEETS)
def test_a_fleet_that_is_wrong(shared: Stage, kind: str) -> None:
    content, says = FLEETS[kind]
    shared.fleet.write_bytes(content)
    shared.refuses("prepare", str(shared.fleet), says)


def test_an_installed_fleet_that_was_spoiled(stage: Stage) -> None:
    (stage.home / "fleet.json").write_bytes(entry(task_denny=[]))
    stage.refuses("record", "home/fleet.json", "unknown key")
    stage.refuses("prepare", "home/fleet.json", "unknown key")


def test_line_ends_and_own_keys_are_free(shared: Stage) -> None:
    shared.fleet.write_bytes(json.dumps(FLEET | {"_a": 1, "x-b": [None]}, indent=1).replace("\n", "\r\n").encode())
    assert cli.main(shared.words("prepare")) == 0


MEMBER = {"workspace": "default", "name": "alpha", "id": "i"}
MEMBERSHIPS: dict[str, object] = {
    "a list": [],
    "more": {"version": 1, "members": [], "more": 1},
    "version 2": {"version": 2, "members": []},
    "true": {"version": True, "members": []},
    "an object of members": {"version": 1, "members": {}},
    "a member with more": {"version": 1, "members": [MEMBER | {"x": 1}]},
    "a number as an id": {"version": 1, "members": [MEMBER | {"id": 1}]},
    "one name twice": {"version": 1, "members": [MEMBER, MEMBER | {"id": "j"}]},
    "one id twice": {"version": 1, "members": [MEMBER, MEMBER | {"name": "beta"}]},
    "two workspaces": {"version": 1, "members": [MEMBER, MEMBER | {"name": "beta", "id": "j", "workspace": "w"}]},
    "another workspace": {"version": 1, "members": [MEMBER | {"workspace": "w"}]},
    "a stranger": {"version": 1, "members": [MEMBER | {"name": "gamma"}]},
}


@pytest.mark.parametrize("kind", MEMBERSHIPS)
def test_a_membership_that_was_spoiled(stage: Stage, kind: str) -> None:
    (stage.home / "membership.json").write_text(json.dumps(MEMBERSHIPS[kind]))
    for action in ("record", "prepare"):
        stage.refuses(action, "membership.json")
