"""Providers (a type's credentials on this gateway) and profiles (the types): kept, compared and turned into rules."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

from .. import layout, store
from .errors import CliError, refused

Profile = dict[str, Any]

_ORDER = ("id", "resource_version", "annotations", "display_name", "description", "category", "credentials",
          "endpoints", "binaries", "inference_capable", "discovery", "source", "scope")  # fmt: skip
_CATEGORIES = ("other", "inference", "agent", "source_control", "messaging", "data", "knowledge")
_AUTH_STYLES = ("", "basic", "bearer", "header", "query", "path")


def profiles() -> list[Profile]:
    """Every imported profile as the gateway lists it, sorted by category and id."""
    kept = [store.load(path) for path in layout.PROFILES.glob("*.json")]
    return sorted((profile for profile in kept if profile), key=lambda item: (item["category"], item["id"]))


def profile(identity: str) -> Profile | None:
    return next((item for item in profiles() if item["id"] == identity), None)


def keep_profile(document: Profile, version: int) -> Profile:
    """Store a linted profile with the fields the gateway adds."""
    whole = {
        "description": "",
        "category": "other",
        "credentials": [],
        "endpoints": [],
        "binaries": [],
        "inference_capable": False,
        **document,
        "resource_version": version,
        "source": "user",
        "scope": "workspace",
    }
    whole["credentials"] = [{"required": False, "query_param": "", **item} for item in whole["credentials"]]
    whole["binaries"] = [item["path"] if isinstance(item, dict) else item for item in whole["binaries"]]
    listed = {name: whole[name] for name in _ORDER if name in whole}
    store.save(layout.PROFILES / f"{listed['id']}.json", listed)
    return listed


def lint(document: Any) -> Iterator[tuple[str, str]]:
    """Problems of a profile as (field, message)."""
    if not isinstance(document, dict):
        yield "file", "expected a provider profile object"
        return
    identity = document.get("id")
    if not isinstance(identity, str) or not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", identity):
        yield "id", "id must be lower-case kebab-case"
    if not document.get("display_name"):
        yield "display_name", "display_name is required"
    if document.get("category", "other") not in _CATEGORIES:
        yield "category", f"unknown category '{document.get('category')}'"
    names: set[str] = set()
    variables: set[str] = set()
    for item in document.get("credentials", []):
        yield from _lint_credential(item, names, variables)
    for name in (document.get("discovery") or {}).get("credentials", []):
        if name not in names:
            yield "discovery.credentials", f"unknown credential '{name}'"
    for item in document.get("endpoints", []):
        yield from _lint_endpoint(item)
    for item in document.get("binaries", []):
        path = item.get("path") if isinstance(item, dict) else item
        if not path:
            yield "binaries", "binary path must not be empty"


def _lint_credential(item: dict[str, Any], names: set[str], variables: set[str]) -> Iterator[tuple[str, str]]:
    if item.get("name") in names:
        yield "credentials", f"duplicate credential name '{item.get('name')}'"
    names.add(item.get("name", ""))
    for variable in item.get("env_vars", []):
        if variable in variables:
            yield "credentials.env_vars", f"duplicate environment variable '{variable}'"
        variables.add(variable)
        if not re.fullmatch(r"[A-Za-z_]\w*", variable) or re.match(r"v\d+_", variable):
            yield "credentials.env_vars", f"invalid environment variable name '{variable}'"
    style = item.get("auth_style", "")
    if style not in _AUTH_STYLES:
        yield "credentials.auth_style", f"unknown auth_style '{style}'"
    if style in ("bearer", "header") and not item.get("header_name"):
        yield "credentials.header_name", f"auth_style '{style}' requires header_name"
    if style == "query" and not item.get("query_param"):
        yield "credentials.query_param", "auth_style 'query' requires query_param"


def _lint_endpoint(item: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if not item.get("host"):
        yield "endpoints.host", "endpoint must declare a host"
    if not item.get("port") and not item.get("ports"):
        yield "endpoints.port", "endpoint must declare at least one port"
    if item.get("rules") and item.get("access"):
        yield "endpoints.access", "rules and access are mutually exclusive"
    if not item.get("protocol") and not item.get("allow_uninspected_credentials"):
        yield "endpoints.protocol", "an endpoint that carries a credential needs a protocol to inspect"


def providers() -> list[store.Record]:
    kept = [store.load(path) for path in sorted(layout.PROVIDERS.glob("*.json"))]
    return [provider for provider in kept if provider]


def provider(name: str) -> store.Record | None:
    return next((item for item in providers() if item["name"] == name), None)


def create_provider(name: str, kind: str, credentials: Mapping[str, str], workspace: str) -> store.Record:
    """Keep credentials under a name; the values stay in this 0600 record and are shown by no command."""
    if provider(name) is not None:
        raise refused("AlreadyExists", f"provider '{name}' already exists")
    record = {
        "id": str(uuid.uuid4()),
        "name": name,
        "workspace": workspace,
        "type": kind,
        "credentials": dict(credentials),
        "resource_version": 1,
    }
    store.save(layout.PROVIDERS / f"{name}.json", record)
    return record


def discover(name: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Credentials for a missing provider from its profile's discovery and the caller's environment."""
    found = profile(name)
    if found is None:
        raise CliError(
            f"provider '{name}' not found and no imported provider profile has that id. "
            f"Import a profile first with `openshell provider profile import`, or create it with "
            f"`openshell provider create --name {name} --type <type>`"
        )
    wanted = (found.get("discovery") or {}).get("credentials", [])
    for credential in found["credentials"]:
        if credential["name"] in wanted:
            for variable in credential.get("env_vars", []):
                if environment.get(variable):
                    return {variable: environment[variable]}
    raise CliError(f"no local credentials found for provider profile '{name}'")


def layer(record: store.Record) -> tuple[str, dict[str, Any]] | None:
    """The network rule a provider adds to a sandbox's policy, by its name; None when its profile is gone."""
    found = profile(record["type"])
    if found is None:
        return None
    name = "_provider_" + record["name"].replace("-", "_")
    kept = ("host", "port", "ports", "protocol", "enforcement", "access")
    endpoints = [{key: item[key] for key in kept if item.get(key)} for item in found["endpoints"]]
    return name, {
        "name": name,
        "endpoints": endpoints,
        "binaries": [{"path": path} for path in found["binaries"]],
    }
