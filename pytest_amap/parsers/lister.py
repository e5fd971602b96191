"""The session lister's rows, which the delivery daemon goes by."""

from __future__ import annotations

import re
from dataclasses import dataclass

from . import Unreadable, shown

_PID = re.compile(r"[1-9][0-9]{0,9}", re.ASCII)


@dataclass(frozen=True)
class Row:
    """One Claude Code session; `socket` and `key` are absolute paths, None for a dash."""

    pid: int
    socket: str | None
    key: str | None

    @property
    def ready(self) -> bool:
        """Whether a message can be delivered to it."""
        return self.socket is not None and self.key is not None


def rows(text: str) -> tuple[Row, ...] | Unreadable:
    """The rows whose first word is `claude`; the daemon ignores the others and a row's further words, as this does."""
    read = []
    for line in text.split("\n"):
        fields = line.split()
        if not fields or fields[0] != "claude":
            continue
        if len(fields) < 6 or not _PID.fullmatch(fields[3]) or not all(map(_path_or_dash, fields[4:6])):
            return Unreadable(f"expected a row of six fields, process, socket and key last, saw {shown(line)}")
        socket, key = (None if field == "-" else field for field in fields[4:6])
        read.append(Row(int(fields[3]), socket, key))
    return tuple(read)


def _path_or_dash(field: str) -> bool:
    return field == "-" or field.startswith("/")
