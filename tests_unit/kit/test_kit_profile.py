"""The provider profile: template, rendering, and the comparison with the gateway's copy."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kit import files, profile
from kit.errors import Refused
from kit.home import Home

NODE = "/usr/local/bin/node"
CLAUDE = "/usr/local/lib/node_modules/@anthropic-ai/claude-code/bin/claude.exe"


@pytest.fixture
def template(repository: Path) -> dict[str, Any]:
    return profile.load(repository / "providers" / "amap-claude-code.json")


@pytest.fixture
def ours(template: dict[str, Any]) -> dict[str, Any]:
    return profile.render(template, [NODE, CLAUDE])


@pytest.fixture
def listed(ours: dict[str, Any]) -> dict[str, Any]:
    """The gateway's copy as its listing prints it: bookkeeping and defaults added."""
    document = copy.deepcopy(ours)
    document |= {"resource_version": 3, "source": "user", "scope": "workspace", "annotations": {}}
    document["credentials"][0] |= {"query_param": "", "path_template": "", "refresh": None}
    document["endpoints"][0] |= {"tls": "", "rules": [], "path": "", "allowed_ips": [], "websocket": False, "limit": 0}
    document["binaries"] = [{"path": CLAUDE}, {"path": NODE}]
    return document


def test_the_template_opens_one_endpoint_for_one_key_and_no_binary(template: dict[str, Any]) -> None:
    (credential,) = template["credentials"]
    (endpoint,) = template["endpoints"]
    assert (template["id"], template["category"], template["binaries"]) == ("amap-claude-code", "agent", [])
    assert template["discovery"] == {"credentials": [credential["name"]]}
    assert (credential["env_vars"], credential["required"]) == (["ANTHROPIC_API_KEY"], True)
    assert (credential["auth_style"], credential["header_name"]) == ("header", "x-api-key")
    assert endpoint == {
        "host": "api.anthropic.com",
        "port": 443,
        "protocol": "rest",
        "access": "read-write",
        "enforcement": "enforce",
    }


def test_the_real_paths_are_put_in_once_each(template: dict[str, Any]) -> None:
    before = copy.deepcopy(template)
    assert profile.render(template, [NODE, CLAUDE, NODE])["binaries"] == [NODE, CLAUDE]
    assert template == before


@pytest.mark.parametrize("binaries", [[], [""], ["node"], ["/usr//bin/node"], ["/a/../b"], ["/a b"], ["/a\n"], ["//a"]])
def test_a_binary_that_is_no_real_path_is_refused(template: dict[str, Any], binaries: list[str]) -> None:
    with pytest.raises(Refused, match="--binary"):
        profile.render(template, binaries)


def test_a_template_that_grants_something_is_refused(repository: Path, tmp_path: Path, ours: dict[str, Any]) -> None:
    path = tmp_path / "t.json"
    for document in (ours, {**ours, "binaries": [], "id": "claude-code"}):
        path.write_text(json.dumps(document))
        with pytest.raises(Refused, match="empty list of binaries"):
            profile.load(path)


def test_the_gateways_own_copy_is_the_same(ours: dict[str, Any], listed: dict[str, Any]) -> None:
    assert profile.same(ours, listed) == []
    assert profile.same(ours, ours) == []


def test_a_port_may_be_listed_as_ports(ours: dict[str, Any], listed: dict[str, Any]) -> None:
    listed["endpoints"][0] |= {"port": 0, "ports": [443]}
    assert profile.same(ours, listed) == []


def change(path: str, value: object) -> Callable[[dict[str, Any]], None]:
    def apply(document: dict[str, Any]) -> None:
        *way, last = (int(key) if key.isdecimal() else key for key in path.split("."))
        target: Any = document
        for key in way:
            target = target[key]
        target[last] = value

    return apply


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("id", "other"),
        ("category", "other"),
        ("inference_capable", False),
        ("description", ""),
        ("endpoints.0.tls", "skip"),
        ("endpoints.0.enforcement", "audit"),
        ("endpoints.0.enforcement", ""),
        ("endpoints.0.access", "full"),
        ("endpoints.0.host", "*.anthropic.com"),
        ("endpoints.0.port", 80),
        ("endpoints.0.ports", [443, 8443]),
        ("endpoints.0.rules", [{"allow": {"method": "GET", "path": "/**"}}]),
        ("endpoints.0.path", "/v1"),
        ("endpoints.0.allowed_ips", ["10.0.0.0/8"]),
        ("endpoints.0.allow_uninspected_credentials", True),
        ("credentials.0.required", False),
        ("credentials.0.header_name", "authorization"),
        ("credentials.0.env_vars", ["OTHER"]),
        ("credentials.0.refresh", {"url": "https://x"}),
        ("credentials.0.token_grant", {"a": 1}),
        ("discovery", {}),
        ("binaries", [{"path": NODE}]),
        ("binaries", [{"path": NODE}, {"path": CLAUDE, "harness": "x"}]),
        ("binaries", [NODE, CLAUDE, "/usr/bin/curl"]),
        ("anything_new", ["x"]),
    ],
)
def test_any_other_difference_counts(ours: dict[str, Any], listed: dict[str, Any], path: str, value: object) -> None:
    change(path, value)(listed)
    differences = profile.same(ours, listed)
    assert differences
    assert differences[0].startswith(path.split(".")[0])


Way = tuple[str | int, ...]


def leaves(value: Any, way: Way = ()) -> Iterator[tuple[Way, Any]]:
    """Every member that holds no other, with the way to it."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if not inner or not value:
        yield way, value
    for key, member in inner:
        yield from leaves(member, (*way, key))


def containers(value: Any, way: Way = ()) -> Iterator[tuple[Way, Any]]:
    """Every object and list, the document itself too."""
    if isinstance(value, dict | list):
        yield way, value
        for key, member in value.items() if isinstance(value, dict) else enumerate(value):
            yield from containers(member, (*way, key))


def at(document: Any, way: Way) -> Any:
    for key in way:
        document = document[key]
    return document


def others(value: Any) -> tuple[Any, ...]:
    """Other values for a leaf, each of which says something."""
    return tuple(one for one in (f"{value}x", [value], {"x": value or 1}, 8443, 1, True) if one is not value and one)


def test_every_single_leaf_that_is_changed_is_noticed(ours: dict[str, Any], listed: dict[str, Any]) -> None:
    seen = 0
    for way, value in leaves(listed):
        for other in others(value):
            changed = copy.deepcopy(listed)
            at(changed, way[:-1])[way[-1]] = other
            assert bool(profile.same(ours, changed)) is (way[0] not in profile.BOOKKEEPING), (way, other)
            seen += 1
    assert seen > 150


def test_every_single_leaf_that_is_taken_away_is_noticed_where_it_said_something(
    ours: dict[str, Any], listed: dict[str, Any]
) -> None:
    for way, value in leaves(listed):
        changed = copy.deepcopy(listed)
        del at(changed, way[:-1])[way[-1]]
        assert bool(profile.same(ours, changed)) is (bool(value) and way[0] not in profile.BOOKKEEPING), way


@pytest.mark.parametrize("new", [True, 1, 0.5, "x", ["x"], [False], [[]], [{}], {"a": 1}, {"a": [0]}])
def test_whatever_is_added_anywhere_is_noticed(ours: dict[str, Any], listed: dict[str, Any], new: Any) -> None:
    for way, _ in containers(listed):
        changed = copy.deepcopy(listed)
        place = at(changed, way)
        if isinstance(place, dict):
            place["a_field_of_tomorrow"] = new
        else:
            place.append(new)
        assert bool(profile.same(ours, changed)) is (way[:1] != ("annotations",)), way


def test_a_second_endpoint_or_credential_counts(ours: dict[str, Any], listed: dict[str, Any]) -> None:
    for key in ("endpoints", "credentials"):
        more = copy.deepcopy(listed)
        more[key].append(copy.deepcopy(more[key][0]))
        assert profile.same(ours, more)


def test_an_update_carries_the_listed_version(ours: dict[str, Any]) -> None:
    assert profile.with_resource_version(ours, 3) == {**ours, "resource_version": 3}
    for wrong in (0, -1, True, "3", None, 1.0):
        with pytest.raises(Refused, match="resource_version"):
            profile.with_resource_version(ours, wrong)


def test_the_rendered_file_is_written(repository: Path, home: Home) -> None:
    home.path.mkdir()
    made = profile.plan(home, repository / "providers" / "amap-claude-code.json", [NODE])
    assert made.lines() == ["would create providers", "would create providers/amap-claude-code.json"]
    assert made.notes == (f"binaries: {NODE}",)
    files.apply(made)
    assert json.loads(home.profile.read_text())["binaries"] == [NODE]
    assert home.profile.read_text().startswith('{\n  "id"')
