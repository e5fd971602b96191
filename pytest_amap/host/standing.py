"""Who stands under a sandbox name: somebody, nobody, or not known."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_amap.host.lab import Lab
from pytest_amap.observations import Ran
from pytest_amap.parsers import Unreadable, cli, documents, text

PAGE = 100
"""OpenShell's default page of `sandbox list` (facts: openshell.md 1.6)."""


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
    found = ran.parsed(cli.sandbox)
    if isinstance(found, cli.Sandbox):
        if (found.name, found.workspace) == (name, lab.commands.workspace):
            return Standing(ran, found)
        return Standing(ran, problem=f"sandbox get {name} showed {found.workspace}/{found.name}")
    there = listed(lab, name, lab.host.run(lab.commands.list_all()))
    if isinstance(there, Unreadable):
        return Standing(ran, problem=f"whether sandbox {name} is there could not be told ({there.why})")
    if there:
        return Standing(ran, problem=f"sandbox {name} is there and could not be read ({found.why})")
    return Standing(ran)


def listed(lab: Lab, name: str, ran: Ran) -> bool | Unreadable:
    """Whether `name` is in the answer of `list_all`.

    Its absence counts only in a whole list that shows a recorded member, where any is recorded: without step 5 there
    is nobody to be shown.
    """
    found = ran.parsed(cli.sandbox_names)
    if isinstance(found, Unreadable):
        return found
    workspace = lab.commands.workspace
    if (workspace, name) in found:
        return True
    if len(found) >= PAGE:
        return Unreadable(f"the listing shows {len(found)} sandboxes, and may go on on another page")
    recorded = [member for member in lab.fleet.members if lab.ids.get(member) and member != name]
    if recorded and not any((workspace, member) in found for member in recorded):
        return Unreadable("the listing shows no member of the fleet at all")
    return False
