"""gateway.toml as the gateway reads it: by full key path, never by line.

A missing file is read as `gateway_file("")`: the gateway then has its defaults, which refuse bind mounts.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from . import Unreadable, shown
from .gateway_settings import ALIAS, PORT, Finding, State, bind, endpoint, setting_of, socket, told
from .gateway_settings import override as judged_override

LIMIT = 64 * 1024
_DEPTH = 24

Path = tuple[str, ...]
Keys = list[tuple[Path, Any]]


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
_ENDPOINT = ("openshell", "drivers", "docker", "grpc_endpoint")
"""Under which address a sandbox's supervisor reaches the gateway: another one reports to another gateway."""
_SOCKET = ("openshell", "drivers", "docker", "socket_path")
_NEVER_TRUE = ("allow_unauthenticated_users", "disable_tls")
_MTLS = "mtls_auth"
KEY_PATHS = (("openshell", "gateway", "tls", "key_path"), ("openshell", "gateway", "gateway_jwt", "signing_key_path"))
"""Where the file names private keys of its own."""
_KEY_SETTINGS = ("tls_key", "tls_key_path", "signing_key", "signing_key_path")


def gateway_file(text: str) -> GatewayFile | Unreadable:
    """The TOML document that `text` is, at most 64 KiB of it."""
    if len(text) > LIMIT:
        return Unreadable(f"expected a gateway.toml of at most {LIMIT} characters, saw {len(text)}")
    if "\ufffd" in text:
        return Unreadable("expected UTF-8, saw bytes that are none")
    if text.startswith("\ufeff"):
        return Unreadable("expected TOML, saw a byte order mark before it, which no editor shows")
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
    file: GatewayFile | Unreadable,
    overrides: Mapping[str, str] | None = None,
    port: int = PORT,
    alias: str = ALIAS,
) -> tuple[Finding, ...]:
    """Every setting that the posture rests on, in the file and in what overrides it.

    `overrides` are the gateway's environment (`OPENSHELL_BIND_ADDRESS`) and flags (`--bind-address`); a flag without
    a value has the value "true". Which file the gateway uses at all is `units.config_file`'s question.
    """
    if isinstance(file, Unreadable):
        names = [".".join(path) for path in (*(path for path, _ in REQUIRED), _BIND)]
        names += ["oidc", *_NEVER_TRUE, _MTLS, ".".join(_ENDPOINT), ".".join(_SOCKET)]
        read = [Finding(name, State.UNREADABLE, "a readable gateway.toml", file.why, False) for name in names]
    else:
        keys = [(path, value) for path, value in _keys(file.data) if path]
        read = [_required(keys, path, want) for path, want in REQUIRED]
        read += [*_binds(keys, port), _oidc(keys), *(_never_true(keys, name) for name in _NEVER_TRUE), _mtls(keys)]
        read.append(_optional(keys, _ENDPOINT, lambda name, value: endpoint(name, value, port, alias)))
        read.append(_optional(keys, _SOCKET, socket))
    given = (overrides or {}).items()
    return (*read, *(found for name, value in given if (found := judged_override(name, value, port, alias))))


def others(file: GatewayFile | Unreadable, overrides: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Every setting that is there and that `findings` does not judge, named with its value."""
    leaves = [] if isinstance(file, Unreadable) else _leaves(file.data)
    read = [f"{_name(path)} = {told(path[-1], value)}" for path, value in leaves if not _judged(path)]
    more = [(name, value) for name, value in (overrides or {}).items() if judged_override(name, value) is None]
    return (*sorted(read), *(f"{name} = {told(name, value)}" for name, value in more))


def key_files(file: GatewayFile | Unreadable, overrides: Mapping[str, str]) -> tuple[str, ...]:
    """The private keys that the file or an override names."""
    leaves = [] if isinstance(file, Unreadable) else _leaves(file.data)
    named = [value for path, value in leaves if path in KEY_PATHS]
    named += [value for name, value in overrides.items() if setting_of(name).endswith(_KEY_SETTINGS)]
    return tuple(value for value in named if isinstance(value, str) and value)


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


def _leaves(data: dict[str, Any], path: Path = ()) -> Keys:
    """What is set: every value that is no table with something in it; an array is one value."""
    found: Keys = []
    for key, value in data.items():
        inner = _leaves(value, (*path, key)) if isinstance(value, dict) else []
        found += inner or [((*path, key), value)]
    return found


def _name(path: Path) -> str:
    """A path with the quotes that tell `"a.b"` from `a.b`."""
    return ".".join(key if re.fullmatch(r"[\w-]+", key, re.ASCII) else json.dumps(key) for key in path)


def _judged(path: Path) -> bool:
    return (
        path in (_ENDPOINT, _SOCKET, *(required for required, _ in REQUIRED))
        or path[-1].endswith("bind_address")
        or path[-1] in (*_NEVER_TRUE, _MTLS)
        or path[-2:] == (_MTLS, "enabled")
    )


def _required(keys: Keys, path: Path, want: object) -> Finding:
    name, expected = ".".join(path), _toml(want)
    for found, value in keys:
        if found == path:
            right = type(value) is type(want) and value == want
            return Finding(name, State.PRESENT if right else State.WRONG, expected, _toml(value), right)
    # `enabled` alone is the name of many settings; with its table's name it is this one, put elsewhere.
    tail = path[-2:] if path[-1] == "enabled" else path[-1:]
    elsewhere = [_name(found) for found, _ in keys if found[-len(tail) :] == tail or found[-1] == name]
    seen = f"not there, but as {', '.join(sorted(elsewhere)[:3])}" if elsewhere else "not there"
    return Finding(name, State.ABSENT, expected, seen, False)


def _binds(keys: Keys, port: int) -> list[Finding]:
    """The gateway's own address, and every other key that ends so, wherever it stands."""
    found = sorted((path, value) for path, value in keys if path[-1].endswith("bind_address"))
    read = [bind(_name(path), value, port if path == _BIND else None) for path, value in found]
    if not any(path == _BIND for path, _ in found):
        default = f"not there: 127.0.0.1:{port} by default"
        read.insert(0, Finding(".".join(_BIND), State.ABSENT, f"a loopback address and port {port}", default, True))
    return read


def _oidc(keys: Keys) -> Finding:
    found = sorted(_name(path) for path, _ in keys if "oidc" in path[-1].casefold())
    state = State.WRONG if found else State.ABSENT
    return Finding("oidc", state, "no OIDC setting", ", ".join(found[:3]) or "none", not found)


def _never_true(keys: Keys, name: str) -> Finding:
    return _switch(name, [one for one in keys if one[0][-1] == name], want=False)


def _mtls(keys: Keys) -> Finding:
    """Without OIDC and unauthenticated users, client certificates are all that tells who calls."""
    named = [
        (path, value)
        for path, value in keys
        if path[-2:] == (_MTLS, "enabled") or (path[-1] == _MTLS and not isinstance(value, dict))
    ]
    return _switch(_MTLS, named, want=True)


def _switch(name: str, found: Keys, *, want: bool) -> Finding:
    expected = f"{_toml(want)}, or not there"
    wrong = [f"{_name(path)} = {_toml(value)}" for path, value in found if value is not want]
    if wrong:
        return Finding(name, State.WRONG, expected, ", ".join(sorted(wrong)[:3]), False)
    state, seen = (State.PRESENT, _toml(want)) if found else (State.ABSENT, "not there")
    return Finding(name, state, expected, seen, True)


def _optional(keys: Keys, path: Path, judge: Callable[[str, object], Finding]) -> Finding:
    name = ".".join(path)
    for found, value in keys:
        if found == path:
            return judge(name, value)
    return Finding(name, State.ABSENT, judge(name, "").expected, "not there", True)


def _toml(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else shown(value)
