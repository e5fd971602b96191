"""Which program opened a connection: from the socket's port to its inode, its process and that process's binary."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from .rootfs import INTERPRETER


@dataclass(frozen=True)
class Program:
    """A process of a box: its binary as the box names it, and its pid there."""

    binary: str
    pid: int

    def __str__(self) -> str:
        return f"{self.binary}({self.pid})"


UNKNOWN = Program("-", 0)


def lineage(box: int, image_root: str, protocol: str, port: int) -> list[Program]:
    """The program whose socket has local `port` in the network namespace of process `box`, then its ancestors."""
    pid = _holder(box, protocol, port)
    programs = []
    while pid:
        program = _program(pid, image_root)
        if program is None:
            break
        programs.append(program)
        pid = _parent(pid)
        if program.pid == 1:
            break
    return programs or [UNKNOWN]


def listed(programs: list[Program], binaries: tuple[str, ...]) -> bool:
    """Whether a binary of the list, or a descendant of one, opened the connection (facts/openshell.md 5.2)."""
    return any(fnmatchcase(program.binary, pattern) for program in programs for pattern in binaries)


def _holder(box: int, protocol: str, port: int) -> int:
    inode = _inode(box, protocol, port)
    if inode is None:
        return 0
    wanted = f"socket:[{inode}]"
    for pid in _neighbours(box):
        try:
            for descriptor in os.listdir(f"/proc/{pid}/fd"):
                if os.readlink(f"/proc/{pid}/fd/{descriptor}") == wanted:
                    return pid
        except OSError:
            continue  # it ended meanwhile
    return 0


def _inode(box: int, protocol: str, port: int) -> str | None:
    wanted = f":{port:04X}"
    for table in (protocol, f"{protocol}6"):
        try:
            with open(f"/proc/{box}/net/{table}") as stream:
                rows = [line.split() for line in stream][1:]
        except OSError:
            continue
        for row in rows:
            if row[1].endswith(wanted) and row[9] != "0":
                return row[9]
    return None


def _neighbours(box: int) -> Iterator[int]:
    """Processes in the box's network namespace."""
    try:
        namespace = os.readlink(f"/proc/{box}/ns/net")
    except OSError:
        return
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if os.readlink(f"/proc/{name}/ns/net") == namespace:
                    yield int(name)
            except OSError:
                continue


def _program(pid: int, image_root: str) -> Program | None:
    try:
        binary = os.readlink(f"/proc/{pid}/exe")
        if binary == INTERPRETER:
            binary = _script(pid, image_root)
        return Program(binary, int(_status(pid)["NSpid"].split()[-1]))
    except (OSError, KeyError):
        return None


def _script(pid: int, image_root: str) -> str:
    """The image's programs are scripts of one interpreter: the script is the program."""
    with open(f"/proc/{pid}/cmdline", "rb") as stream:
        arguments = os.fsdecode(stream.read()).split("\0")[1:]
    script = next((argument for argument in arguments if not argument.startswith("-")), INTERPRETER)
    if not script.startswith("/usr/local/"):
        return INTERPRETER
    return os.path.realpath(image_root + script).removeprefix(os.path.realpath(image_root))


def _parent(pid: int) -> int:
    try:
        return int(_status(pid)["PPid"])
    except (OSError, KeyError):
        return 0


def _status(pid: int) -> dict[str, str]:
    with open(f"/proc/{pid}/status") as stream:
        return dict(line.rstrip("\n").split(":\t", 1) for line in stream if ":\t" in line)
