"""The containers of one sandbox, chosen by its recorded id, as unknown_1 and pass_criterion_3 look at them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_amap.commands import Planned
from pytest_amap.observations import Ran
from pytest_amap.parsers import Unreadable, containers

if TYPE_CHECKING:
    from pytest_amap.host.lab import Lab, Member

MOST = 8
"""Containers of one sandbox that are described; it has two at most, and a few short-lived ones while it is made."""


@dataclass(frozen=True)
class Boxes:
    """`ids` listed the containers that bear the sandbox's id, and each of them was described; where there is none,
    `context` told which engine was asked."""

    ids: Ran
    described: tuple[Ran, ...]
    context: Ran | None = None

    @property
    def records(self) -> tuple[str, ...]:
        return tuple(ran.record for ran in (self.ids, *self.described, self.context) if ran is not None)

    def workloads(self, sandbox_id: str, label_prefix: str) -> tuple[containers.Container, ...] | Unreadable:
        """Those that run the sandbox's programs; one description that cannot be read leaves it open which they are."""
        if not self.ids.ok:
            return Unreadable(self.ids.said)
        if not self.described:
            asked = f" in the context {self.context.said}" if self.context and self.context.ok else ""
            return Unreadable(
                f"no container bears this sandbox's id{asked}; is another container context the gateway's?"
            )
        if len(named := set(self.ids.stdout.split())) != len(self.described):
            return Unreadable(
                f"{len(named)} containers bear this sandbox's id, and {len(self.described)} were described"
            )
        found: list[containers.Container] = []
        for ran in self.described:
            read = ran.parsed(containers.containers)
            if isinstance(read, Unreadable):
                return read
            if len(read) != 1:
                return Unreadable(f"a container was asked for, and {len(read)} were described")
            found += read
        return containers.workloads(found, sandbox_id, f"{label_prefix}/")


def planned(lab: Lab, member: Member) -> Iterator[Planned]:
    yield lab.commands.containers_of(member.id or f"<id of {member.name}>", lab.options.label_prefix)
    yield lab.commands.inspect("<container>").only("for each of them")
    yield lab.commands.context().only("where there is none")


def collect(lab: Lab, member: Member) -> Boxes:
    ids = lab.host.run(lab.commands.containers_of(member.id, lab.options.label_prefix))
    found = dict.fromkeys(ids.stdout.split()) if ids.ok else {}
    described = tuple(lab.host.run(lab.commands.inspect(one)) for one in list(found)[:MOST])
    return Boxes(ids, described, lab.host.run(lab.commands.context()) if ids.ok and not found else None)
