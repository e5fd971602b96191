"""gateway.toml as the gateway reads it: by full key path, never by line.

A missing file is read as `gateway_file("")`: the gateway then has its defaults, which refuse bind mounts.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from . import Unreadable, shown
from .addresses import is_loopback, socket_address

LIMIT = 64 * 1024
_DEPTH = 24

Path = tuple[str, ...]


class State(StrEnum):
    """Where a setting stands; absent and unreadable are different answers."""

    PRESENT = "PRESENT"
    ABSENT = "ABSENT"
    WRONG = "WRONG"
    UNREADABLE = "UNREADABLE"


@dataclass(frozen=True)
class Finding:
    """One setting.

    `ok` is whether it is as expected: a required one PRESENT, a forbidden or defaulted one ABSENT.
    """

    name: str
    state: State
    expected: str
    seen: str
    ok: bool


@dataclass(frozen=True)
class GatewayFile:
    data: dict[str, Any]


REQUIRED: tuple[tuple[Path, object], ...] = (
    (("openshell", "version"), 2),
    (("openshell", "gateway", "compute_driver"), "docker"),
    (("openshell", "drivers", "docker", "allow_driver_config"), True),
    (("openshell", "drivers", "docker", "enable_bind_mounts"), True),
    (("openshell", "drivers", "docker", "resource_admission", "enabled"), False),
)
_BIND = ("openshell", "gateway", "bind_address")
_NEVER_TRUE = ("allow_unauthenticated_users", "disable_tls")


def gateway_file(text: str) -> GatewayFile | Unreadable:
    """The TOML document that `text` is, at most 64 KiB of it."""
    if len(text) > LIMIT:
        return Unreadable(f"expected a gateway.toml of at most {LIMIT} characters, saw {len(text)}")
    if "\ufffd" in text:
        return Unreadable("expected UTF-8, saw bytes that are none")
    try:
        data = tomllib.loads(text)
    except RecursionError:
        return Unreadable("expected TOML, saw it nested too deeply to be read")
    except ValueError as error:
        return Unreadable(f"expected TOML, saw a mistake: {shown(str(error))}")
    if any(len(path) > _DEPTH for path, _ in _keys(data)):
        return Unreadable(f"expected tables at most {_DEPTH} deep, saw deeper ones")
    return GatewayFile(data)


def findings(
    file: GatewayFile | Unreadable, overrides: Mapping[str, str] | None = None, port: int = 17670
) -> tuple[Finding, ...]:
    """Every setting that the posture rests on, in the file and in what overrides it.

    `overrides` are the gateway's environment (`OPENSHELL_BIND_ADDRESS`) and flags (`--bind-address`); a flag without
    a value has the value "true". Which file the gateway uses at all is `units.config_file`'s question.
    """
    if isinstance(file, Unreadable):
        names = [".".join(path) for path, _ in REQUIRED] + [".".join(_BIND), "oidc", *_NEVER_TRUE]
        read = [Finding(name, State.UNREADABLE, "a readable gateway.toml", file.why, False) for name in names]
    else:
        keys = [(path, value) for path, value in _keys(file.data) if path]
        read = [_required(keys, path, want) for path, want in REQUIRED]
        read += [*_binds(keys, port), _oidc(keys), *(_never_true(keys, name) for name in _NEVER_TRUE)]
    return (*read, *(found for name, value in (overrides or {}).items() if (found := _override(name, value, port))))


def _keys(data: dict[str, Any]) -> Iterator[tuple[Path, Any]]:
    """Every key with its path, array elements by number, down to one below the depth allowed."""
    left: list[tuple[Path, Any]] = [((), data)]
    while left:
        path, value = left.pop()
        yield path, value
        if len(path) > _DEPTH:
            continue
        if isinstance(value, dict):
            left += [((*path, key), item) for key, item in value.items()]
        elif isinstance(value, list):
            left += [((*path, str(number)), item) for number, item in enumerate(value)]


def _required(keys: list[tuple[Path, Any]], path: Path, want: object) -> Finding:
    name, expected = ".".join(path), _toml(want)
    for found, value in keys:
        if found == path:
            right = type(value) is type(want) and value == want
            return Finding(name, State.PRESENT if right else State.WRONG, expected, _toml(value), right)
    # `enabled` alone is the name of many settings; with its table's name it is this one, put elsewhere.
    tail = path[-2:] if path[-1] == "enabled" else path[-1:]
    elsewhere = [".".join(found) for found, _ in keys if found[-len(tail) :] == tail]
    seen = f"not there, but as {', '.join(sorted(elsewhere)[:3])}" if elsewhere else "not there"
    return Finding(name, State.ABSENT, expected, seen, False)


def _binds(keys: list[tuple[Path, Any]], port: int) -> list[Finding]:
    """The gateway's own address, and every other key that ends so, wherever it stands."""
    found = sorted((path, value) for path, value in keys if path[-1].endswith("bind_address"))
    read = [_address(".".join(path), value, port if path == _BIND else None) for path, value in found]
    if not any(path == _BIND for path, _ in found):
        default = f"not there: 127.0.0.1:{port} by default"
        read.insert(0, Finding(".".join(_BIND), State.ABSENT, f"a loopback address and port {port}", default, True))
    return read


def _address(name: str, value: object, port: int | None) -> Finding:
    expected = "a loopback address" + (f" and port {port}" if port else "")
    read = socket_address(value) if isinstance(value, str) else Unreadable("")
    right = not isinstance(read, Unreadable) and read.loopback and port in (None, read.port)
    return Finding(name, State.PRESENT if right else State.WRONG, expected, _toml(value), right)


def _oidc(keys: list[tuple[Path, Any]]) -> Finding:
    found = sorted(".".join(path) for path, _ in keys if "oidc" in path[-1].casefold())
    state = State.WRONG if found else State.ABSENT
    return Finding("oidc", state, "no OIDC setting", ", ".join(found[:3]) or "none", not found)


def _never_true(keys: list[tuple[Path, Any]], name: str) -> Finding:
    found = [(".".join(path), value) for path, value in keys if path[-1] == name]
    wrong = [f"{path} = {_toml(value)}" for path, value in found if value is not False]
    if wrong:
        return Finding(name, State.WRONG, "false, or not there", ", ".join(sorted(wrong)[:3]), False)
    state, seen = (State.PRESENT, "false") if found else (State.ABSENT, "not there")
    return Finding(name, state, "false, or not there", seen, True)


def _override(name: str, value: str, port: int) -> Finding | None:
    """The judgement of one override, or None where it touches nothing that the posture rests on."""
    setting = name.removeprefix("OPENSHELL_").removeprefix("--").replace("-", "_").casefold()
    if setting.endswith("bind_address"):
        if is_loopback(value):  # alone, as where the port has a variable of its own
            return Finding(name, State.PRESENT, "a loopback address", shown(value), True)
        own = setting in ("bind_address", "gateway_bind_address", "server_bind_address")
        return _address(name, value, port if own else None)
    if "oidc" in setting:
        return Finding(name, State.WRONG, "no OIDC setting", shown(value), False)
    if setting in ("port", "server_port", "gateway_port"):
        return _word(name, value, str(port))
    if setting in ("compute_driver", "compute_drivers", "drivers"):
        return _word(name, value, "docker")
    for part, want in _SWITCHES:
        if part in setting:
            return _word(name, value, *want)
    return None


_OFF, _ON = ("false", "0", "no", "off", ""), ("true", "1", "yes", "on")
_SWITCHES = (
    ("unauthenticated", _OFF),
    ("disable_tls", _OFF),
    ("resource_admission", _OFF),
    ("enable_bind_mounts", _ON),
    ("allow_driver_config", _ON),
)


def _word(name: str, value: str, *wanted: str) -> Finding:
    right = value.strip().casefold() in wanted
    return Finding(name, State.PRESENT if right else State.WRONG, wanted[0], shown(value), right)


def _toml(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else shown(value)
