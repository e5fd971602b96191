"""The judgement of one setting of the gateway by its name and value: what stands in its file and what overrides it."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum

from . import Unreadable, shown
from .addresses import is_loopback, socket_address, url

PORT = 17670
ALIAS = "host.openshell.internal"
"""The name under which sandboxes' supervisors know the host."""

_LONGEST = 120
_SECRET = re.compile(r"secret|token|passw|(?:^|_)key$", re.IGNORECASE)
_USER_IN_URL = re.compile(r"://[^/@\s]+@")


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


def told(name: str, value: object) -> str:
    """A value that is named and not judged; a long one by its digest too, what may be a secret not at all."""
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    secret = isinstance(value, str) and not value.startswith("/") and _SECRET.search(name.replace("-", "_"))
    if secret or _USER_IN_URL.search(text):
        return "(set, not shown)"
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]}... ({len(text)} characters, sha256 {hashlib.sha256(text.encode()).hexdigest()[:16]})"


def bind(name: str, value: object, port: int | None) -> Finding:
    """An address to listen on; `port` where it is the gateway's own."""
    read = socket_address(value) if isinstance(value, str) else Unreadable("")
    right = not isinstance(read, Unreadable) and read.loopback and port in (None, read.port)
    return _found(name, right, "a loopback address" + (f" and port {port}" if port else ""), shown(value))


def endpoint(name: str, value: object, port: int, alias: str) -> Finding:
    """The address under which sandboxes' supervisors reach the gateway: this gateway, by TLS."""
    expected = f"https, a loopback address or {alias}, and port {port}; or not there"
    if value == "":
        return _empty(name, expected)
    read = url(value) if isinstance(value, str) else Unreadable("")
    right = (
        not isinstance(read, Unreadable)
        and str(value).startswith("https://")
        and (read.loopback or read.host.casefold() == alias.casefold())
        and read.port == port
    )
    return _found(name, right, expected, shown(value))


def socket(name: str, value: object) -> Finding:
    """The engine that the Docker driver speaks to: Docker is the only one here (D3)."""
    expected = "Docker's socket, not Podman's; or not there"
    if value == "":
        return _empty(name, expected)
    right = isinstance(value, str) and "podman" not in value.casefold()
    return _found(name, right, expected, told(name, value))


def override(name: str, value: str, port: int = PORT, alias: str = ALIAS) -> Finding | None:
    """The judgement of one override, or None where it touches nothing that the posture rests on."""
    setting = setting_of(name)
    if setting.endswith("bind_address"):
        own = setting in ("bind_address", "gateway_bind_address", "server_bind_address")
        return _bound(name, value, port if own else None)
    if "oidc" in setting:
        return _found(name, False, "no OIDC setting", told(name, value)) if value else _empty(name, "no OIDC setting")
    if setting.endswith("grpc_endpoint") and not _OTHER_DRIVER.search(setting):
        return endpoint(name, value, port, alias)
    if setting.endswith("socket_path") and not _OTHER_DRIVER.search(setting):
        return socket(name, value)
    if name == "DOCKER_HOST" and "podman" in value.casefold():
        seen = f"{told(name, value)}; whether the gateway heeds it is not known"
        return Finding(name, State.UNREADABLE, "Docker, not Podman", seen, False)
    for pattern, want in (*_SWITCHES, (_PORT, (str(port),))):
        if pattern.search(setting):
            return _word(name, value, *want)
    if _CALLERS.search(setting) and value.casefold() in (*_OFF, *_ON):
        seen = f"{told(name, value)}; what it does to tls or to callers is not known here"
        return Finding(name, State.UNREADABLE, "no switch of tls or of authentication that is not known", seen, False)
    return None


def setting_of(name: str) -> str:
    """A variable's or a flag's name as the setting's: `OPENSHELL_BIND_ADDRESS` and `--bind-address` are one."""
    return re.sub("_+", "_", name.removeprefix("OPENSHELL_").removeprefix("--").replace("-", "_").casefold())


_OTHER_DRIVER = re.compile("podman|kubernetes|k8s|vm_")
_CALLERS = re.compile("(?:^|_)m?tls(?:_|$)|auth|insecure")
_PORT = re.compile("^(?:server_|gateway_)?port$")
_OFF, _ON = ("false", "0", "no", "off", ""), ("true", "1", "yes", "on")
_SWITCHES = (
    (re.compile("^(?:compute_drivers?|drivers)$"), ("docker",)),
    (re.compile("unauthenticated|disable_tls|(?:disable|no)_mtls|resource_admission(?:_enabled)?$"), _OFF),
    (re.compile("^(?:gateway_)?(?:enable_)?mtls_auth(?:_enabled)?$|enable_bind_mounts|allow_driver_config"), _ON),
)


def _bound(name: str, value: str, port: int | None) -> Finding:
    """An address by override may stand alone, where the port has a variable of its own."""
    found = bind(name, value, port)
    if not value:
        return _empty(name, found.expected)
    return _found(name, True, found.expected, found.seen) if is_loopback(value) else found


def _word(name: str, value: str, *wanted: str) -> Finding:
    if not value and "" not in wanted:
        return _empty(name, wanted[0])
    return _found(name, value.strip().casefold() in wanted, wanted[0], shown(value))


def _found(name: str, right: bool, expected: str, seen: str) -> Finding:
    return Finding(name, State.PRESENT if right else State.WRONG, expected, seen, right)


def _empty(name: str, expected: str) -> Finding:
    """Whether an empty value counts, or the default holds, the gateway alone knows."""
    return Finding(name, State.UNREADABLE, expected, "set to nothing, which may mean the default or not", False)
