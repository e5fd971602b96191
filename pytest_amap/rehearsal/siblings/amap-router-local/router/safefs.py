"""Reads and writes in trees that an agent can rearrange: every step pinned by descriptor, no link followed."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import secrets
import stat
from collections.abc import Iterator
from typing import Any

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Unsafe(OSError):
    """The file is there but is not one plain file of acceptable size; the text names the property."""


@contextlib.contextmanager
def directory(root: str, *parts: str, create: bool = False) -> Iterator[int]:
    """A descriptor of root/part/part..., each part opened without following a link."""
    fd = os.open(root, _DIRECTORY)
    try:
        for part in parts:
            if create:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, dir_fd=fd)
            below = os.open(part, _DIRECTORY, dir_fd=fd)
            os.close(fd)
            fd = below
        yield fd
    finally:
        os.close(fd)


def read_bytes(dir_fd: int, name: str, cap: int) -> bytes:
    """The bytes of one regular file with one link, at most `cap` of them; Unsafe where it is anything else."""
    try:
        fd = os.open(name, _READ, dir_fd=dir_fd)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise Unsafe(errno.ELOOP, "is a symbolic link") from error
        raise
    with os.fdopen(fd, "rb") as stream:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise Unsafe(errno.EINVAL, "is not a regular file")
        if status.st_nlink != 1:
            raise Unsafe(errno.EMLINK, f"has nlink {status.st_nlink}, expected 1")
        data = stream.read(cap + 1)
    if len(data) > cap:
        raise Unsafe(errno.EFBIG, f"is larger than {cap} bytes")
    return data


def read_object(path: str, cap: int = 4 << 20) -> dict[str, Any] | None:
    """The JSON object of a router-private file; None where there is none that can be read."""
    try:
        with directory(os.path.dirname(path)) as fd:
            value = json.loads(read_bytes(fd, os.path.basename(path), cap))
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def write_bytes(dir_fd: int, name: str, data: bytes, mode: int = 0o600) -> None:
    """Put the whole content in place at once: an exclusive temporary file, then a rename."""
    temporary = f"{name}.{secrets.token_hex(4)}"
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=dir_fd)
    try:
        with os.fdopen(fd, "wb") as stream:
            stream.write(data)
            os.fchmod(fd, mode)
        os.rename(temporary, name, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=dir_fd)
        raise


def regular_names(dir_fd: int) -> list[tuple[str, bool]]:
    """Sorted (name, is a symbolic link) of the regular files and links of a directory; all else is left out."""
    with os.scandir(dir_fd) as entries:
        found = [(entry.name, entry.is_symlink()) for entry in entries if entry.is_symlink() or _is_file(entry)]
    return sorted(found)


def _is_file(entry: os.DirEntry[str]) -> bool:
    return entry.is_file(follow_symlinks=False)


def remove_tree(dir_fd: int, name: str) -> None:
    """Remove a file, a link, or a directory of files; what is missing already is fine."""
    try:
        os.unlink(name, dir_fd=dir_fd)
        return
    except FileNotFoundError:
        return
    except (IsADirectoryError, PermissionError):
        pass
    with contextlib.suppress(OSError):
        below = os.open(name, _DIRECTORY, dir_fd=dir_fd)
        try:
            for child in os.listdir(below):
                remove_tree(below, child)
        finally:
            os.close(below)
        os.rmdir(name, dir_fd=dir_fd)
