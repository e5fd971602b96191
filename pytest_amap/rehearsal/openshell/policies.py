"""Sandbox policies: validated as the gateway does, made effective, and printed as they come back."""

from __future__ import annotations

from typing import Any

from .errors import refused

Policy = dict[str, Any]

_BASELINE = {
    "read_only": ("/usr", "/lib", "/etc", "/app", "/var/log", "/proc", "/dev/urandom"),
    "read_write": ("/tmp", "/dev/null"),
}
_MAX_PATHS, _MAX_PATH_BYTES, _MAX_POLICY_BYTES = 256, 4096, 262144


def admit(policy: Policy) -> None:
    """The gateway's own judgement: one InvalidArgument with every violation."""
    problems = list(_problems(policy))
    if len(repr(policy).encode()) > _MAX_POLICY_BYTES:
        problems.append("serialized policy is too large")
    if problems:
        raise refused("InvalidArgument", "; ".join(problems))


def _problems(policy: Policy) -> list[str]:
    found = []
    if policy.get("version") != 1:
        found.append(f"unsupported version: {policy.get('version')}")
    files = policy.get("filesystem_policy") or {}
    for mode in ("read_only", "read_write"):
        paths = files.get(mode) or []
        if len(paths) > _MAX_PATHS:
            found.append(f"too many paths: {len(paths)} > {_MAX_PATHS}")
        for path in paths:
            if not isinstance(path, str) or not path.startswith("/"):
                found.append(f"path must be absolute: {path}")
            elif ".." in path.split("/"):
                found.append(f"path contains '..' traversal component: {path}")
            elif len(path.encode()) > _MAX_PATH_BYTES:
                found.append("path too long")
            elif mode == "read_write" and path.rstrip("/") == "":
                found.append(f"read-write path is overly broad: {path}")
    for field in ("run_as_user", "run_as_group"):
        value = (policy.get("process") or {}).get(field)
        numeric = isinstance(value, str) and value.isdigit() and 1 <= int(value) < 2**32 - 1
        if value is not None and value != "sandbox" and not numeric:
            found.append(f"{field} must be 'sandbox' or numeric (non-root): {value}")
    for name in policy.get("network_policies") or {}:
        if name.startswith("_provider_"):
            found.append(f"network policy name is reserved: {name}")
    return found


def effective(policy: Policy, layers: dict[str, Any], present: frozenset[str]) -> Policy:
    """The policy with its providers' network rules, and with the baseline paths a network rule brings along.

    `present` are the baseline paths that exist in the image; a path the policy lists keeps its own mode.
    """
    files = dict(policy.get("filesystem_policy") or {"include_workdir": True})
    network = {**(policy.get("network_policies") or {}), **layers}
    if network:
        listed = {*(files.get("read_only") or []), *(files.get("read_write") or [])}
        for mode, paths in _BASELINE.items():
            extra = [path for path in paths if path not in listed and path in present]
            files[mode] = [*(files.get(mode) or []), *extra]
    whole = {**policy, "filesystem_policy": files}
    if network:
        whole["network_policies"] = network
    return whole


def baseline_paths() -> frozenset[str]:
    return frozenset(path for paths in _BASELINE.values() for path in paths)


def emit(policy: Policy) -> str:
    """YAML as `--policy-only` prints it: block style, plain items, numeric ids as single-quoted strings."""
    lines: list[str] = []
    order = ("version", "filesystem_policy", "landlock", "process", "network_policies", "network_middlewares")
    for key in order:
        if key in policy:
            _emit(lines, key, policy[key], 0)
    return "\n".join(lines) + "\n"


def _emit(lines: list[str], key: str, value: Any, depth: int) -> None:
    indent = "  " * depth
    if isinstance(value, dict):
        lines.append(f"{indent}{key}:" if value else f"{indent}{key}: {{}}")
        for name, inner in value.items():
            _emit(lines, str(name), inner, depth + 1)
    elif isinstance(value, list):
        lines.append(f"{indent}{key}:" if value else f"{indent}{key}: []")
        for item in value:
            _emit_item(lines, item, depth + 1)
    else:
        lines.append(f"{indent}{key}: {_scalar(value)}")


def _emit_item(lines: list[str], item: Any, depth: int) -> None:
    indent = "  " * depth
    if not isinstance(item, dict):
        lines.append(f"{indent}- {_scalar(item)}")
        return
    inner: list[str] = []
    for name, value in item.items():
        _emit(inner, str(name), value, depth + 1)
    inner[0] = f"{indent}- {inner[0].lstrip()}"
    lines.extend(inner)


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    text = str(value)
    plain = text and text[0] not in "-?:,[]{}#&*!|>'\"%@`" and ": " not in text and " #" not in text
    return text if plain and not text.isdigit() and text.lower() not in ("true", "false", "null") else f"'{text}'"
