"""The gateway's service: `systemctl --user show` and environment files.

Ask for `-p ExecStart,Environment,EnvironmentFiles,DropInPaths,ActiveState,ActiveEnterTimestamp`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from . import Unreadable, shown
from .text import lines, says

_PROPERTIES = ("ExecStart", "Environment", "EnvironmentFiles", "DropInPaths", "ActiveState", "ActiveEnterTimestamp")
_FILE = re.compile(r"(?P<path>\S.*?) \(ignore_errors=(?P<optional>yes|no)\)")
_ASSIGNMENT = re.compile(r"(?:export\s+)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)\s*=(?P<value>.*)")
_LIMIT = 64 * 1024


@dataclass(frozen=True)
class Unit:
    """One service as systemd runs it; `argv` is empty where there is no such service.

    `environment_files` are (path, may be missing) pairs; their values override `environment`.
    """

    argv: tuple[str, ...]
    environment: dict[str, str]
    environment_files: tuple[tuple[str, bool], ...]
    drop_ins: tuple[str, ...]
    state: str
    active_since: str


@dataclass(frozen=True)
class EnvironmentFile:
    """The variables of one file, the last setting of each; `unparsed` are no assignments."""

    values: dict[str, str]
    unparsed: tuple[str, ...]


def unit(stdout: str) -> Unit | Unreadable:
    """The answer of `systemctl --user show`; unreadable where there is no user bus (A16)."""
    found: dict[str, list[str]] = {}
    for line in lines(stdout):
        name, equals, value = line.partition("=")
        if equals and name in _PROPERTIES:
            found.setdefault(name, []).append(value.strip())
    started = [value for value in found.get("ExecStart", []) if value]
    if not found or len(started) > 1:
        return Unreadable(f"expected the properties of one service, saw {shown(stdout.strip())}")
    argv = _argv(started[0]) if started else ()
    environment = _environment(" ".join(found.get("Environment", [])))
    files = [_FILE.fullmatch(value) for value in found.get("EnvironmentFiles", []) if value]
    if argv is None or environment is None or None in files:
        return Unreadable(f"expected ExecStart, Environment and EnvironmentFiles, saw {shown(stdout.strip())}")
    return Unit(
        argv=argv,
        environment=environment,
        environment_files=tuple((file["path"], file["optional"] == "yes") for file in files if file),
        drop_ins=tuple(" ".join(found.get("DropInPaths", [])).split()),
        state="".join(found.get("ActiveState", [])[-1:]),
        active_since="".join(found.get("ActiveEnterTimestamp", [])[-1:]),
    )


def without_bus(stderr: str) -> bool:
    """Whether systemctl reached no service manager; then nothing is known of any service."""
    return says(stderr, "Failed to connect to") and says(stderr, "bus")


def environment_file(text: str) -> EnvironmentFile | Unreadable:
    """A file in systemd's form: NAME=VALUE, quotes, comments, lines continued by a backslash.

    `export NAME=VALUE` is read as an assignment too: systemd ignores such a line, a shell does not.
    """
    if len(text) > _LIMIT:
        return Unreadable(f"expected an environment file of at most {_LIMIT} characters, saw {len(text)}")
    values: dict[str, str] = {}
    unparsed = []
    for line in "\n".join(lines(text)).replace("\\\n", " ").split("\n"):
        line = line.strip()
        if not line or line[0] in "#;":
            continue
        found = _ASSIGNMENT.fullmatch(line)
        value = _unquoted(found["value"].strip()) if found else None
        if found and value is not None:
            values[found["name"]] = value
        else:
            unparsed.append(line[:300])
    return EnvironmentFile(values, tuple(unparsed))


def flags(argv: Sequence[str]) -> dict[str, str]:
    """The long flags of an argv, `--name value` or `--name=value`; "true" without a value."""
    found = {}
    for word, after in zip(argv, [*argv[1:], "--"], strict=False):
        name, equals, value = word.partition("=")
        if name.startswith("--") and len(name) > 2:
            found[name] = value if equals else "true" if after.startswith("-") else after
    return found


def config_file(argv: Sequence[str], environment: Mapping[str, str]) -> str | None:
    """The configuration file that is selected, or None for the one in the user's folder."""
    return flags(argv).get("--config") or environment.get("OPENSHELL_GATEWAY_CONFIG") or None


def _argv(value: str) -> tuple[str, ...] | None:
    """The argv in `{ path=... ; argv[]=... ; ignore_errors=no ; ... }`."""
    _, start, rest = value.partition(" argv[]=")
    argv, end, _ = rest.partition(" ; ignore_errors=")
    return _split(argv) if start and end else None


def _environment(value: str) -> dict[str, str] | None:
    words = _split(value)
    if words is None or not all("=" in word for word in words):
        return None
    # shlex leaves the dollar of a $'...' quote, which newer systemd prints for values with control characters.
    return {name.removeprefix("$"): rest for name, _, rest in (word.partition("=") for word in words)}


def _split(text: str) -> tuple[str, ...] | None:
    if len(text) > _LIMIT:
        return None
    try:
        return tuple(shlex.split(text))
    except ValueError:
        return None


def _unquoted(value: str) -> str | None:
    """The value of an assignment, or None where a quote is not closed."""
    if value[:1] not in ("'", '"'):
        return value
    words = _split(value)
    return words[0] if words is not None and len(words) == 1 else None
