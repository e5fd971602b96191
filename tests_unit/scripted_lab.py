"""A lab with the real doorway to the host and answers by label in place of processes, for collectors and steps."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from request_samples import AT

from kit import fleet, lanes
from kit.home import Home
from kit.siblings import Sibling
from pytest_amap.catalogue import L1
from pytest_amap.commands import Command, Commands, Deadlines, Planned
from pytest_amap.evidence.redaction import Redactor
from pytest_amap.evidence.store import Evidence
from pytest_amap.host.host import Host
from pytest_amap.host.lab import Lab
from pytest_amap.host.run import Run
from pytest_amap.host.survey import Ground
from pytest_amap.observations import Ran
from pytest_amap.options import Options

FLEET = {"workspace": "default", "fleet_domain": "openshell.test.internal", "task_graph": {"beta": ["alpha"]}}
QUICK = Deadlines(phase=0.3, ready=0.3, roster=0.3, delivery=0.3, reply=0.3, log=0.3)
REPOSITORY = Path(__file__).resolve().parents[1]

Answer = Ran | list[Ran] | Callable[[Command], Ran]


class ScriptedHost(Host):
    """Answers by the longest label in `answers` that the command's label starts with.

    Of a list the first answer is used up, until one is left. `labels`, `argvs` and `keyed` are what was run.
    """

    answers: dict[str, Answer]
    labels: list[str]
    argvs: list[tuple[str, ...]]
    keyed: list[str]

    def look(self, command: Command) -> Ran:
        self.labels.append(command.label)
        self.argvs.append(command.argv)
        if command.with_key:
            self.keyed.append(command.label)
        fitting = [label for label in self.answers if command.label.startswith(label)]
        assert fitting, f"no answer to {command.label}: {' '.join(command.argv)}"
        answer = self.answers[max(fitting, key=len)]
        if isinstance(answer, list):
            return answer.pop(0) if len(answer) > 1 else answer[0]
        return answer if isinstance(answer, Ran) else answer(command)

    def ran(self, label: str) -> int:
        return sum(one.startswith(label) for one in self.labels)


def said(stdout: str = "", *, exit: int | None = 0, stderr: str = "", timed_out: bool = False) -> Ran:
    return Ran(("program",), exit, stdout, stderr, AT, AT, timed_out)


def scripted_lab(
    tmp_path: Path, answers: Mapping[str, Answer], *, environ: Mapping[str, str] | None = None, **options: Any
) -> tuple[Lab, ScriptedHost]:
    """Alpha may task beta; the home has their lanes and an open run, and their sandboxes' ids are known."""
    home = Home(tmp_path.resolve() / "home")
    parsed = fleet.parse(json.dumps(FLEET).encode(), "fleet.json")
    for member in parsed.members:
        for directory in lanes.directories(home, member):
            directory.mkdir(parents=True)
    home.roster.mkdir()
    chosen = Options(**{"deadlines": QUICK, "repository": REPOSITORY, **options})
    run = Run(L1, chosen, ())
    run.say = lambda text: None
    run.evidence = Evidence.open(home.evidence, Redactor({}), host="live")
    host = ScriptedHost(run.evidence, environ=environ or {}, cwd="/", key=None, say=run.say)
    host.answers, host.labels, host.argvs, host.keyed = dict(answers), [], [], []
    run.host = host
    siblings = {name: Sibling(name, tmp_path.resolve() / name, "beside") for name in ("router", "connector", "spec")}
    ground = Ground(
        home=home,
        fleet=parsed,
        fleet_file=REPOSITORY / "examples" / "fleet.json",
        sender="alpha",
        receiver="beta",
        siblings=siblings,
        claude_version="2.1.284",
    )
    lab = Lab(chosen, ground, Commands(deadlines=QUICK), run, ids={"alpha": "id-1", "beta": "id-2"})
    return lab, host


def write(path: Path, content: object) -> str:
    """Put a file there, text as it is, anything else as JSON; its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return os.fspath(path)


def unplanned(argvs: Iterable[tuple[str, ...]], planned: Iterable[Planned]) -> list[tuple[str, ...]]:
    """The argvs that match no planned command; a <placeholder> stands for anything."""
    patterns = [[pattern(word) for word in one.argv] for one in planned if isinstance(one, Command)]
    return [argv for argv in argvs if not any(matches(argv, words) for words in patterns)]


def assert_as_planned(lab: Lab, plan: Callable[[Lab], Iterable[Planned]], argvs: list[tuple[str, ...]]) -> None:
    """All that was run was planned, and all that is planned without a condition was run; a plan asks no host."""
    planned = list(plan(replace(lab, run=SimpleNamespace(host=None, evidence=None))))  # type: ignore[arg-type]
    strange = unplanned(argvs, planned)
    assert strange == [], strange
    needed = [one for one in planned if isinstance(one, Command) and not one.when]
    missing = [one.argv for one in needed if unplanned(argvs, [one]) == argvs]
    assert missing == [], missing


def pattern(word: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, re.split(r"<[a-z ]+>", word))), re.DOTALL)


def matches(argv: tuple[str, ...], words: list[re.Pattern[str]]) -> bool:
    return len(argv) == len(words) and all(word.fullmatch(text) for word, text in zip(words, argv, strict=True))
