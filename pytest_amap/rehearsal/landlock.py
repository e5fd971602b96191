"""Landlock by direct system calls: open the rules first, enforce them after privileges are dropped.

Rights are those of ABI 3, as OpenShell 0.1.x handles them (facts/rehearsal.md 1.2): IOCTL_DEV of ABI 5 is left out,
or a terminal handed into the sandbox would stop working.
"""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass

from . import kernel

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # the same numbers on every architecture
_VERSION_QUERY = 1
_PATH_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_ALL_V1 = (1 << 13) - 1
_REFER, _TRUNCATE = 1 << 13, 1 << 14
V2 = _ALL_V1 | _REFER
V3 = V2 | _TRUNCATE
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_OF_A_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE


class _RulesetAttributes(ctypes.Structure):
    _fields_ = [("handled_fs", ctypes.c_uint64)]


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32)]


@dataclass(frozen=True)
class Ruleset:
    """An open ruleset, and how many of the listed paths it holds."""

    descriptor: int
    applied: int
    skipped: tuple[str, ...]


def abi() -> int:
    """The Landlock ABI of this kernel, at least 1; OSError (ENOSYS, EOPNOTSUPP) where there is none."""
    return kernel.syscall(_CREATE, "landlock_create_ruleset", None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION_QUERY))


def prepare(read_only: Iterable[str], read_write: Iterable[str], handled: int = V3) -> Ruleset:
    """Open every path and add its rule; a path that cannot be opened is skipped, as OpenShell 0.1.x does."""
    attributes = _RulesetAttributes(handled)
    ruleset = kernel.syscall(
        _CREATE,
        "landlock_create_ruleset",
        ctypes.byref(attributes),
        ctypes.c_size_t(ctypes.sizeof(attributes)),
        ctypes.c_uint32(0),
    )
    applied, skipped = 0, []
    for paths, rights in ((read_only, _READ), (read_write, handled)):
        for path in paths:
            try:
                parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except OSError:
                skipped.append(path)
                continue
            try:
                _add(ruleset, parent, rights & handled)
                applied += 1
            finally:
                os.close(parent)
    return Ruleset(ruleset, applied, tuple(skipped))


def _add(ruleset: int, parent: int, rights: int) -> None:
    if not stat.S_ISDIR(os.fstat(parent).st_mode):
        rights &= _OF_A_FILE  # a directory right on a file is EINVAL
    rule = _PathBeneath(rights, parent)
    kernel.syscall(
        _ADD,
        "landlock_add_rule",
        ctypes.c_int(ruleset),
        ctypes.c_int(_PATH_BENEATH),
        ctypes.byref(rule),
        ctypes.c_uint32(0),
    )


def enforce(ruleset: Ruleset) -> None:
    """Confine this thread and all it will start; needs no_new_privs."""
    kernel.syscall(_RESTRICT, "landlock_restrict_self", ctypes.c_int(ruleset.descriptor), ctypes.c_uint32(0))
    os.close(ruleset.descriptor)
