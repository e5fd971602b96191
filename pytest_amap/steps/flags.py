"""Which flags this OpenShell knows: each that the suite gives is looked up in --help, never by a version's number."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from kit import commands as kit_commands
from pytest_amap.checks import unknown_6
from pytest_amap.commands import Command
from pytest_amap.failures import StepRefused
from pytest_amap.host.lab import Lab
from pytest_amap.observations import Ran
from pytest_amap.parsers import text

Words = tuple[str, ...]
"""The words of a command of openshell, as `provider profile lint`; or its flags."""

EXEC, CREATE = ("sandbox", "exec"), ("sandbox", "create")
LABEL, RESTART = "--label", "--restart-policy"
SPARED: dict[Words, Words] = {EXEC: ("--no-tty", "--no-login-shell"), CREATE: (LABEL, RESTART)}
"""What the suite can do without, or is asked for by a setting."""


def plan(lab: Lab) -> list[Command]:
    words = dict.fromkeys((CREATE, *(parted(command.argv)[0] for command in built(lab))))
    return [lab.commands.help_of(*one) for one in words]


def probe(lab: Lab) -> None:
    """Go on with the flags that are listed; without one that no run can do without, the step refuses."""
    asked = given(lab)
    texts = {words: lab.host.run(command) for words, command in zip(asked, plan(lab), strict=True)}
    absent = [
        f"{flag} in 'openshell {' '.join(words)} --help'"
        for words, ran in texts.items()
        for flag in asked[words]
        if ran.ok and flag not in SPARED.get(words, ()) and not lists(ran, flag)
    ]
    if absent:
        raise StepRefused(
            f"openshell must list the flags that this suite gives, saw no {', no '.join(absent)}; install an OpenShell "
            "that has them"
        )
    if lab.options.restart_policy and not lists(texts[CREATE], RESTART):
        raise StepRefused(
            f"amap_restart_policy is on, and 'openshell sandbox create --help' lists no {RESTART}; turn it off, or "
            "update OpenShell"
        )
    known = tuple(flag for flag in SPARED[EXEC] if not texts[EXEC].ok or lists(texts[EXEC], flag))
    lab.use_flags(exec_flags=known, label=lists(texts[CREATE], LABEL))


def lists(ran: Ran, flag: str) -> bool:
    return ran.ok and re.search(rf"(?<![\w-]){flag}(?![\w-])", text.plain(ran.stdout)) is not None


def given(lab: Lab) -> dict[Words, Words]:
    """Each command of openshell and the flags that the suite gives it, read off the commands themselves."""
    create = kit_commands.create_argv(lab.fleet, lab.ground.sender, home=lab.home, image=lab.options.image)
    found: dict[Words, Words] = {}
    for argv in (create, *(command.argv for command in built(lab))):
        words, flags = parted(argv)
        found[words] = tuple(dict.fromkeys((*found.get(words, ()), *flags)))
    return found


def built(lab: Lab) -> tuple[Command, ...]:
    """One of each command of openshell that takes a flag, save for create; a word that varies stands in <>."""
    commands, name, file = lab.commands, "<name>", "<file>"
    return (
        commands.execute(name, ("true",), label="", env=((name, "<value>"),)),
        unknown_6.commands(lab, file)["info"],
        unknown_6.page(lab, "<token>"),
        commands.list_all(),
        commands.get(name),
        commands.policy_of(name),
        commands.logs(name),
        commands.profiles(),
        commands.lint(file),
        commands.import_profile(file),
        commands.update_profile(name, file),
        commands.providers(),
    )


def parted(argv: Sequence[str]) -> tuple[Words, Words]:
    """The command's words, and the flags between them and the command that it starts inside."""
    own = list(takewhile(lambda word: word != "--", argv[3:] if argv[1] == "--workspace" else argv[1:]))
    words = tuple(takewhile(lambda word: not word.startswith(("-", "<")), own))
    return words, tuple(word for word in own if word.startswith("-"))
