"""The gateway's posture as its files state it: which gateway.toml it uses, and what its environment overrides."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pytest_amap.host import files
from pytest_amap.observations import Read
from pytest_amap.parsers import Unreadable, gateway_toml, units
from pytest_amap.parsers.gateway_toml import Finding

CONFIG = "OPENSHELL_GATEWAY_CONFIG"
SETTINGS = "OPENSHELL_"
PLACES = ("XDG_CONFIG_HOME", "HOME")
"""Variables that move the user's configuration folder; the service may have others than this terminal."""


@dataclass(frozen=True)
class GatewayFiles:
    """`toml` is the file that was found by `how`; `overrides` are settings that win over it, by variable or flag.

    `unread` says which of the files that may hold overrides could not be read, or not every line of it.
    """

    toml: Read
    how: str
    environment: Read | None = None
    overrides: dict[str, str] = field(default_factory=dict)
    unread: tuple[str, ...] = ()

    def findings(self, port: int) -> tuple[Finding, ...]:
        """Every setting the posture rests on; an absent file is one with defaults, any other problem is unreadable."""
        if self.toml.problem == "ENOENT":
            read: gateway_toml.GatewayFile | Unreadable = gateway_toml.gateway_file("")
        elif self.toml.text is None:
            read = Unreadable(f"{os.path.basename(self.toml.path)}: {self.toml.problem}")
        else:
            read = gateway_toml.gateway_file(self.toml.text)
        return gateway_toml.findings(read, self.overrides, port)


def locate(environ: Mapping[str, str], unit: units.Unit | None = None) -> GatewayFiles:
    """The file the gateway reads: its --config, its OPENSHELL_GATEWAY_CONFIG, else the user's configuration folder.

    Flags beat environment, environment beats the file (OpenShell docs/how-it-works/gateways/configuration.mdx:11, 32).
    In a unit an environment file beats Environment=; gateway.env counts also where the unit does not list it, and
    then for what nothing else sets.
    """
    environment = in_folder(environ, "gateway.env")
    read = [environment, *environment_files(unit)]
    service = variables(environment) | (unit.environment if unit else {})
    for one in read[1:]:
        service |= variables(one)
    argv = unit.argv if unit else ()
    toml, how = configuration(units.config_file(argv, service), environ, service)
    overrides = {name: value for name, value in service.items() if name.startswith(SETTINGS)} | units.flags(argv)
    return GatewayFiles(toml, how, environment, overrides, tuple(dict.fromkeys(filter(None, map(unread, read)))))


def configuration(named: str | None, environ: Mapping[str, str], service: Mapping[str, str]) -> tuple[Read, str]:
    """The gateway.toml that is named, by the service or else by this terminal, or the one in the user's folder."""
    how = "named by the gateway's own settings" if named else f"named by {CONFIG} in this terminal"
    if path := named or environ.get(CONFIG):
        return (files.read(path) if os.path.isabs(path) else Read(path, None, "named by a relative path")), how
    moved = {name: service[name] for name in PLACES if service.get(name)}
    return in_folder({**environ, **moved}, "gateway.toml"), "the user's configuration folder"


def in_folder(environ: Mapping[str, str], name: str) -> Read:
    """A file of OpenShell's in the user's configuration folder."""
    folder = environ.get("XDG_CONFIG_HOME") or os.path.join(environ.get("HOME", ""), ".config")
    if not os.path.isabs(folder):
        return Read(name, None, "not located: neither XDG_CONFIG_HOME nor HOME is an absolute path")
    return files.read(os.path.join(folder, "openshell", name))


def environment_files(unit: units.Unit | None) -> Iterator[Read]:
    """The unit's environment files in their order; systemd takes a pattern for every file that fits it."""
    for path, _ in unit.environment_files if unit else ():
        yield from map(files.read, sorted(glob.glob(path)) or [path])


def variables(read: Read) -> dict[str, str]:
    """What an environment file says of the gateway's settings and of their place; nothing else is looked at."""
    found = units.environment_file(read.text) if read.text is not None else None
    if found is None or isinstance(found, Unreadable):
        return {}
    return {name: value for name, value in found.values.items() if name.startswith(SETTINGS) or name in PLACES}


def unread(read: Read) -> str:
    """Why overrides may hide in an environment file, or ""; one that is not there hides none."""
    name = os.path.basename(read.path)
    if read.text is None:
        return "" if read.problem == "ENOENT" else f"{name}: {read.problem}"
    found = units.environment_file(read.text)
    if isinstance(found, Unreadable):
        return f"{name}: {found.why}"
    odd = [line for line in found.unparsed if "OPENSHELL_" in line]
    return f"{name}: a line that is no assignment names OPENSHELL_" if odd else ""


def problems(found: GatewayFiles, port: int) -> list[tuple[str, str]]:
    """What the files state against the accepted posture, each with its remedy."""
    name = os.path.basename(found.toml.path)
    if found.toml.problem == "ENOENT":
        return [(f"{found.toml.path} is not there", "write it as step 2 says; amap gateway prints what it must hold")]
    wrong = [finding for finding in found.findings(port) if not finding.ok]
    texts = [
        f"{name} must be readable, saw {finding.seen}"
        if finding.state is gateway_toml.State.UNREADABLE
        else f"{name}: {finding.name} must be {finding.expected}, saw {finding.seen}"
        for finding in wrong
    ]
    remedy = "mend it and restart the gateway; amap gateway prints the merge"
    return [
        *((f"{why}, so what overrides {name} is not known", "mend that file") for why in found.unread),
        *((text, remedy) for text in dict.fromkeys(texts)),
    ]
