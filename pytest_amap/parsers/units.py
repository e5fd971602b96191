"""The gateway's service as `systemctl --user` tells it, and what its argv and environment select.

Ask for `-p` and `PROPERTIES`, with TZ=UTC, since a zone's letters do not tell which zone it is.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from . import Unreadable, shown
from .environment_files import LIMIT, NAME
from .text import lines, says

PROPERTIES = (
    "ExecStart",
    "Environment",
    "EnvironmentFiles",
    "UnsetEnvironment",
    "DropInPaths",
    "ActiveState",
    "ActiveEnterTimestamp",
)
PLACES = ("XDG_CONFIG_HOME", "HOME")
"""Variables that move the user's configuration folder; the service may have others than this terminal."""

_FILE = re.compile(r"(?P<path>\S.*?) \(ignore_errors=(?:yes|no)\)")
_ASSIGNMENT = re.compile(rf"(?P<name>{NAME.pattern})=(?P<value>.*)", re.ASCII)
_VARIABLE = re.compile(rf"\$(?:\$|\{{({NAME.pattern})\}})", re.ASCII)
_STAMP = re.compile(r"[A-Z][a-z]{2} (?P<day>\d{4}-\d{2}-\d{2}) (?P<time>\d{2}:\d{2}:\d{2}) UTC", re.ASCII)


@dataclass(frozen=True)
class Unit:
    """One service as systemd runs it; `argv` is empty where there is no such service.

    What is in `environment_files` overrides `environment`. `state` is empty where the service is known from its files
    alone, and `doubts` say what of them could not be decided.
    """

    argv: tuple[str, ...]
    environment: dict[str, str]
    environment_files: tuple[str, ...]
    drop_ins: tuple[str, ...]
    state: str
    active_since: str
    unset: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()

    @property
    def since(self) -> str:
        """`active_since` in ISO 8601; "" where systemd gave no time in UTC, or the service does not run."""
        found = _STAMP.fullmatch(self.active_since)
        return f"{found['day']}T{found['time']}Z" if found and self.state == "active" else ""


def unit(stdout: str) -> Unit | Unreadable:
    """The answer of `systemctl --user show`; unreadable where there is no user bus (A16)."""
    found: dict[str, list[str]] = {}
    for line in lines(stdout):
        name, equals, value = line.partition("=")
        if equals and name in PROPERTIES:
            found.setdefault(name, []).append(value.strip())
    started = [value for value in found.get("ExecStart", []) if value]
    if not found or len(started) > 1:
        return Unreadable(f"expected the properties of one service, saw {shown(stdout.strip())}")
    argv = _argv(started[0]) if started else ()
    environment = _environment(" ".join(found.get("Environment", [])))
    files = [_FILE.fullmatch(value) for value in found.get("EnvironmentFiles", []) if value]
    unset = split(" ".join(found.get("UnsetEnvironment", [])))
    if argv is None or environment is None or unset is None or None in files:
        return Unreadable(f"expected ExecStart, Environment and EnvironmentFiles, saw {shown(stdout.strip())}")
    return Unit(
        argv=argv,
        environment=environment,
        environment_files=tuple(file["path"] for file in files if file),
        drop_ins=tuple(" ".join(found.get("DropInPaths", [])).split()),
        state="".join(found.get("ActiveState", [])[-1:]),
        active_since="".join(found.get("ActiveEnterTimestamp", [])[-1:]),
        unset=unset,
    )


def without_bus(stderr: str) -> bool:
    """Whether systemctl reached no service manager; then nothing is known of any service."""
    return says(stderr, "Failed to connect to") and says(stderr, "bus")


def manager_environment(stdout: str) -> dict[str, str] | Unreadable:
    """The answer of `systemctl --user show-environment`: what every service of this user is started with."""
    read = {}
    for line in lines(stdout):
        found = _ASSIGNMENT.fullmatch(line)
        # Newer systemd prints a value with control characters as $'...'; older ones let it run over lines.
        value = split(found["value"].removeprefix("$")) if found and found["value"][:2] in ("$'", '$"') else None
        if found:
            read[found["name"]] = "".join(value) if value is not None else found["value"]
        elif "OPENSHELL_" in line:
            return Unreadable(f"expected lines such as NAME=VALUE, saw {shown(line)}")
    return read if read else Unreadable(f"expected the user manager's environment, saw {shown(stdout.strip())}")


def concerns(name: str) -> bool:
    """Whether a variable says something of the gateway or of its files' place."""
    return name.startswith("OPENSHELL_") or name in (*PLACES, "DOCKER_HOST")


def withheld(stdout: str) -> str:
    """The manager's environment for a record: what does not concern the gateway by its name alone."""
    kept = []
    for line in stdout.splitlines():
        found = _ASSIGNMENT.fullmatch(line)
        if found is None:
            kept += ["[not kept]"] if line else []
        else:
            kept.append(line if concerns(found["name"]) else f"{found['name']}=[not kept]")
    return "".join(f"{line}\n" for line in kept)


def flags(argv: Sequence[str]) -> dict[str, str]:
    """The flags of an argv, `--name value`, `--name=value` or `-n value`; "true" without a value."""
    found = {}
    for word, after in zip(argv, [*argv[1:], "--"], strict=False):
        name, equals, value = word.partition("=")
        if name.startswith("-") and len(name.strip("-")) > 0:
            found[name] = value if equals else "true" if after.startswith("-") else after
    return found


def started(argv: Sequence[str], environment: Mapping[str, str]) -> tuple[str, ...] | None:
    """An ExecStart's argv with its variables: `$NAME` alone is words, `${NAME}` is text, `$$` a dollar; None where a
    value cannot be split into words."""
    words: list[str] = []
    for word in argv:
        if word.startswith("$") and NAME.fullmatch(word, 1):
            more = split(environment.get(word[1:], ""))
            if more is None:
                return None
            words += more
        else:
            words.append(_VARIABLE.sub(lambda one: environment.get(one[1], "") if one[1] else "$", word))
    return tuple(words)


def config_file(argv: Sequence[str], environment: Mapping[str, str]) -> str | None:
    """The configuration file that is selected, or None for the one in the user's folder."""
    return flags(argv).get("--config") or environment.get("OPENSHELL_GATEWAY_CONFIG") or None


def without(environment: Mapping[str, str], unset: Sequence[str]) -> dict[str, str]:
    """What UnsetEnvironment= leaves: it takes away a NAME, or a NAME=VALUE of that very value."""
    return {name: value for name, value in environment.items() if name not in unset and f"{name}={value}" not in unset}


def _argv(value: str) -> tuple[str, ...] | None:
    """The argv in `{ path=... ; argv[]=... ; ignore_errors=no ; ... }`."""
    _, start, rest = value.partition(" argv[]=")
    argv, end, _ = rest.partition(" ; ignore_errors=")
    return split(argv) if start and end else None


def _environment(value: str) -> dict[str, str] | None:
    words = split(value)
    if words is None or not all("=" in word for word in words):
        return None
    # shlex leaves the dollar of a $'...' quote, which newer systemd prints for values with control characters.
    return {name.removeprefix("$"): rest for name, _, rest in (word.partition("=") for word in words)}


def split(text: str) -> tuple[str, ...] | None:
    """Words as a shell splits them; None where a quote stays open."""
    if len(text) > LIMIT:
        return None
    try:
        return tuple(shlex.split(text))
    except ValueError:
        return None
