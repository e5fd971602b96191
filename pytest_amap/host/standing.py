"""Who stands under a sandbox name: somebody, nobody, or not known."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_amap.host.lab import Lab
from pytest_amap.observations import Ran
from pytest_amap.parsers import Unreadable, cli, documents, text


@dataclass(frozen=True)
class Standing:
    """`sandbox` is None and `problem` "" where a listing confirms that nobody stands there."""

    asked: Ran
    sandbox: cli.Sandbox | None = None
    problem: str = ""

    def has_label(self, key: str, value: str) -> bool:
        read = documents.document(text.plain(self.asked.stdout))
        labels = None if isinstance(read, Unreadable) else read.get("labels")
        return isinstance(labels, dict) and labels.get(key) == value


def standing(lab: Lab, name: str) -> Standing:
    """Ask for `name` in the fleet's workspace; a `get` that fails alone never means that nobody is there."""
    ran = lab.host.run(lab.commands.get(name))
    found = cli.sandbox(ran.stdout) if ran.ok else Unreadable(ran.said)
    if isinstance(found, cli.Sandbox):
        if (found.name, found.workspace) == (name, lab.commands.workspace):
            return Standing(ran, found)
        return Standing(ran, problem=f"sandbox get {name} showed {found.workspace}/{found.name}")
    listed = names(lab.host.run(lab.commands.list_all()))
    if isinstance(listed, Unreadable):
        return Standing(ran, problem=f"whether sandbox {name} is there could not be told ({listed.why})")
    if (lab.commands.workspace, name) in listed:
        return Standing(ran, problem=f"sandbox {name} is there and could not be read ({found.why})")
    return Standing(ran)


def names(ran: Ran) -> tuple[tuple[str, str], ...] | Unreadable:
    """(workspace, name) of every sandbox in the answer of `list_all`."""
    return cli.sandbox_names(ran.stdout) if ran.ok else Unreadable(ran.said)
