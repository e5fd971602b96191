"""The mount table of a process, /proc/PID/mountinfo, sub-mounts too (field report A20)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from . import Unreadable, shown

_LINE = re.compile(
    r"[0-9]+ [0-9]+ [0-9]+:[0-9]+ \S+ (?P<point>/\S*) (?P<options>\S+)(?: [a-z_]+(?::[0-9]+)?)*"
    r" - \S+ \S* (?P<super>\S+)",
    re.ASCII,
)
_OCTAL = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True)
class Mounted:
    """One mount.

    `options` are those of the mount, `super_options` those of its file system; either may say ro.
    """

    point: str
    options: tuple[str, ...]
    super_options: tuple[str, ...]

    @property
    def writable(self) -> bool:
        return "ro" not in self.options and "ro" not in self.super_options


def mounts(text: str) -> tuple[Mounted, ...] | Unreadable:
    """Every mount, in the table's order.

    One line that is not understood makes it unreadable: it may be the one.
    """
    read = []
    for line in text.split("\n"):
        if not line:
            continue
        found = _LINE.fullmatch(line)
        if not found:
            return Unreadable(f"expected a line of mountinfo, saw {shown(line)}")
        options, super_options = (tuple(found[name].split(",")) for name in ("options", "super"))
        read.append(Mounted(_unescaped(found["point"]), options, super_options))
    return tuple(read) or Unreadable("expected a mount table, saw nothing")


def at(table: tuple[Mounted, ...], path: str) -> Mounted | None:
    """The mount at exactly `path`: of several the last, which hides the others."""
    return next((mount for mount in reversed(table) if mount.point == path), None)


def below(table: tuple[Mounted, ...], path: str) -> tuple[Mounted, ...]:
    """The mounts below `path`, itself left out."""
    return tuple(mount for mount in table if mount.point.startswith(path.rstrip("/") + "/") and mount.point != path)


def _unescaped(text: str) -> str:
    """The kernel writes space, tab, newline and backslash as octal."""
    return _OCTAL.sub(lambda found: chr(int(found[1], 8)), text)
