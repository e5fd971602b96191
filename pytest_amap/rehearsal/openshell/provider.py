"""`openshell provider list|get|create|delete|list-profiles` and `provider profile lint|import|update|export|delete`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import yaml

from .. import layout, sandboxes, settings
from . import providers, view
from .arguments import Arguments
from .errors import CliError, refused
from .gateways import needed


def _shown(record: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": record["id"],
        "name": record["name"],
        "workspace": record["workspace"],
        "type": record["type"],
        "credential_keys": sorted(record["credentials"]),
        "resource_version": record["resource_version"],
    }


def list_(arguments: Arguments) -> int:
    needed(arguments)
    found = [_shown(item) for item in providers.providers()]
    if arguments.last("output") == "json":
        envelope = {"providers": found, "next_page_token": ""} if settings.current().list_envelope else found
        print(json.dumps(envelope, indent=2))
    elif not found:
        print("No providers found.")
    else:
        rows = [[item["name"], item["type"], str(len(item["credential_keys"])), "0"] for item in found]
        print(view.table([["NAME", "TYPE", "CREDENTIAL_KEYS", "CONFIG_KEYS"], *rows]))
    return 0


def get(arguments: Arguments) -> int:
    needed(arguments)
    record = providers.provider(arguments.positionals[0])
    if record is None:
        raise refused("NotFound", "provider not found")
    keys = ", ".join(sorted(record["credentials"])) or "<none>"
    print(f"Provider:\n\n  Id: {record['id']}\n  Name: {record['name']}\n  Type: {record['type']}")
    print(f"  Resource version: {record['resource_version']}\n  Credential keys: {keys}\n  Config keys: <none>")
    return 0


def create(arguments: Arguments) -> int:
    needed(arguments)
    name = arguments.last("name") or ""
    kind = arguments.get("type", name)
    credentials = {}
    for word in arguments.all("credential"):
        variable, separator, value = word.partition("=")
        credentials[variable] = value if separator else os.environ.get(variable, "")
    providers.create_provider(name, kind, credentials, arguments.get("workspace", "default"))
    print(f"✓ Created provider {name}")
    return 0


def delete(arguments: Arguments) -> int:
    needed(arguments)
    for name in arguments.positionals:
        if providers.provider(name) is None:
            print(f"! Provider {name} not found")
            continue
        users = [item["name"] for item in sandboxes.everything() if name in item["providers"]]
        if users:
            raise refused("FailedPrecondition", f"provider '{name}' is attached to sandboxes: {', '.join(users)}")
        (layout.PROVIDERS / f"{name}.json").unlink()
        print(f"✓ Deleted provider {name}")
    return 0


def list_profiles(arguments: Arguments) -> int:
    needed(arguments)
    found = providers.profiles()
    output = arguments.last("output")
    if output == "json":
        print(json.dumps(found, indent=2))
    elif output == "yaml":
        print(yaml.safe_dump(found, sort_keys=False), end="")
    elif not found:
        print("No provider profiles found.")
    else:
        rows = [[item["id"], item["category"], item["display_name"]] for item in found]
        print(view.table([["ID", "CATEGORY", "NAME"], *rows]))
    return 0


def _read(path: str, doing: str) -> Any:
    source = Path(path)
    if source.suffix not in (".json", ".yaml", ".yml"):
        raise CliError("unsupported provider profile file format")
    try:
        text = source.read_text()
    except OSError as error:
        raise CliError(f"failed to read {path}", [f"{error.strerror} (os error {error.errno})"]) from None
    try:
        return json.loads(text) if source.suffix == ".json" else yaml.safe_load(text)
    except (ValueError, yaml.YAMLError) as error:
        raise _diagnose(path, "-", [("file", " ".join(str(error).split()))], doing) from None


def _diagnose(path: str, identity: str, problems: list[tuple[str, str]], doing: str) -> CliError:
    print("Provider profile diagnostics:", file=sys.stderr)
    for field, message in problems:
        print(f"  error {path} profile={identity} field={field} {message}", file=sys.stderr)
    return CliError(f"provider profile {doing} failed")


def _linted(arguments: Arguments, doing: str) -> tuple[str, dict[str, Any]]:
    path = arguments.last("file") or ""
    document = _read(path, doing)
    problems = list(providers.lint(document))
    identity = str(document.get("id", "-")) if isinstance(document, dict) else "-"
    if doing != "update" and not problems and providers.profile(identity) is not None:
        problems = [("id", f"custom provider profile '{identity}' already exists")]
    if problems:
        raise _diagnose(path, identity, problems, doing)
    return path, document


def lint(arguments: Arguments) -> int:
    needed(arguments)
    _linted(arguments, "lint")
    print("Provider profile lint passed.")
    return 0


def import_(arguments: Arguments) -> int:
    needed(arguments)
    _, document = _linted(arguments, "import")
    providers.keep_profile(document, 1)
    print("Imported 1 provider profile.")
    return 0


def update(arguments: Arguments) -> int:
    needed(arguments)
    target = arguments.positionals[0]
    path, document = _linted(arguments, "update")
    version = document.get("resource_version")
    if not isinstance(version, int) or isinstance(version, bool) or version <= 0:
        advice = "update requires a non-zero resource_version; export the profile first"
        raise _diagnose(path, document["id"], [("resource_version", advice)], "update")
    if document["id"] != target:
        text = f"update target '{target}' does not match payload id '{document['id']}'"
        raise _diagnose(path, document["id"], [("id", text)], "update")
    current = providers.profile(target)
    if current is None:
        raise refused("NotFound", f"provider profile '{target}' not found")
    if current["resource_version"] != version:
        raise refused(
            "Aborted",
            f"provider profile was modified concurrently (current resource_version: {current['resource_version']})",
        )
    providers.keep_profile(document, version + 1)
    print("Updated provider profile.")
    return 0


def export(arguments: Arguments) -> int:
    needed(arguments)
    identity = arguments.positionals[0]
    found = providers.profile(identity)
    if found is None:
        raise CliError(f"provider profile '{identity}' not found")
    if arguments.last("output") == "json":
        print(json.dumps(found, indent=2))
    else:
        print(yaml.safe_dump(found, sort_keys=False), end="")
    return 0


def delete_profile(arguments: Arguments) -> int:
    needed(arguments)
    for identity in arguments.positionals:
        if providers.profile(identity) is None:
            raise CliError(f"provider profile '{identity}' not found")
        users = [item["name"] for item in providers.providers() if item["type"] == identity]
        if users:
            raise refused("FailedPrecondition", f"provider profile '{identity}' is used by: {', '.join(users)}")
        (layout.PROFILES / f"{identity}.json").unlink()
        print(f"Deleted provider profile {identity}.")
    return 0
