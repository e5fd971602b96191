"""The two graphs of a fleet: directed tasks, mutual mail. Read as declared, then resolved over the members."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kit import names
from kit.errors import Refused, shown

ANY = "ALLOW_ANY"
EVERYONE = "@all"
TASKS_ALL = "ALL"

Graph = dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class Declared:
    """What the file says, checked for shape; names are members, groups still stand as `@group`."""

    groups: Graph
    default_peers: tuple[str, ...]
    peers: Graph
    tasks: Graph | None  # None: the file says "ALL"
    denied: frozenset[tuple[str, str]]  # (sender, recipient)

    @property
    def members(self) -> tuple[str, ...]:
        """Every name that an entry mentions, sorted; a denial alone makes no member."""
        graphs = (self.groups, self.peers, self.tasks or {})
        mentioned = {name for graph in graphs for key, values in graph.items() for name in values}
        mentioned |= set(self.peers) | set(self.tasks or {}) | set(self.default_peers)
        return tuple(sorted(name for name in mentioned if name != ANY and not name.startswith("@")))


def read(document: Mapping[str, Any]) -> Declared:
    """The graph keys of a fleet document; an absent key declares nothing, task_graph absent grants nothing."""
    groups = {name: _group(name, value) for name, value in _object(document, "groups").items()}
    peers = {
        names.check_member(name, "peers (key)"): _peers(value, f"peers.{name}", groups)
        for name, value in _object(document, "peers").items()
    }
    return Declared(
        groups=groups,
        default_peers=_peers(document.get("default_peers", []), "default_peers", groups),
        peers=peers,
        tasks=_tasks(document),
        denied=frozenset(_denied(document.get("task_deny", []))),
    )


def resolve_tasks(declared: Declared) -> Graph:
    """Recipient to its senders, a list for every member; `task_deny` is taken off either form.

    The graph is directed and declared on the receiver: {"beta": ["alpha"]} lets alpha task beta and nothing else.
    """
    members = declared.members
    for name in sorted({name for pair in declared.denied for name in pair}.difference(members)):
        raise Refused(f"task_deny names {name}, who is no member, so it denies nothing: mend the name, or take it out")
    granted = {name: members for name in members} if declared.tasks is None else declared.tasks
    return {
        recipient: tuple(
            sender
            for sender in sorted(granted.get(recipient, ()))
            if sender != recipient and (sender, recipient) not in declared.denied
        )
        for recipient in members
    }


def resolve_mail(declared: Declared) -> Graph:
    """Member to the members it lists, groups expanded; a list of its own replaces `default_peers`."""
    return {
        name: tuple(sorted(_expand(declared.peers.get(name, declared.default_peers), declared) - {name}))
        for name in declared.members
    }


def check_lanes_apart(tasks: Graph, mail: Graph) -> None:
    """No pair may stand on both lanes, in either direction: the router could not tell a task from a mail."""
    for recipient, senders in tasks.items():
        for sender in senders:
            if sender in mail[recipient] or recipient in mail[sender]:
                raise Refused(
                    f"{sender} and {recipient} are on BOTH lanes, task_graph and peers: take the pair off one"
                )


def _expand(entries: Iterable[str], declared: Declared) -> set[str]:
    found: set[str] = set()
    for entry in entries:
        if entry in (ANY, EVERYONE):
            found |= set(declared.members)
        elif entry.startswith("@"):
            found |= set(declared.groups[entry[1:]])
        else:
            found.add(entry)
    return found


def _tasks(document: Mapping[str, Any]) -> Graph | None:
    value = document.get("task_graph", {})
    if value == TASKS_ALL:
        return None
    if not isinstance(value, dict):
        raise Refused(f'task_graph is {shown(value)}: write an object of recipient to senders, or "{TASKS_ALL}"')
    return {
        names.check_member(recipient, "task_graph (key)"): _senders(recipient, senders)
        for recipient, senders in value.items()
    }


def _senders(recipient: str, value: object) -> tuple[str, ...]:
    where = f"task_graph.{recipient}"
    for entry in _strings(value, where):
        if entry == ANY or entry.startswith("@"):
            raise Refused(f"{where} holds {shown(entry)}: the task graph takes single members only, so name each")
        if names.check_member(entry, where) == recipient:
            raise Refused(f"{where} holds {recipient} itself: no member tasks itself, so take that entry out")
    return _strings(value, where)


def _peers(value: object, where: str, groups: Graph) -> tuple[str, ...]:
    entries = _strings(value, where)
    if ANY in entries and len(entries) > 1:
        raise Refused(f"{where} mixes {ANY} with other entries: let it stand alone, or name the members")
    for entry in entries:
        if entry.startswith("@"):
            if entry != EVERYONE and entry[1:] not in groups:
                raise Refused(
                    f"{where} holds {shown(entry)}, and groups has no such group: declare it or name the members"
                )
        elif entry != ANY:
            names.check_member(entry, where)
    return entries


def _group(name: str, value: object) -> tuple[str, ...]:
    if not name or name == "all":
        raise Refused(
            f"groups holds the group {shown(name)}: give it a name, and not all, which stands for every member"
        )
    return tuple(names.check_member(entry, f"groups.{name}") for entry in _strings(value, f"groups.{name}"))


def _denied(value: object) -> Iterator[tuple[str, str]]:
    if not isinstance(value, list):
        raise Refused(f"task_deny is {shown(value)}: write a list of [sender, recipient] pairs")
    for index, pair in enumerate(value):
        where = f"task_deny[{index}]"
        if not isinstance(pair, list) or len(pair) != 2 or pair[0] == pair[1]:
            raise Refused(f"{where} is {shown(pair)}: write [sender, recipient], two different members")
        yield names.check_member(pair[0], where), names.check_member(pair[1], where)


def _object(document: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = document.get(key, {})
    if not isinstance(value, dict):
        raise Refused(f"{key} is {shown(value)}: write an object of name to list of members")
    return value


def _strings(value: object, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise Refused(f"{where} is {shown(value)}: write a list of member names")
    if len(set(value)) != len(value):
        raise Refused(f"{where} names somebody twice: name each once")
    return tuple(value)
