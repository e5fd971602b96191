"""The gateway's posture as its files state it: which gateway.toml it uses, and what its environment overrides."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_amap.host import files
from pytest_amap.observations import Read
from pytest_amap.parsers import Unreadable, gateway_toml, units
from pytest_amap.parsers.gateway_toml import Finding

CONFIG = "OPENSHELL_GATEWAY_CONFIG"


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
    """
    folder = environ.get("XDG_CONFIG_HOME") or os.path.join(environ.get("HOME", ""), ".config")
    environment = files.read(os.path.join(folder, "openshell", "gateway.env"))
    overrides = dict(unit.environment) if unit else {}
    read = [*(files.read(path) for path, _ in (unit.environment_files if unit else ())), environment]
    for one in read:
        overrides |= variables(one)
    named = units.config_file(unit.argv if unit else (), overrides) or environ.get(CONFIG)
    how = "named by the gateway's own settings" if named else "the user's configuration folder"
    if unit:
        overrides |= units.flags(unit.argv)
    toml = files.read(named or os.path.join(folder, "openshell", "gateway.toml"))
    return GatewayFiles(toml, how, environment, overrides, tuple(dict.fromkeys(filter(None, map(unread, read)))))


def variables(read: Read) -> dict[str, str]:
    """The OPENSHELL_* variables of an environment file; nothing else of it is looked at."""
    found = units.environment_file(read.text) if read.text is not None else None
    if found is None or isinstance(found, Unreadable):
        return {}
    return {name: value for name, value in found.values.items() if name.startswith("OPENSHELL_")}


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
    return [
        (
            f"{name}: {finding.name} must be {finding.expected}, saw {finding.seen}",
            "mend it and restart the gateway; amap gateway prints the merge",
        )
        for finding in found.findings(port)
        if not finding.ok
    ]
