"""fleet.json: who is in the fleet, who may task whom, who may mail whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kit import graph, jsontext, names
from kit.errors import Refused, shown

KEYS = ("version", "workspace", "fleet_domain", "groups", "default_peers", "peers", "task_graph", "task_deny")
_FOREIGN_KEYS = frozenset(
    (
        *("feature", "schema", "create", "mounts", "entry", "expose", "agent_args", "receives"),
        *("sandboxes", "agents", "container_recreate_interval_hours"),
    )
)


@dataclass(frozen=True)
class Fleet:
    """One fleet as written; both graphs are total maps over `members`."""

    workspace: str
    domain: str
    members: tuple[str, ...]  # sorted
    task_graph: dict[str, tuple[str, ...]]  # recipient -> the members that may task it, sorted
    mail: dict[str, tuple[str, ...]]  # member -> the members it lists for the mail lane, sorted
    tasks_all: bool  # the file says "ALL" and denies nothing
    raw: bytes = field(compare=False)  # the file's bytes, so that what was judged is what is copied

    def address(self, name: str) -> str:
        return f"{name}@{self.domain}"

    @property
    def task_edges(self) -> tuple[tuple[str, str], ...]:
        """(sender, recipient) pairs, ordered by recipient, then sender."""
        return tuple((sender, recipient) for recipient, senders in self.task_graph.items() for sender in senders)

    @property
    def warnings(self) -> tuple[str, ...]:
        """One sentence for each mail entry that the other side does not return."""
        return tuple(
            f"one-sided mail entry: {name} lists {peer}, {peer} does not list {name}, so no mail passes"
            for name, peers in self.mail.items()
            for peer in peers
            if name not in self.mail[peer]
        )


def load(path: Path) -> Fleet:
    """The fleet in the file at `path`; Refused when it is absent, unreadable or wrong."""
    return parse(jsontext.read_bytes(path, "give a fleet file, such as examples/fleet.json"), str(path))


def parse(raw: bytes, source: str) -> Fleet:
    """The fleet in `raw`, the UTF-8 bytes of a JSON object; Refused names `source` and the entry that is wrong."""
    document = jsontext.parse_object(raw, source)
    try:
        return _build(document, raw)
    except Refused as error:
        raise Refused(f"{source}: {error}") from error


def _build(document: Mapping[str, Any], raw: bytes) -> Fleet:
    _check_keys(document)
    workspace = names.check_label(_required(document, "workspace"), "workspace")
    domain = names.check_domain(_required(document, "fleet_domain"), "fleet_domain")
    declared = graph.read(document)
    if not declared.members:
        raise Refused("the fleet names no instance: name its members in task_graph, peers or groups")
    tasks = graph.resolve_tasks(declared)
    mail = graph.resolve_mail(declared)
    graph.check_lanes_apart(tasks, mail)
    return Fleet(
        workspace=workspace,
        domain=domain,
        members=declared.members,
        task_graph=tasks,
        mail=mail,
        tasks_all=declared.tasks is None and not declared.denied,
        raw=raw,
    )


def _check_keys(document: Mapping[str, Any]) -> None:
    foreign = sorted(_FOREIGN_KEYS & document.keys())
    if foreign:
        raise Refused(f"{', '.join(foreign)} belong to the manifest of another deployment: give a fleet policy")
    unknown = sorted(key for key in document if key not in KEYS and not key.startswith(("_", "x-")))
    if unknown:
        raise Refused(
            f"unknown key {', '.join(map(shown, unknown))}: known are {', '.join(KEYS)}; own keys start with _ or x-"
        )
    version = document.get("version", 1)
    if type(version) is not int or version != 1:
        raise Refused(f"version is {shown(version)}: this kit reads version 1")


def _required(document: Mapping[str, Any], key: str) -> object:
    if key not in document:
        raise Refused(f"{key} is missing: every fleet states it")
    return document[key]
