"""A policy file, as the CLI reads it. Apart from `policies`, since YAML is slow to load and most commands need none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from .errors import CliError
from .policies import Policy

_FIELDS = {
    "": ("version", "filesystem_policy", "landlock", "process", "network_policies", "network_middlewares"),
    "filesystem_policy": ("include_workdir", "read_only", "read_write"),
    "landlock": ("compatibility",),
    "process": ("run_as_user", "run_as_group"),
}


class _Loader(yaml.SafeLoader):
    """Refuses a mapping with the same key twice."""


def _mapping(loader: yaml.SafeLoader, node: yaml.MappingNode) -> dict[Any, Any]:
    keys = [loader.construct_object(key) for key, _ in node.value]
    for key in keys:
        if keys.count(key) > 1:
            raise yaml.constructor.ConstructorError(None, None, f'duplicate entry with key "{key}"', node.start_mark)
    return {key: loader.construct_object(value, deep=True) for key, (_, value) in zip(keys, node.value, strict=True)}


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def read(path: Path) -> Policy:
    """What the CLI accepts from a file; CliError in its words."""
    try:
        text = path.read_text()
    except OSError as error:
        detail = f"{error.strerror} (os error {error.errno})"
        raise CliError(f"failed to read sandbox policy from {path}", [detail]) from None
    try:
        policy = yaml.load(text, _Loader)
    except yaml.YAMLError as error:
        raise CliError("failed to parse sandbox policy YAML", [" ".join(str(error).split())]) from None
    if not isinstance(policy, dict):
        raise CliError("failed to parse sandbox policy YAML", ["invalid type: expected struct SandboxPolicy"])
    for section, known in _FIELDS.items():
        fields = policy.get(section, {}) if section else policy
        if not isinstance(fields, dict):
            raise CliError("failed to parse sandbox policy YAML", [f"{section}: invalid type: expected a map"])
        for name in fields:
            if name not in known:
                expected = ", ".join(f"`{field}`" for field in known)
                cause = f"unknown field `{name}`, expected one of {expected}"
                raise CliError("failed to parse sandbox policy YAML", [cause])
    return policy
