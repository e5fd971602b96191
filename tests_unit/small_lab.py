"""A lab whose host is a directory and a table of answers, for the tests of collectors."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from kit import fleet, lanes
from kit.home import Home
from kit.siblings import Sibling
from pytest_amap.commands import Command, Commands, Planned
from pytest_amap.host import files
from pytest_amap.host.host import Waited
from pytest_amap.host.lab import Lab
from pytest_amap.host.run import Left
from pytest_amap.host.survey import Ground
from pytest_amap.observations import Listing, Ran, Read
from pytest_amap.options import Options

FLEET = {"workspace": "default", "fleet_domain": "openshell.test.internal", "task_graph": {"beta": ["alpha"]}}

Answer = Callable[[Command], Ran]


class SmallHost:
    """Reads a real directory; answers a command by the first table entry that its label starts with."""

    def __init__(self, answers: Mapping[str, Answer]) -> None:
        self.answers = answers
        self.argvs: list[tuple[str, ...]] = []

    def run(self, command: Command) -> Ran:
        self.argvs.append(command.argv)
        return next(answer for label, answer in self.answers.items() if command.label.startswith(label))(command)

    def read(self, path: str, label: str) -> Read:
        return files.read(path)

    def listing(self, path: str, label: str) -> Listing:
        return files.listing(path)

    def wait_file(self, what: str, path: str, done: Callable[[Read], Any], **_: Any) -> Waited[Read, Any]:
        """One look: what is not there now never comes."""
        value = done(files.read(path))
        return Waited(files.read(path), value, "" if value is not None else f"{what}: nothing after 0 s")


def small_lab(tmp_path: Path, answers: Mapping[str, Answer], **options: Any) -> Lab:
    """Alpha may task beta; their lanes are there, and nothing else."""
    parsed = fleet.parse(json.dumps(FLEET).encode(), "fleet.json")
    home = Home(tmp_path.resolve() / "home")
    for member in parsed.members:
        for directory in lanes.directories(home, member):
            directory.mkdir(parents=True)
    spec = Sibling("spec", tmp_path.resolve() / "spec", "beside")
    ground = Ground(home=home, fleet=parsed, sender="alpha", receiver="beta", siblings={"spec": spec})
    run: Any = SimpleNamespace(host=SmallHost(answers), evidence=SimpleNamespace(run="20261129T120000Z"), left=Left())
    return Lab(options=Options(**options), ground=ground, commands=Commands(), run=run)


def write(path: Path, content: object) -> str:
    """Put a file there, text as it is, anything else as JSON; its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return os.fspath(path)


def unplanned(argvs: Iterable[tuple[str, ...]], planned: Iterable[Planned]) -> list[tuple[str, ...]]:
    """The argvs that match no planned command; a <placeholder> stands for anything."""
    patterns = [[pattern(word) for word in one.argv] for one in planned if isinstance(one, Command)]
    return [argv for argv in argvs if not any(matches(argv, words) for words in patterns)]


def unrun(argvs: Iterable[tuple[str, ...]], planned: Iterable[Planned]) -> list[Command]:
    """The planned commands without a condition that were not run."""
    ran = list(argvs)
    wanted = [one for one in planned if isinstance(one, Command) and not one.when]
    return [one for one in wanted if not any(matches(argv, [pattern(word) for word in one.argv]) for argv in ran)]


def pattern(word: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, re.split(r"<[a-z ]+>", word))), re.DOTALL)


def matches(argv: tuple[str, ...], words: list[re.Pattern[str]]) -> bool:
    return len(argv) == len(words) and all(word.fullmatch(text) for word, text in zip(words, argv, strict=True))
