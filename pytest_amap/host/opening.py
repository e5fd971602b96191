"""Open a run: survey first, and files only when nothing is missing or wrong."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from pytest_amap.commands import Commands
from pytest_amap.evidence import writeonce
from pytest_amap.evidence.recorded import EvidenceError
from pytest_amap.evidence.redaction import Redactor
from pytest_amap.evidence.store import Evidence
from pytest_amap.host import files, lock, survey
from pytest_amap.host.host import Host
from pytest_amap.host.lab import Lab
from pytest_amap.host.run import Run
from pytest_amap.options import Options
from pytest_amap.report import places


def open_run(run: Run, environ: Mapping[str, str]) -> Lab:
    """Survey the host; when all is good, make the home and its evidence, and the doorway to the host."""
    options = run.options
    run.kind = survey.kind_of(options)
    ground = survey.survey(options, environ)
    lab = lab_of(run, ground)
    if ground.problems:
        return lab
    assert ground.home is not None
    try:
        make_home(ground, run.kind, options.pid)
        evidence = Evidence.open(ground.home.evidence, redactor_of(options, environ), host=run.kind)
    except (EvidenceError, lock.Held, OSError) as error:
        ground.problems.append(survey.Problem(options.shown(str(error)), "mend that and run again"))
        return lab
    for held in ground.locks:
        if isinstance(held, lock.HomeLock) and held.note:
            run.left.tell(held.note)
    run.evidence = evidence
    run.places = places_of(options, ground, environ)
    for name in evidence.abandoned:
        run.left.tell(f"run {name} had not ended and was sealed as abandoned")
    run.host = Host(
        evidence, environ=environ, cwd=os.fspath(options.repository), key=environ.get(survey.KEY), say=run.say
    )
    return lab


def places_of(options: Options, ground: survey.Ground, environ: Mapping[str, str]) -> dict[str, str]:
    """What stands in a report for the paths of this host."""
    siblings = {name: os.fspath(sibling.path) for name, sibling in ground.siblings.items()}
    homes = (options.home, options.shown_home)
    return places.of(homes, os.fspath(options.repository), siblings, environ.get("HOME", ""))


def make_home(ground: survey.Ground, kind: str, pid: int) -> None:
    """The home is made by the first write of a run, and marked with the kind of its runs; kit prepare sets its mode."""
    assert ground.home is not None
    path: Path = ground.home.path
    if not path.exists():
        path.mkdir(mode=0o755)
        path.chmod(0o755)
        ground.locks.append(lock.HomeLock(path, pid))
    if files.look(os.fspath(path / survey.KIND)).kind == "absent":
        writeonce.create(path, ".", survey.KIND, f"{kind}\n".encode())


def redactor_of(options: Options, environ: Mapping[str, str]) -> Redactor:
    names = (survey.KEY, "CLAUDE_CODE_MESSAGING_TOKEN", *options.secrets)
    return Redactor({name: environ[name] for name in names if environ.get(name, "").strip()})


def lab_of(run: Run, ground: survey.Ground) -> Lab:
    """The lab with this run's names; placeholders stand where a dry run does not know one."""
    options = run.options
    workspace = ground.fleet.workspace if ground.fleet else "default"
    commands = Commands(options.openshell, options.gateway, options.docker, workspace, options.deadlines)
    return Lab(options=options, ground=ground, commands=commands, run=run)
