"""The checkouts this deployment leans on: where each is found, and at which commit it is wanted."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kit import jsontext
from kit.errors import Refused, shown

PINS = Path(__file__).with_name("siblings.json")
SHORT = 12
"""Digits of a commit that a sentence shows."""
OFF = "not at the pin"
"""How the words for a checkout at another commit begin."""

_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
_URL = re.compile(r"https://[A-Za-z0-9.-]+(?::[0-9]+)?/[A-Za-z0-9._~/-]+")
_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True)
class Kind:
    """How one sibling is recognised: its variable, its directory names, a file that only it holds."""

    variable: str
    directories: tuple[str, ...]
    witness: str


KINDS = {
    "router": Kind("AMAP_ROUTER_REPO", ("amap-router-local",), "router/reset.py"),
    "connector": Kind("AMAP_CONNECTOR_REPO", ("amap-connector-claude",), "bin/inbox-delivery"),
    "spec": Kind("AMAP_SPEC_DIR", ("amap-spec", ".amap-spec"), "fixtures/validate.py"),
}


@dataclass(frozen=True)
class Sibling:
    """A checkout that was found: by its variable, or beside this repository or one of its parents."""

    name: str
    path: Path  # absolute, symlinks not resolved
    how: Literal["variable", "beside"]


@dataclass(frozen=True)
class Pin:
    """Where a sibling comes from and the commit it is wanted at; None follows its default branch."""

    name: str
    url: str
    commit: str | None

    def against(self, commit: str) -> str:
        """How a checkout at `commit` stands to this pin, in words."""
        if self.commit is None:
            return "unpinned"
        return "at the pin" if commit == self.commit else f"{OFF} {self.commit[:SHORT]}"


def find(name: str, environ: Mapping[str, str], repository: Path) -> Sibling:
    """The checkout `name` (router, connector, spec); Refused names the variable that says where it is.

    A variable that is set and not empty is the only place looked at. Otherwise the first directory of the right name
    that holds the witness wins, searched from the repository's own place upwards.
    """
    kind = KINDS[name]
    stated = environ.get(kind.variable)
    if stated:
        path = Path(os.path.abspath(stated))
        if not os.path.isfile(path / kind.witness):
            raise Refused(
                f"{kind.variable} is {stated}, where this account sees no {kind.witness}: set it to that checkout, "
                "and let this account read it"
            )
        return Sibling(name, path, "variable")
    found = beside(name, repository)
    if found is None:
        raise Refused(
            f"no {kind.directories[0]} checkout (with {kind.witness}) lies beside {repository} or a parent of it: "
            f"run amap siblings --apply, or set {kind.variable}"
        )
    return Sibling(name, found, "beside")


def found(environ: Mapping[str, str], repository: Path) -> tuple[Sibling, ...]:
    """Every sibling that is there; a variable that is set wrong is Refused.

    One beside this repository is there also where a variable names another in its place.
    """
    stated = [find(name, environ, repository) for name, kind in KINDS.items() if environ.get(kind.variable)]
    places = [(name, beside(name, repository)) for name in KINDS]
    return (*stated, *(Sibling(name, path, "beside") for name, path in places if path))


def beside(name: str, repository: Path) -> Path | None:
    """The checkout `name` beside this repository or a parent of it, whatever its variable says."""
    kind, here = KINDS[name], Path(os.path.abspath(repository))
    candidates = (parent / directory for parent in here.parents for directory in kind.directories)
    return next((path for path in candidates if os.path.isfile(path / kind.witness)), None)


def load_pins(path: Path = PINS) -> dict[str, Pin]:
    """Each sibling's pin in siblings.json; Refused on an unknown key, a bad url, a bad commit, one too many or few."""
    document = jsontext.parse_object(jsontext.read_bytes(path, "restore it from the checkout"), str(path))
    entries = jsontext.check_keys(document, ("siblings",), str(path))["siblings"]
    if not isinstance(entries, list) or not entries:
        raise Refused(f"{path}: siblings must be a list with at least one entry")
    pins = [_pin(entry, f"{path}: siblings[{index}]") for index, entry in enumerate(entries)]
    wanted = {kind.directories[0]: name for name, kind in KINDS.items()}
    if sorted(pin.name for pin in pins) != sorted(wanted):
        raise Refused(f"{path}: siblings must name {', '.join(wanted)}, each once: restore it from the checkout")
    return {wanted[pin.name]: pin for pin in pins}


def _pin(entry: object, where: str) -> Pin:
    fields = jsontext.check_keys(entry, ("name", "url", "commit"), where)
    name, url, commit = fields["name"], fields["url"], fields["commit"]
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        raise Refused(f"{where}: name is {shown(name)}: write a-z, 0-9 and hyphens")
    if not isinstance(url, str) or _URL.fullmatch(url) is None:  # not shown: it may hold a password
        raise Refused(f"{where}: url must be https://HOST/PATH alone, without user, password or query: write it so")
    if commit is not None and (not isinstance(commit, str) or _COMMIT.fullmatch(commit) is None):
        raise Refused(f"{where}: commit is {shown(commit)}: write 40 lower-case hexadecimal digits, or null")
    return Pin(name, url, commit)
