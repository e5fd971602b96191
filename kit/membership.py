"""membership.json: which sandbox, by id, stands behind each member."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from kit import jsontext, names
from kit.errors import Refused
from kit.fleet import Fleet

ANEW = "remove membership.json and record every member again"


@dataclass(frozen=True)
class Member:
    """One recorded sandbox; the id is opaque."""

    workspace: str
    name: str
    id: str


def load(path: Path) -> tuple[Member, ...] | None:
    """The recorded members sorted by name; None when no file is there, which is not the same as nobody."""
    if not os.path.lexists(path):
        return None
    if path.is_symlink():
        raise Refused(f"{path} is a symlink, which the kit does not follow: put the file itself there")
    return parse(jsontext.read_bytes(path, "make it a readable file"), str(path))


def parse(raw: bytes, source: str) -> tuple[Member, ...]:
    """The members in `raw`; Refused on anything that `render` would not write."""
    document = jsontext.check_keys(jsontext.parse_object(raw, source), ("version", "members"), source)
    entries = document["members"]
    version = document["version"]
    if type(version) is not int or version != 1 or not isinstance(entries, list):
        raise Refused(f"{source} must hold version 1 and a list of members: {ANEW}")
    members = tuple(_member(entry, f"{source}: members[{index}]") for index, entry in enumerate(entries))
    for what in ("name", "id"):
        values = [getattr(member, what) for member in members]
        if len(set(values)) != len(values):
            raise Refused(f"{source} holds one {what} twice: {ANEW}")
    if len({member.workspace for member in members}) > 1:
        raise Refused(f"{source} holds members of several workspaces: {ANEW}")
    return tuple(sorted(members, key=lambda member: member.name))


def render(members: Iterable[Member]) -> str:
    """The document, members sorted by name."""
    ordered = sorted(members, key=lambda member: member.name)
    return jsontext.render({"version": 1, "members": [asdict(member) for member in ordered]})


def add(members: tuple[Member, ...], new: Member) -> tuple[Member, ...]:
    """`members` with `new`, the same tuple when it is there already; a changed id is Refused.

    OpenShell gives a deleted sandbox's name to the next one under a new id, and that is another sandbox.
    """
    for old in members:
        if old == new:
            return members
        if old.name == new.name:
            raise Refused(
                f"ID mismatch: {new.name} in workspace {old.workspace} is recorded as {old.id}, and {new.id} "
                f"in workspace {new.workspace} is a different sandbox that reuses the name: {ANEW}"
            )
        if old.id == new.id:
            raise Refused(f"{new.id} is recorded as {old.name} already, so it cannot be {new.name}: read the id again")
    return tuple(sorted((*members, new), key=lambda member: member.name))


def check_within(members: Iterable[Member], fleet: Fleet) -> None:
    """Every recorded member is one of the fleet's, in its workspace."""
    for member in members:
        if member.name not in fleet.members:
            raise Refused(f"membership.json records {member.name}, and the fleet has no such member: {ANEW}")
        if member.workspace != fleet.workspace:
            raise Refused(
                f"membership.json records {member.name} in workspace {member.workspace}, and the fleet's is "
                f"{fleet.workspace}: {ANEW}"
            )


def _member(entry: object, where: str) -> Member:
    fields = jsontext.check_keys(entry, ("workspace", "name", "id"), where)
    identity = fields["id"]
    if not isinstance(identity, str):
        raise Refused(f"{where}: id must be a string, not {type(identity).__name__}: {ANEW}")
    return Member(
        workspace=names.check_label(fields["workspace"], f"{where}: workspace"),
        name=names.check_label(fields["name"], f"{where}: name"),
        id=names.check_word(identity, f"{where}: id"),
    )
