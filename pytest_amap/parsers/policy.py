"""A sandbox policy, as rendered and as OpenShell prints it."""

from __future__ import annotations

import fnmatch
import posixpath
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from . import Unreadable, shown, strict_yaml
from .text import plain

Access = Literal["read-only", "read-write", "both", "none"]
WORKDIR = "/sandbox"
"""Its working directory, in every OpenShell sandbox."""

_KEYS = {
    "filesystem_policy": {"include_workdir", "read_only", "read_write"},
    "landlock": {"compatibility"},
    "process": {"run_as_user", "run_as_group"},
}


@dataclass(frozen=True)
class Policy:
    """One policy.

    `extra` are the key paths that this suite does not know; what is absent is empty. `compatibility` is the word as
    written: OpenShell took a misspelt one for best_effort, so compare it.
    """

    include_workdir: bool
    read_only: tuple[str, ...]
    read_write: tuple[str, ...]
    compatibility: str
    run_as_user: str
    run_as_group: str
    network: dict[str, Any]
    extra: tuple[str, ...]


class _Refused(Exception):
    """What keeps a text from being a policy; never leaves this module."""


def policy(text: str) -> Policy | Unreadable:
    """The policy that `text` is, in block or flow style.

    Version 0 means that none is stored: unreadable.
    """
    read = strict_yaml.document(plain(text))
    if isinstance(read, Unreadable):
        return read
    try:
        return _policy(read)
    except _Refused as refused:
        return Unreadable(str(refused))


def access(policy: Policy, path: str) -> Access:
    """What Landlock grants at an absolute `path`: the union of all entries at or above it.

    "both" grants writing, whatever the read_only entry intends (field report A26). A policy without any path has no
    ruleset at all, so everything is "read-write". A look-alike (`/lanes/inbox2`) does not cover `/lanes/inbox`.
    A pattern (`/lanes/*`) covers what it matches: nobody has promised that it stays a name.
    """
    if not policy.read_only and not policy.read_write:
        return "read-write"
    reads = _covers(policy.read_only, path)
    writes = _covers((*policy.read_write, WORKDIR) if policy.include_workdir else policy.read_write, path)
    if writes:
        return "both" if reads else "read-write"
    return "read-only" if reads else "none"


def _covers(entries: Iterable[str], path: str) -> bool:
    wanted = _parts(path)
    return any(
        len(entry) <= len(wanted) and all(map(fnmatch.fnmatchcase, wanted, entry)) for entry in map(_parts, entries)
    )


def _parts(path: str) -> list[str]:
    return [part for part in posixpath.normpath(path).split("/") if part]


def _policy(read: object) -> Policy:
    if not isinstance(read, dict) or type(read.get("version")) is not int or read["version"] != 1:
        raise _Refused(f"expected a policy of version 1, saw {shown(read)}")
    files, landlock, process = (_section(read, name) for name in _KEYS)
    # OpenShell's default is true without the section, false within it.
    workdir = files.get("include_workdir", "filesystem_policy" not in read)
    if not isinstance(workdir, bool):
        raise _Refused(f"expected include_workdir to be true or false, saw {shown(workdir)}")
    return Policy(
        include_workdir=workdir,
        read_only=_paths(files, "read_only"),
        read_write=_paths(files, "read_write"),
        compatibility=_word(landlock, "compatibility"),
        run_as_user=_word(process, "run_as_user"),
        run_as_group=_word(process, "run_as_group"),
        network=_section(read, "network_policies"),
        extra=_extra(read),
    )


def _section(read: dict[str, Any], name: str) -> dict[str, Any]:
    section = read.get(name, {})
    if not isinstance(section, dict):
        raise _Refused(f"expected a mapping under {name}, saw {shown(section)}")
    return section


def _paths(section: dict[str, Any], key: str) -> tuple[str, ...]:
    paths = section.get(key, [])
    if not isinstance(paths, list) or not all(isinstance(path, str) and path.startswith("/") for path in paths):
        raise _Refused(f"expected a list of absolute paths under {key}, saw {shown(paths)}")
    return tuple(paths)


def _word(section: dict[str, Any], key: str) -> str:
    """Numeric ids are strings, quoted in what OpenShell prints; an unquoted one says the same."""
    word = section.get(key, "")
    if isinstance(word, bool) or not isinstance(word, (str, int)):
        raise _Refused(f"expected a word under {key}, saw {shown(word)}")
    return str(word)


def _extra(read: dict[str, Any]) -> tuple[str, ...]:
    known = {"version", "network_policies", *_KEYS}
    unknown = [key for key in read if key not in known]
    unknown += [f"{name}.{key}" for name, keys in _KEYS.items() for key in _section(read, name) if key not in keys]
    return tuple(sorted(unknown))
