"""Options, environment and ini settings, resolved once into a frozen object; and the refusals of unsafe mixes."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field, fields
from pathlib import Path

import pytest

from pytest_amap.commands import Deadlines
from pytest_amap.results import Declared

HOME, REPOSITORY = "AMAP_OPENSHELL_HOME", "AMAP_REPOSITORY"
SHOWN_HOME, SHOWN_PID = "AMAP_SHOWN_HOME", "AMAP_SHOWN_PID"

SETTINGS = {
    "amap_home": ("AMAP_OPENSHELL_HOME when neither option nor variable is given", ""),
    "amap_openshell": ("the OpenShell binary", "openshell"),
    "amap_gateway": ("the gateway's binary, for its preflight", "openshell-gateway"),
    "amap_docker": ("the container runtime", "docker"),
    "amap_image": ("tag of the agent image", "amap-openshell-agent"),
    "amap_port": ("the gateway's port", "17670"),
    "amap_label_prefix": ("prefix of the labels that OpenShell puts on containers", "openshell.ai"),
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


@dataclass(frozen=True)
class Options:
    """What this session was asked to do. CLI beats environment beats ini."""

    apply: bool = False
    rehearsal: bool = False
    faults: tuple[str, ...] = ()
    replay: Path | None = None
    from_step: int | None = None
    only_step: int | None = None
    home: str = ""
    """AMAP_OPENSHELL_HOME as commands and records see it; "" when nobody named one."""
    shown_home: str = ""
    """The same place as the person knows it."""
    fleet: str = ""
    declared: tuple[Declared, ...] = ()
    openshell: str = "openshell"
    gateway: str = "openshell-gateway"
    docker: str = "docker"
    image: str = "amap-openshell-agent"
    port: int = 17670
    label_prefix: str = "openshell.ai"
    restart_policy: bool = False
    posture_accepted: str = ""
    pid: int = 0
    """This run's process as the person knows it: in a rehearsal the one outside its world."""
    secrets: tuple[str, ...] = ()
    """Names of further environment variables whose values must never be written."""
    deadlines: Deadlines = field(default_factory=Deadlines)
    repository: Path = Path()
    """The checkout as commands see it: their working directory."""

    def acts_on(self, step: int) -> bool:
        """Whether a step may act; one outside the selection is looked at, never done."""
        if self.only_step is not None:
            return step == self.only_step
        return self.from_step is None or step >= self.from_step

    def shown(self, text: str) -> str:
        """`text` with the home as the person knows it."""
        return text.replace(self.home, self.shown_home) if self.home and self.shown_home else text


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
        help="declare a document prefix (such as directory-) as not covered here; repeatable",
    )
    for name, (text, default) in SETTINGS.items():
        parser.addini(name, f"{text} (default: {default or 'none'})", default=default)
    parser.addini("amap_declared", "declarations, one 'WHAT: REASON' a line", type="linelist", default=[])
    parser.addini("amap_secrets", "names of more environment variables that hold secrets", type="args", default=[])
    for deadline in fields(Deadlines):
        text = f"seconds for {DEADLINES[deadline.name]} (default: {deadline.default:g})"
        parser.addini(f"amap_deadline_{deadline.name}", text, default="")


def looks_only(config: pytest.Config) -> bool:
    """Whether pytest was asked to tell about itself, so that no session of ours runs."""
    names = (
        "help",
        "version",
        "collectonly",
        "markers",
        "showfixtures",
        "show_fixtures_per_test",
        "setupplan",
        "cacheshow",
    )
    return any(getattr(config.option, name, False) for name in names)


def resolve(config: pytest.Config) -> Options:
    """The session's options; UsageError for a value that cannot be used."""
    option, environ = config.option, os.environ

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


REFUSED_WITH_A_RUN: tuple[tuple[str, object, str], ...] = (
    ("numprocesses", None, "-n/--dist/--tx: the checks share one host and run in order; drop it"),
    ("dist", "no", "-n/--dist/--tx: the checks share one host and run in order; drop it"),
    ("tx", [], "-n/--dist/--tx: the checks share one host and run in order; drop it"),
    ("forked", False, "--forked: the checks share session fixtures; drop it"),
    ("reruns", None, "--reruns: a rerun hides a FAIL; drop it and run again with -k"),
    ("count", None, "--count: each check is asked once a run; drop it"),
    (
        "ignore_unknown_dependency",
        False,
        "--ignore-unknown-dependency would run a check whose premise is unknown; drop it",
    ),
)

FORGETFUL = ("lf", "stepwise", "stepwise_skip", "stepwise_reset")
"""The last two turn --sw on by themselves, and only later."""


def refuse(config: pytest.Config, options: Options) -> None:
    """UsageError for what would break the contract; each message says what to do instead."""
    if options.rehearsal and options.replay:
        raise pytest.UsageError("--rehearsal runs a host and --replay has none: give one of them")
    if options.faults and not options.rehearsal:
        raise pytest.UsageError("--fault plants a defect in the rehearsal host: add --rehearsal")
    if options.apply and options.replay:
        raise pytest.UsageError("--apply runs commands and --replay runs none: give one of them")
    if options.from_step is not None and options.only_step is not None:
        raise pytest.UsageError("--from-step and --only-step exclude each other: give one of them")
    if options.replay and (options.from_step is not None or options.only_step is not None):
        raise pytest.UsageError("--replay runs no step: drop --from-step and --only-step; -k selects checks")
    if not (options.apply or options.replay) or looks_only(config):
        return
    for name, harmless, way_out in REFUSED_WITH_A_RUN:
        value = getattr(config.option, name, harmless)
        if value not in (harmless, None, False, 0, 1 if name == "count" else None):
            raise pytest.UsageError(f"{'--apply' if options.apply else '--replay'} refuses {way_out}")
    if not options.apply:
        return
    for plugin, mark in (("pytest_dependency", "dependency"), ("pytest_timeout", "timeout")):
        manager = config.pluginmanager
        if (
            manager.is_blocked(mark)
            or manager.is_blocked(plugin)
            or not (manager.has_plugin(mark) or manager.has_plugin(plugin))
        ):
            raise pytest.UsageError(
                f"--apply needs pytest-{mark}, and -p no:{mark} (or its absence) takes it away: load it again"
            )
    if any(getattr(config.option, name, False) for name in FORGETFUL):
        raise pytest.UsageError(
            f"--apply refuses --lf and --sw: they forget a check that is UNKNOWN; {selecting_not_pass(options)}"
        )


def selecting_not_pass(options: Options) -> str:
    """For --lf: the -k that selects what was not PASS in the newest run of this home."""
    try:
        newest = Path(options.home) / "evidence" / "latest" / "results.json"
        tests = json.loads(newest.read_text())["results"]["tests"]
        names = [test["name"] for test in tests if test["rawStatus"] != "PASS"]
    except (OSError, ValueError, KeyError, TypeError):
        return "select with -k instead"
    return f"give -k '{' or '.join(names)}' instead" if names else "nothing of the newest run is short of PASS"
