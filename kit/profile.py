"""The provider profile: rendered with the image's real paths, compared with the gateway's copy field by field."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from kit import files, jsontext
from kit.errors import Refused, shown
from kit.files import Plan, directory, document
from kit.home import PROFILE_ID, Home

# What the gateway keeps about its copy and no profile states.
BOOKKEEPING = frozenset({"resource_version", "source", "scope", "annotations"})
DEFAULTS: dict[str, Any] = {"category": "other"}
PATTERN = frozenset("*?[]{}")
"""A binary is a pattern to OpenShell, and one with any of these would let other programs out, too."""


def plan(home: Home, template: Path, binaries: Sequence[str]) -> Plan:
    """What `profile` writes: providers/ and the profile with `binaries`."""
    rendered = render(load(template), binaries)
    wanted = (directory(home.providers), document(home.profile, jsontext.render(rendered)))
    return files.plan(home, wanted, (f"binaries: {', '.join(rendered['binaries'])}",))


def load(template: Path) -> dict[str, Any]:
    """The template; Refused unless it is this deployment's and grants nothing by itself."""
    raw = jsontext.read_bytes(template, "run it from a checkout of this project, which holds it")
    document = jsontext.parse_object(raw, str(template))
    if document.get("id") != PROFILE_ID or document.get("binaries") != []:
        raise Refused(
            f"{template} must have the id {PROFILE_ID} and an empty list of binaries: run it from a checkout of this "
            "project with the file as it was"
        )
    return document


def render(template: dict[str, Any], binaries: Sequence[str]) -> dict[str, Any]:
    """The template with `binaries` in order, each once: real paths of executables as the image has them.

    A rule matches the real path of the process that opens the connection, and an empty list matches nothing.
    """
    if not binaries:
        raise Refused("no --binary is given: give the real paths of node and claude, read from the built image")
    rendered = copy.deepcopy(template)
    rendered["binaries"] = list(dict.fromkeys(map(_check_binary, binaries)))
    return rendered


def same(ours: dict[str, Any], listed: dict[str, Any]) -> list[str]:
    """The differences between a rendered profile and the gateway's copy, one sentence each; empty when equal.

    Every field counts but the gateway's bookkeeping. A field that is absent equals one that is empty, false or zero:
    the listing prints such defaults. Lists are compared in order, binaries as a set.
    """
    return list(_differences("", _normal(ours), _normal(listed)))


def with_resource_version(profile: dict[str, Any], version: object) -> dict[str, Any]:
    """The document of an update; the gateway refuses one without the listed copy's non-zero version."""
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise Refused(f"the listed profile's resource_version is {shown(version)}, no positive number: list them again")
    return {**profile, "resource_version": version}


def _check_binary(path: str) -> str:
    plain = path.isprintable() and not any(one.isspace() or one in PATTERN for one in path)
    if not plain or path == "/" or path.startswith("//") or not os.path.isabs(path) or os.path.normpath(path) != path:
        raise Refused(f"--binary is {shown(path)}: give one absolute path, no pattern, without white space, . or ..")
    return path


def _normal(profile: dict[str, Any]) -> dict[str, Any]:
    document = {key: value for key, value in profile.items() if key not in BOOKKEEPING}
    if isinstance(document.get("binaries"), list):
        document["binaries"] = sorted({_binary_path(entry) for entry in document["binaries"]})
    if isinstance(document.get("endpoints"), list):
        document["endpoints"] = [_one_way_to_write_ports(endpoint) for endpoint in document["endpoints"]]
    return {key: value for key, value in _pruned(document).items() if value != DEFAULTS.get(key)}


def _binary_path(entry: object) -> str:
    if isinstance(entry, dict) and set(_pruned(entry)) == {"path"}:
        return str(entry["path"])
    return str(entry)


def _one_way_to_write_ports(endpoint: object) -> object:
    if not isinstance(endpoint, dict):
        return endpoint
    port, ports = endpoint.get("port"), endpoint.get("ports") or []
    if not isinstance(ports, list):
        return endpoint
    together = [*([port] if port and port not in ports else []), *ports]
    return {**{key: value for key, value in endpoint.items() if key != "port"}, "ports": together}


def _pruned(value: Any) -> Any:
    """`value` without members that say nothing: null, false, zero, empty text, empty list, empty object."""
    if isinstance(value, dict):
        pruned = {key: _pruned(member) for key, member in value.items()}
        return {key: member for key, member in pruned.items() if member}
    if isinstance(value, list):
        return [_pruned(member) for member in value]
    return value


def _differences(where: str, ours: Any, listed: Any) -> Iterator[str]:
    if isinstance(ours, dict) and isinstance(listed, dict):
        for key in sorted(ours.keys() | listed.keys()):
            yield from _differences(f"{where}.{key}" if where else key, ours.get(key), listed.get(key))
    elif isinstance(ours, list) and isinstance(listed, list) and len(ours) == len(listed):
        for index, pair in enumerate(zip(ours, listed, strict=True)):
            yield from _differences(f"{where}[{index}]", *pair)
    elif type(ours) is not type(listed) or ours != listed:  # true is not 1
        yield f"{where}: the file has {_shown(ours)}, the gateway has {_shown(listed)}"


def _shown(value: object) -> str:
    return "nothing" if value is None else repr(value)
