"""The gateway's posture as its files state it: which gateway.toml it uses, and what its environment overrides."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from pytest_amap.host import files, service_files
from pytest_amap.host.service_files import Manager, followed, unread, variables
from pytest_amap.observations import Read
from pytest_amap.parsers import Unreadable, gateway_toml, units
from pytest_amap.parsers.gateway_settings import Finding, State

CONFIG = "OPENSHELL_GATEWAY_CONFIG"
PROGRAM = "openshell-gateway"
OWN = ("gateway.toml", "gateway.env")


@dataclass(frozen=True)
class GatewayFiles:
    """`toml` is the file that was found by `how`; `overrides` are settings that win over it, by variable or flag.

    `unread` says which of the files that may hold overrides could not be read, or not every line of it; `undecided`
    what of the service could not be decided, so that it may override the file or name another one.
    """

    toml: Read
    how: str
    environment: Read | None = None
    overrides: dict[str, str] = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    drop_ins: tuple[str, ...] = ()

    @property
    def hidden(self) -> tuple[str, ...]:
        """Where something may stand that was not seen: another file may be the one that counts."""
        return (*self.unread, *self.undecided)

    @property
    def file(self) -> gateway_toml.GatewayFile | Unreadable:
        """What the file says; an absent one is one with defaults, any other problem is unreadable."""
        if self.toml.problem == "ENOENT":
            return gateway_toml.gateway_file("")
        if self.toml.text is None:
            return Unreadable(f"{os.path.basename(self.toml.path)}: {self.toml.problem}")
        return gateway_toml.gateway_file(self.toml.text)

    def findings(self, port: int, alias: str) -> tuple[Finding, ...]:
        """Every setting the posture rests on."""
        return gateway_toml.findings(self.file, self.overrides, port, alias)

    def others(self) -> tuple[str, ...]:
        """Every other setting, named."""
        return gateway_toml.others(self.file, self.overrides)


def locate(
    environ: Mapping[str, str],
    unit: units.Unit | None = None,
    manager: Manager | None = None,
    program: str = PROGRAM,
) -> GatewayFiles:
    """The file the gateway reads: its --config, its OPENSHELL_GATEWAY_CONFIG, else the user's configuration folder.

    Flags beat environment, environment beats the file (OpenShell docs/how-it-works/gateways/configuration.mdx:11, 32).
    `unit` and `manager` are what systemd answered; without an answer their files are read. Environment= beats the
    manager's environment and an environment file beats both (systemd.exec(5)); gateway.env counts also where the unit
    does not list it, and then for what nothing else sets.
    """
    unsaid = []
    if unit is None:
        unit, manager = service_files.unit(environ), service_files.manager(environ)
        unsaid = elsewhere(environ)
    environment = in_folder(environ, "gateway.env", followed)
    read = [environment, *environment_files(unit)]
    service = variables(environment) | (manager.environment if manager else {}) | unit.environment
    for one in read[1:]:
        service |= variables(one)
    service = units.without(service, unit.unset)
    argv, doubts = command(unit, service, program)
    moved = {name: service[name] for name in units.PLACES if service.get(name)}
    known = unit.state == "active" and manager is not None and not manager.doubts
    places = {"HOME": environ.get("HOME", ""), **moved} if known else {**environ, **moved}
    toml, how, more = configuration(units.config_file(argv, service), places, unit, environ.get(CONFIG))
    settings = {name: service[name] for name in service if units.concerns(name) and name not in units.PLACES}
    return GatewayFiles(
        toml=toml,
        how=how,
        environment=environment,
        overrides=settings | units.flags(argv[1:]),
        unread=tuple(dict.fromkeys(filter(None, map(unread, read)))),
        undecided=tuple(dict.fromkeys([*(manager.doubts if manager else ()), *doubts, *more, *unsaid])),
        drop_ins=unit.drop_ins,
    )


def command(unit: units.Unit, service: Mapping[str, str], program: str) -> tuple[tuple[str, ...], list[str]]:
    """The argv as it is started, and what of it is not decided: another program may hand the gateway anything."""
    doubts = list(unit.doubts)
    argv = units.started(unit.argv, service)
    if argv is None:
        return (), [*doubts, "its ExecStart= has a variable that cannot be split into words"]
    if argv and os.path.basename(argv[0]) not in (PROGRAM, os.path.basename(program)):
        doubts.append(f"its service starts {os.path.basename(argv[0])}, which may hand {PROGRAM} settings of its own")
    return argv, doubts


def configuration(
    named: str | None, places: Mapping[str, str], unit: units.Unit, terminal: str | None
) -> tuple[Read, str, list[str]]:
    """The gateway.toml that the service names, or this terminal, or the one in the user's folder; and a doubt.

    A service that runs does not know this terminal's variables. One of which that is not known may be started from a
    terminal too: where both name a file it must be the same.
    """
    own = at(named) if named else in_folder(places, "gateway.toml")
    how = "named by the gateway's own settings" if named else "the user's configuration folder"
    if unit.state == "active" or not terminal:
        return own, how, []
    doubt = f"the service and this terminal's {CONFIG} name different files"
    doubts = [doubt] if unit.argv and terminal != own.path else []
    return (own, how, doubts) if named else (at(terminal), f"named by {CONFIG} in this terminal", doubts)


def elsewhere(environ: Mapping[str, str]) -> list[str]:
    """Files of the gateway in a second folder, where systemd could not say which one is its own."""
    paths = [os.path.join(folder, "openshell", name) for folder in service_files.configs(environ)[1:] for name in OWN]
    there = [path for path in paths if os.path.isabs(path) and files.look(path).kind != "absent"]
    return [f"{path} is there too, and which folder is the service's is not known" for path in there]


def at(path: str) -> Read:
    return files.read(path) if os.path.isabs(path) else Read(path, None, "named by a relative path")


def in_folder(environ: Mapping[str, str], name: str, read: Callable[[str], Read] = files.read) -> Read:
    """A file of OpenShell's in the user's configuration folder; the gateway itself refuses a symlink there."""
    folder = service_files.config(environ)
    if not os.path.isabs(folder):
        return Read(name, None, "not located: neither XDG_CONFIG_HOME nor HOME is an absolute path")
    return read(os.path.join(folder, "openshell", name))


def environment_files(unit: units.Unit) -> Iterator[Read]:
    """The unit's environment files in their order; systemd takes a pattern for every file that fits it."""
    for path in unit.environment_files:
        yield from map(followed, sorted(glob.glob(path)) or [path])


def problems(found: GatewayFiles, port: int, alias: str) -> list[tuple[str, str]]:
    """What the files state against the accepted posture, each with its remedy. What is undecided is step 2's question,
    which can ask systemd."""
    name = os.path.basename(found.toml.path)
    if found.toml.problem == "ENOENT":
        return [(f"{found.toml.path} is not there", "write it as step 2 says; amap gateway prints what it must hold")]
    what_wins = f"what overrides {name}"
    wrong = [finding for finding in found.findings(port, alias) if not finding.ok]
    texts = [
        f"{name} must be readable, saw {finding.seen}"
        if finding.state is State.UNREADABLE and isinstance(found.file, Unreadable)
        else f"{what_wins if finding.name in found.overrides else name}: {finding.name} must be {finding.expected}, "
        f"saw {finding.seen}"
        for finding in wrong
    ]
    remedy = "mend it and restart the gateway; amap gateway prints the merge"
    return [
        *((f"{why}, so what overrides {name} is not known", "mend that file") for why in found.unread),
        *((text, remedy) for text in dict.fromkeys(texts)),
    ]
