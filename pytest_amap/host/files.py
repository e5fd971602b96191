"""Reading host files that agents may have written: no symlink followed, no blocking open, a size cap."""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import replace
from datetime import UTC, datetime

from pytest_amap.evidence import chain
from pytest_amap.observations import Listing, Read, Stat

LARGEST = 4 << 20
"""Bytes that one file may have to be read at all."""

MOST_NAMES = 10_000


def stamp(seconds: float) -> str:
    """UTC, ISO 8601 with milliseconds and Z; "" for what is no time."""
    try:
        return chain.stamp(datetime.fromtimestamp(seconds, UTC))
    except (ValueError, OverflowError, OSError):
        return ""


def read(path: str, cap: int = LARGEST) -> Read:
    """The file's text, or why not; a symlink in the last place, a FIFO or a hard link elsewhere is not followed."""
    try:
        descriptor = os.open(
            path, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        )
    except (OSError, ValueError) as error:
        return Read(path, None, "symlink" if getattr(error, "errno", 0) == errno.ELOOP else name_of(error))
    try:
        info = os.fstat(descriptor)
        mode = f"{stat.S_IMODE(info.st_mode):o}"
        seen = Read(path, None, None, mode, info.st_uid, info.st_gid, info.st_size, stamp(info.st_mtime))
        if not stat.S_ISREG(info.st_mode):
            return replace(seen, problem="not a regular file")
        if info.st_size > cap:
            return replace(seen, problem="too large")
        data = b""
        while chunk := os.read(descriptor, 1 << 20):
            data += chunk
            if len(data) > cap:
                return replace(seen, problem="too large")
        return replace(seen, text=data.decode("utf-8", "replace"))
    except OSError as error:
        return Read(path, None, name_of(error))
    finally:
        os.close(descriptor)


def listing(path: str) -> Listing:
    """The names in a directory, sorted; more than 10,000 are "too many"."""
    try:
        if stat.S_ISLNK(os.lstat(path).st_mode):
            return Listing(path, (), "symlink")
        opened = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        return Listing(path, (), name_of(error))
    try:
        names = sorted(os.listdir(opened))
    except OSError as error:
        return Listing(path, (), name_of(error))
    finally:
        os.close(opened)
    return Listing(path, (), "too many") if len(names) > MOST_NAMES else Listing(path, tuple(names))


def look(path: str) -> Stat:
    """lstat, or "absent", or the errno name as `problem`."""
    try:
        info = os.lstat(path)
    except FileNotFoundError:
        return Stat(path, "absent")
    except (OSError, ValueError) as error:
        return Stat(path, "unreadable", problem=name_of(error))
    kinds = {stat.S_IFREG: "file", stat.S_IFDIR: "directory", stat.S_IFLNK: "symlink"}
    kind = kinds.get(stat.S_IFMT(info.st_mode), "other")
    mode = f"{stat.S_IMODE(info.st_mode):o}"
    return Stat(path, kind, mode, info.st_uid, info.st_gid, stamp(info.st_mtime), info.st_dev, info.st_ino)


def name_of(error: OSError | ValueError) -> str:
    """The errno's name; a path that no file can have, with a NUL or a lone surrogate in it, is EINVAL."""
    number = error.errno or 0 if isinstance(error, OSError) else errno.EINVAL
    return errno.errorcode.get(number, str(number))
