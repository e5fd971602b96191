"""Options, environment and ini settings of pytest, resolved once into a frozen object."""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path

import pytest

from pytest_amap.commands import Deadlines
from pytest_amap.options import HOME, REPOSITORY, SHOWN_HOME, SHOWN_PID, Options
from pytest_amap.results import Declared

SETTINGS = {
    "amap_home": ("AMAP_OPENSHELL_HOME when neither option nor variable is given", ""),
    "amap_openshell": ("the OpenShell binary", Options.openshell),
    "amap_gateway": ("the gateway's binary, for its preflight", Options.gateway),
    "amap_docker": ("the container runtime", Options.docker),
    "amap_image": ("tag of the agent image", Options.image),
    "amap_port": ("the gateway's port", str(Options.port)),
    "amap_label_prefix": ("prefix of the labels that OpenShell puts on containers", Options.label_prefix),
    "amap_host_alias": ("the name under which sandboxes' supervisors know the host", Options.host_alias),
    "amap_restart_policy": ("put --restart-policy on-failure into the create commands: yes or no", "no"),
    "amap_posture_accepted": ("your statement of what files cannot show (environment AMAP_POSTURE_ACCEPTED)", ""),
}

DEADLINES = {
    "command": "a command without a deadline of its own",
    "build": "docker build",
    "create": "sandbox create",
    "exec": "one program in a sandbox",
    "ready": "a sandbox's session to be ready",
    "phase": "a sandbox to stop or to start",
    "roster": "the router to publish the roster, and to end one poll",
    "delivery": "the router to place a request, and the receiver to say what became of it",
    "reply": "the receiver's reply",
    "log": "a line to appear in a sandbox's log",
}


options_key = pytest.StashKey[Options]()


def add(parser: pytest.Parser) -> None:
    group = parser.getgroup(
        "amap",
        "qualify a live OpenShell host for AMAP\n"
        "  exit code: 0 every selected check is PASS, 1 a step failed or a gate refused,\n"
        "  3 every step completed and some check is FAIL or UNKNOWN; the others are pytest's own",
    )
    group.addoption("--apply", action="store_true", help="run for real; without it the live checks are a dry run")
    group.addoption("--rehearsal", action="store_true", help="with --apply: run against the embedded rehearsal host")
    group.addoption(
        "--fault",
        action="append",
        default=[],
        metavar="NAME",
        help="plant a defect in the rehearsal host; 'help' lists them",
    )
    group.addoption("--replay", metavar="DIR", help="judge again from the evidence in DIR; nothing is run")
    group.addoption("--from-step", type=int, metavar="N", help="steps before N are looked at, never done")
    group.addoption(
        "--only-step", type=int, metavar="N", help="do step N alone; 8 is the checks, 9 draws the report again"
    )
    group.addoption("--amap-home", metavar="DIR", help="the deployment's directory (default: $AMAP_OPENSHELL_HOME)")
    group.addoption(
        "--fleet", metavar="FILE", help="the fleet policy (default: the home's own, else examples/fleet.json)"
    )
    group.addoption(
        "--declare",
        action="append",
        default=[],
        metavar="'WHAT: REASON'",
        help="declare a document prefix (such as directory-) or a check as not covered here; repeatable",
    )
    for name, (text, default) in SETTINGS.items():
        parser.addini(name, f"{text} (default: {default or 'none'})", default=default)
    parser.addini("amap_declared", "declarations, one 'WHAT: REASON' a line", type="linelist", default=[])
    parser.addini("amap_secrets", "names of more environment variables that hold secrets", type="args", default=[])
    for deadline in fields(Deadlines):
        text = f"seconds for {DEADLINES[deadline.name]} (default: {deadline.default:g})"
        parser.addini(f"amap_deadline_{deadline.name}", text, default="")


def resolve(config: pytest.Config) -> Options:
    """The session's options; UsageError for a value that cannot be used."""
    option, environ = config.option, os.environ
    for name in ("replay", "amap_home", "fleet"):
        if getattr(option, name) == "":  # a script's unset variable: what would be done instead could end with 0
            raise pytest.UsageError(f"--{name.replace('_', '-')} takes a path, saw an empty one")

    def setting(name: str) -> str:
        return str(config.getini(name)).strip()

    home = option.amap_home or environ.get(HOME) or setting("amap_home")
    if environ.get(SHOWN_HOME):
        home = environ[HOME]
    elif home and option.amap_home:
        home = os.path.abspath(os.path.expanduser(home))
    return Options(
        apply=option.apply,
        rehearsal=option.rehearsal,
        faults=tuple(option.fault),
        replay=Path(option.replay) if option.replay else None,
        from_step=step_number("--from-step", option.from_step),
        only_step=step_number("--only-step", option.only_step),
        home=home,
        shown_home=environ.get(SHOWN_HOME) or home,
        fleet=os.path.abspath(option.fleet) if option.fleet else "",
        declared=tuple(declaration(text) for text in [*config.getini("amap_declared"), *option.declare]),
        openshell=setting("amap_openshell"),
        gateway=setting("amap_gateway"),
        docker=setting("amap_docker"),
        image=setting("amap_image"),
        port=whole("amap_port", setting("amap_port")),
        label_prefix=setting("amap_label_prefix"),
        host_alias=setting("amap_host_alias"),
        restart_policy=setting("amap_restart_policy").lower() in ("yes", "true", "1", "on"),
        posture_accepted=environ.get("AMAP_POSTURE_ACCEPTED", "").strip() or setting("amap_posture_accepted"),
        pid=int(environ.get(SHOWN_PID) or os.getpid()) if environ.get(SHOWN_HOME) else os.getpid(),
        secrets=tuple(config.getini("amap_secrets")),
        deadlines=deadlines(config),
        repository=Path(environ.get(REPOSITORY) or config.rootpath),
    )


def step_number(name: str, value: int | None) -> int | None:
    if value is not None and not 0 <= value <= 9:
        raise pytest.UsageError(f"{name} takes a step from 0 to 9, saw {value}")
    return value


def whole(name: str, value: str) -> int:
    if not value.isascii() or not value.isdigit() or not 0 < int(value) < 65536:
        raise pytest.UsageError(f"ini setting {name} takes a port from 1 to 65535, saw {value!r}")
    return int(value)


def deadlines(config: pytest.Config) -> Deadlines:
    given = {}
    for deadline in fields(Deadlines):
        text = str(config.getini(f"amap_deadline_{deadline.name}")).strip()
        if not text:
            continue
        try:
            given[deadline.name] = float(text)
        except ValueError:
            given[deadline.name] = -1.0
        if not 0 < given[deadline.name] < 1e6:
            raise pytest.UsageError(f"ini setting amap_deadline_{deadline.name} takes seconds, saw {text!r}")
    return Deadlines(**given)


def declaration(text: str) -> Declared:
    what, _, reason = text.partition(":")
    if not what.strip() or not reason.strip():
        raise pytest.UsageError(
            f"--declare takes 'WHAT: REASON', saw {text!r}; a declaration without a reason declares nothing"
        )
    return Declared(what.strip(), reason.strip())
