"""The life of the throwaway probe sandbox: announced, made, used, removed.

Nothing is deleted but a sandbox whose live id is the one recorded on disk; where a create was cut off before its id
was known, the random label of its announcement stands in for it.
"""

from __future__ import annotations

import functools
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from kit import commands, policy
from kit.errors import Refused
from pytest_amap.commands import Command, Look, Planned
from pytest_amap.evidence import writeonce
from pytest_amap.evidence.recorded import EvidenceError
from pytest_amap.host import intents
from pytest_amap.host.lab import PEER, Lab, Member
from pytest_amap.host.standing import Standing, listed, standing
from pytest_amap.observations import Ran

NAME = "amap-l1-probe"
LABEL = "amap.probe"
MAIN = ("sleep", "3600")


@dataclass(frozen=True)
class Made:
    """The probe as it was made; `id` is "" while it has none, `problem` says why it cannot be used."""

    id: str = ""
    problem: str = ""
    create: Ran | None = None
    live: Ran | None = None


@dataclass(frozen=True)
class Removed:
    """`problem` is "" when nothing of ours stands there any more, else it names what was left."""

    problem: str = ""
    delete: Ran | None = None
    gone: Ran | None = None


class Throwaway:
    """One probe; `remove` runs once to its end and is registered with the run before anything is made."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self.member = Member(lab, NAME)
        self.remove: Callable[[], Removed] = functools.cache(functools.partial(clear, lab))

    def make(self) -> Made:
        """Create it from the sender's own create command and policy, the peer lane's line left out."""
        lab = self._lab
        left = clear(lab)
        if left.problem:
            return Made(problem=left.problem)
        try:
            create, label = self._prepare()
            lab.run.cleanup.callback(self.remove)
            announce(lab, label)
        except (Refused, EvidenceError) as error:
            return Made(problem=str(error))
        ran = lab.host.run(create)
        found = standing(lab, NAME)
        if found.sandbox is None:
            if ran.exit is not None:
                announce(lab, label, ended=True)
            why = found.problem or f"no sandbox {NAME} is there after its create"
            return Made(problem=f"{why}; create said: {ran.told}", create=ran, live=found.asked)
        if not is_ours(found, label=label, made=ran.ok):
            intents.remove(lab.home.evidence, NAME)
            return Made(problem=f"{foreign(found)}; create said: {ran.told}", create=ran, live=found.asked)
        announce(lab, label, found.sandbox.id)
        problem = "" if ran.ok else f"create said: {ran.told}"
        return Made(found.sandbox.id, problem, ran, found.asked)

    def _prepare(self) -> tuple[Command, str]:
        """The create command and its label's value, the policy on disk; Refused names what cannot be used."""
        lab = self._lab
        argv = commands.parse(kept(lab, os.fspath(lab.home.command(lab.sender.name)), "the sender's create command"))
        full = kept(lab, os.fspath(lab.home.policy(lab.sender.name)), "the sender's policy")
        label = secrets.token_hex(8) if lab.label_flag else ""
        evidence = lab.host.evidence
        name = f"{evidence.run}-{NAME}-{secrets.token_hex(4)}.yaml"
        writeonce.create(evidence.root, intents.FOLDER, name, policy.without(full, PEER).encode())
        return creation(lab, argv, os.fspath(evidence.root / intents.FOLDER / name), label), label


def kept(lab: Lab, path: str, label: str) -> str:
    read = lab.host.read(path, label)
    if read.text is None:
        raise Refused(f"{label} could not be read ({read.problem}): run step 3 first")
    return read.text


def creation(lab: Lab, argv: list[str], policy_file: str, label: str) -> Command:
    """The sender's create command with the probe's name, policy and main process, labelled where that is possible."""
    changed = commands.with_changes(argv, name=NAME, policy=policy_file, main=MAIN)
    cut = changed.index("--")
    flags = ["--label", f"{LABEL}={label}"] if label else []
    words = (lab.options.openshell, *changed[1:cut], *flags, *changed[cut:])
    return Command(words, "create the probe", lab.options.deadlines.create, with_key=True)


def announce(lab: Lab, label: str, sandbox_id: str = "", *, ended: bool = False) -> None:
    """Say on disk that the probe is ours: before it is made, and when its id is known or its create has ended."""
    about = {
        "kind": intents.PROBE,
        "workspace": lab.commands.workspace,
        "run": lab.host.evidence.run,
        "label": label,
        "id": sandbox_id,
        "ended": ended,
    }
    intents.write(lab.home.evidence, NAME, about)


def clear(lab: Lab) -> Removed:
    """Remove a probe of ours, an earlier run's too; without an announcement only look who has the name."""
    with lab.host.going_on():
        return cleared(lab, intents.load(lab.home.evidence, NAME))


def cleared(lab: Lab, announced: dict[str, Any] | None) -> Removed:
    found = standing(lab, NAME)
    if found.problem:
        return leftover(lab, Removed(found.problem))
    if found.sandbox is None and announced and may_appear(lab, announced):
        return leftover(lab, Removed(f"the create of {NAME} was cut off; if it comes up yet, the next run removes it"))
    if found.sandbox is None:
        intents.remove(lab.home.evidence, NAME)
        return Removed()
    if announced is None:
        return Removed(foreign(found))
    recorded, label = str(announced.get("id", "")), str(announced.get("label", ""))
    if recorded == found.sandbox.id:
        return delete(lab)
    if not recorded and label and is_ours(found, label=label, made=False):
        with suppress(EvidenceError):  # on a full disk the label stands in for the id
            announce(lab, label, found.sandbox.id)
        return delete(lab)
    removed = leftover(lab, Removed(foreign(found)))
    if recorded or label:
        intents.remove(lab.home.evidence, NAME)  # one name, one sandbox: where another stands, ours is gone
    return removed


def may_appear(lab: Lab, announced: dict[str, Any]) -> bool:
    """The gateway may still be at a create of this run whose command was cut off."""
    known = announced.get("ended") or announced.get("id")
    return not known and announced.get("run") == lab.host.evidence.run


def tidy(lab: Lab) -> Removed:
    """Remove an earlier run's probe; runs nothing where nothing is announced."""
    return clear(lab) if intents.load(lab.home.evidence, NAME) else Removed()


def delete(lab: Lab) -> Removed:
    """Delete the probe, and see that it is gone; its announcement goes after that."""
    ran = lab.host.run(lab.commands.delete(NAME))

    def gone(listing: Ran) -> bool | None:
        return True if listed(lab, NAME, listing) is False else None

    waited = lab.host.wait_command(
        f"{NAME} to be gone", lab.commands.list_all(), gone, seconds=lab.options.deadlines.phase if ran.ok else 0
    )
    if not waited.value:
        remedy = lab.commands.delete(NAME).shown()
        problem = f"sandbox {NAME} was left behind: delete said: {ran.told}; do it yourself: {remedy}"
        return leftover(lab, Removed(problem, ran, waited.last))
    intents.remove(lab.home.evidence, NAME)
    return Removed("", ran, waited.last)


def leftover(lab: Lab, removed: Removed) -> Removed:
    """What an announcement still stands for is named in the report."""
    if intents.load(lab.home.evidence, NAME) is not None:
        lab.run.left.tell(removed.problem)
    return removed


def is_ours(found: Standing, *, label: str, made: bool) -> bool:
    """Whether it is the sandbox just announced: by its label; without one by create's success (`made`)."""
    return found.has_label(LABEL, label) if label else made


def foreign(found: Standing) -> str:
    assert found.sandbox is not None
    return f"a sandbox {NAME} with id {found.sandbox.id} is there that this suite did not record; it is left alone"


def planned(lab: Lab) -> Iterator[Planned]:
    """What making and removing runs and reads."""
    yield lab.commands.get(NAME)
    yield lab.commands.list_all()
    yield Look(os.fspath(lab.home.command(lab.sender.name)), "the sender's create command")
    yield Look(os.fspath(lab.home.policy(lab.sender.name)), "the sender's policy")
    argv = commands.create_argv(
        lab.fleet, lab.sender.name, home=lab.home, image=lab.options.image, restart_policy=lab.options.restart_policy
    )
    policy_file = os.fspath(lab.home.evidence / intents.FOLDER / f"<run>-{NAME}-<random>.yaml")
    yield creation(lab, argv, policy_file, "<random>").only("if create takes --label")
    yield creation(lab, argv, policy_file, "").only("if create takes no --label")
    yield lab.commands.delete(NAME)
