"""What the `openshell` command prints on stdout.

Pass stdout alone, never a merged stream. The two envelopes of a listing are read alike: a bare array (0.0.x), and an
object with `next_page_token` (0.1.x).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from . import Unreadable, documents, shown
from .documents import words
from .text import lines, plain, says

_WORKSPACE_NAME = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)/([A-Za-z0-9][A-Za-z0-9._-]*)")
_CONNECTED = {"connected": True, "disconnected": False, "not connected": False, "unreachable": False, "degraded": False}
DRIVERS = frozenset({"docker", "podman", "kubernetes"})
"""Those that a gateway without a setting tries."""
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")


@dataclass(frozen=True)
class Sandbox:
    """A sandbox; names are used again under new ids.

    `phase` is a word such as Ready, as printed; `reason` is what newer releases say of it, "" where nothing is said.
    """

    id: str
    name: str
    workspace: str
    phase: str
    reason: str = ""

    @property
    def state(self) -> str:
        return f"{self.phase} ({self.reason})" if self.reason else self.phase


@dataclass(frozen=True)
class SandboxList:
    """One page; the listing is complete only where `next_page_token` is empty."""

    sandboxes: tuple[Sandbox, ...]
    next_page_token: str


@dataclass(frozen=True)
class Provider:
    name: str
    type: str


@dataclass(frozen=True)
class ProviderList:
    """One page; the listing is complete only where `next_page_token` is empty."""

    providers: tuple[Provider, ...]
    next_page_token: str


@dataclass(frozen=True)
class Status:
    """`connected` only where the status is that very word; what was not printed is empty.

    A status word that is not known makes the whole unreadable: a new layout is not a broken gateway (A07).
    """

    connected: bool
    configured: bool = True
    server: str = ""
    authentication: str = ""


@dataclass(frozen=True)
class GatewayInfo:
    """What the gateway says of itself (0.1.x); `drivers` are the compute drivers' names."""

    drivers: tuple[str, ...]


def sandbox(stdout: str) -> Sandbox | Unreadable:
    """`sandbox get NAME -o json`."""
    return _sandbox(documents.value(plain(stdout)))


def sandbox_list_json(stdout: str) -> SandboxList | Unreadable:
    """`sandbox list -o json`."""
    page = _page(stdout, "sandboxes")
    if isinstance(page, Unreadable):
        return page
    read = [_sandbox(item) for item in page[0]]
    for item in read:
        if isinstance(item, Unreadable):
            return item
    return SandboxList(tuple(item for item in read if isinstance(item, Sandbox)), page[1])


def sandbox_names(stdout: str) -> tuple[tuple[str, str], ...] | Unreadable:
    """(workspace, name) of `sandbox list --all-workspaces --names`.

    Any other line makes it unreadable.
    """
    names = []
    for line in lines(stdout):
        found = _WORKSPACE_NAME.fullmatch(line.strip())
        if found:
            names.append((found[1], found[2]))
        elif line.strip():
            return Unreadable(f"expected lines such as 'default/alpha', saw {shown(line)}")
    return tuple(names)


def status(text: str) -> Status | Unreadable:
    """`openshell status`, table or JSON.

    Exit 0 proves nothing: it is also 0 where no gateway is configured.
    """
    text = plain(text)
    if len(text) > 64 * 1024:
        return Unreadable(f"expected a status, saw {len(text)} characters")
    return _status_json(text) if text.lstrip().startswith("{") else _status_table(text)


def profiles(stdout: str) -> tuple[dict[str, Any], ...] | Unreadable:
    """`provider list-profiles -o json`; each profile is an object with an id.

    Ids may stand twice.
    """
    read = documents.value(plain(stdout))
    if isinstance(read, Unreadable):
        return read
    if not isinstance(read, list):
        return Unreadable(f"expected a JSON array of profiles, saw {shown(read)}")
    for item in read:
        if isinstance(bad := words(item, "id"), Unreadable):
            return bad
    return tuple(read)


def providers(stdout: str) -> ProviderList | Unreadable:
    """`provider list -o json`."""
    page = _page(stdout, "providers")
    if isinstance(page, Unreadable):
        return page
    read = []
    for item in page[0]:
        found = words(item, "name", "type")
        if isinstance(found, Unreadable):
            return found
        read.append(Provider(*found))
    return ProviderList(tuple(read), page[1])


def gateway_info(stdout: str) -> GatewayInfo | Unreadable:
    """`gateway info -o json` of 0.1.x; an older one names no driver and is unreadable."""
    read = documents.document(plain(stdout))
    if isinstance(read, Unreadable):
        return read
    drivers = read.get("compute_drivers")
    if not isinstance(drivers, list) or not drivers:
        return Unreadable(f"expected the gateway to name its compute drivers, saw {shown(drivers)}")
    names: list[str] = []
    for driver in drivers:
        found = words(driver, "name")
        if isinstance(found, Unreadable):
            return found
        names.extend(found)
        capable = driver.get("capabilities")
        told = _word(capable, "driver_name") if isinstance(capable, dict) else ""
        if told and not _is(found[0], told):  # one driver under another's name is both
            names.append(told)
    return GatewayInfo(tuple(names))


def _is(name: str, told: str) -> bool:
    """Whether what a driver says of itself names it, and none of OpenShell's other drivers."""
    spoken = set(re.findall(r"[a-z]+", told.casefold()))
    return name.casefold() in spoken and not (DRIVERS - {name.casefold()}) & spoken


def _sandbox(item: object) -> Sandbox | Unreadable:
    if isinstance(item, Unreadable):
        return item
    found = words(item, "id", "name", "workspace", "phase")
    if isinstance(found, Unreadable):
        return found
    identity, name, workspace, phase = found
    if not _ID.fullmatch(identity):
        return Unreadable(f"expected a sandbox id, saw {shown(identity)}")
    return Sandbox(identity, name, workspace, phase, _reason(item))


def _reason(item: object) -> str:
    """The first condition that does not hold, in its own words."""
    conditions = item.get("conditions") if isinstance(item, dict) else None
    for one in conditions if isinstance(conditions, list) else ():
        if isinstance(one, dict) and str(one.get("status")).casefold() == "false":
            return ": ".join(filter(None, (_word(one, "reason"), _word(one, "message"))))
    return ""


def _page(stdout: str, key: str) -> tuple[list[Any], str] | Unreadable:
    """The items and the next page's token; the sentence that a table has in the place of no rows says it as well."""
    if plain(stdout).strip() == f"No {key} found.":
        return [], ""
    read = documents.value(plain(stdout))
    if isinstance(read, Unreadable):
        return read
    items, token = (read.get(key), read.get("next_page_token", "")) if isinstance(read, dict) else (read, "")
    if not isinstance(items, list) or not isinstance(token, (str, type(None))):
        return Unreadable(f"expected a JSON listing of {key}, saw {shown(read)}")
    return items, token or ""


def _status_json(text: str) -> Status | Unreadable:
    read = documents.document(text)
    if isinstance(read, Unreadable):
        return read
    if isinstance(found := words(read, "status"), Unreadable):
        return found
    if found[0] == "not_configured":
        return Status(connected=False, configured=False)
    connected = _CONNECTED.get(found[0].casefold())
    if connected is None:
        return Unreadable(f"expected the status 'connected', saw {shown(found[0])}")
    mode = read.get("authentication")
    return Status(
        connected=connected,
        server=_word(read, "server"),
        authentication=_word(mode, "mode") if isinstance(mode, dict) else _word(read, "authentication"),
    )


def _status_table(text: str) -> Status | Unreadable:
    if says(text, "No gateway configured"):
        return Status(connected=False, configured=False)
    rows: dict[str, str] = {}
    for line in text.split("\n"):
        label, colon, value = (part.strip() for part in line.partition(":"))
        if colon and rows.setdefault(label.casefold(), value) != value:
            return Unreadable(f"expected one row {label!r}, saw {shown(rows[label.casefold()])} and {shown(value)}")
    connected = _CONNECTED.get(rows.get("status", "").casefold())
    if connected is None:
        return Unreadable(f"expected a row 'Status: Connected', saw {shown(text.strip())}")
    return Status(
        connected=connected,
        server=rows.get("server") or rows.get("endpoint", ""),
        authentication=rows.get("authentication", ""),
    )


def _word(item: dict[str, Any], key: str) -> str:
    word = item.get(key)
    return word if isinstance(word, str) else ""
