"""Plan first, write after: what stands in the home now, what is wanted, and the one writer.

A plan is made from lstat alone and refuses every symlink, wrong type and foreign owner before anything is written.
Files are replaced atomically, never spliced: the router may read selected.json at any moment.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kit.errors import Refused
from kit.home import Home

State = Literal["create", "update", "mode", "present"]
"""`mode`: what stands there differs in its mode alone, which is an update to the operator, too."""

_WORDS: dict[State, tuple[str, str]] = {
    "create": ("would create", "created"),
    "update": ("would update", "updated"),
    "mode": ("would update", "updated"),
    "present": ("present", "present"),
}
"""What a line says without and with --apply."""
MENDED = "mend that and run it again, which writes what is missing"
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


@dataclass(frozen=True)
class Wanted:
    """A directory (`content` None) or a file that the home shall hold, with its exact mode."""

    path: Path
    mode: int
    content: bytes | None = None


@dataclass(frozen=True)
class Item:
    """A wanted path and what stands there now."""

    wanted: Wanted
    name: str  # relative to the home, "." for the home itself
    state: State


@dataclass(frozen=True)
class Plan:
    """The paths in the order in which they are written, and notes for the operator."""

    home: Home
    items: tuple[Item, ...]
    notes: tuple[str, ...] = ()

    @property
    def done(self) -> bool:
        """Nothing is left to write."""
        return all(item.state == "present" for item in self.items)

    def changed(self) -> tuple[str, ...]:
        """The files that stand there with another content, relative to the home."""
        return tuple(item.name for item in self.items if item.state == "update")

    def lines(self, *, applied: bool = False) -> list[str]:
        """One line a path: `would create X`, `would update X`, `present X`; applied `created`, `updated`."""
        return [f"{_WORDS[item.state][applied]} {item.name}" for item in self.items]


def directory(path: Path, mode: int = 0o755) -> Wanted:
    return Wanted(path, mode)


def document(path: Path, text: str) -> Wanted:
    """A text that anyone may read."""
    return Wanted(path, 0o644, text.encode("utf-8"))


def plan(home: Home, wanted: Iterable[Wanted], notes: Iterable[str] = ()) -> Plan:
    """Compare each wanted path with the disk; Refused names every path that stands in the way."""
    unique = list(dict.fromkeys(wanted))
    looked_at = dict.fromkeys((directory(home.path), *unique))
    problems = [problem for want in looked_at if (problem := _problem(want))]
    if problems:
        raise Refused("; ".join(problems))
    items = tuple(Item(want, os.path.relpath(want.path, home.path), _state(want, home)) for want in unique)
    return Plan(home, items, tuple(notes))


def apply(made: Plan) -> None:
    """Write what the plan found missing or different; Refused names the path where writing stopped.

    The caller holds the home, and a home that is made here is held here: of two that make it, one goes on.
    """
    waiting = [item for item in made.items if item.state != "present"]
    umask = os.umask(0o077)
    try:
        with ExitStack() as held:
            for item in waiting:
                _write_item(made.home, item)
                if item.name == "." and item.state == "create":
                    held.enter_context(locked(made.home))
    finally:
        os.umask(umask)


@contextmanager
def locked(home: Home) -> Iterator[bool]:
    """Hold the home against another `amap kit` that writes; False: it is not there yet and cannot be held."""
    try:
        handle = os.open(home.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        yield False
        return
    except OSError as error:
        raise Refused(f"{home.path} cannot be opened ({error.strerror}): make it yours and readable") from error
    try:
        _lock(handle, home)
        yield True
    finally:
        os.close(handle)


def _lock(handle: int, home: Home) -> None:
    import fcntl  # not on every system, and whoever only reads needs none

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise Refused(f"another amap kit is writing in {home.path}: wait for its end and run this again") from error
    except OSError as error:
        raise Refused(f"{home.path} cannot be held ({error.strerror}): choose a home on a local disk") from error


def _problem(want: Wanted) -> str | None:
    status = _lstat(want.path)
    if status is None:
        return None
    if stat.S_ISLNK(status.st_mode):
        return f"{want.path} is a symlink, which the kit does not follow: put a real one there, or remove it"
    expected = "directory" if want.content is None else "regular file"
    if not (stat.S_ISDIR if want.content is None else stat.S_ISREG)(status.st_mode):
        return f"{want.path} is no {expected}: move it away"
    if status.st_uid != os.geteuid():
        return f"{want.path} belongs to uid {status.st_uid}, and this is uid {os.geteuid()}: change its owner"
    return None


def _state(want: Wanted, home: Home) -> State:
    status = _lstat(want.path)
    if status is None:
        return "create"
    if want.content is not None and not _holds(want.path, want.content, status.st_size):
        return "update"
    mode = stat.S_IMODE(status.st_mode)
    return "present" if mode == (_home_mode(mode) if want.path == home.path else want.mode) else "mode"


def _holds(path: Path, content: bytes, size: int) -> bool:
    try:
        return size == len(content) and path.read_bytes() == content
    except PermissionError:  # a file that is closed to its owner, too, is put right by replacing it
        return False


def _home_mode(mode: int) -> int:
    """An operator may have narrowed the home; others may not write in it, and its owner must."""
    return mode & ~_WRITABLE_BY_OTHERS | stat.S_IRWXU


def _lstat(path: Path) -> os.stat_result | None:
    """None: nothing is there, or what stands on the way to it is no directory, which is told of that itself."""
    try:
        return path.lstat()
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            return None
        raise Refused(f"{path} cannot be looked at ({error.strerror}): make the home yours and accessible") from error


def _write_item(home: Home, item: Item) -> None:
    try:
        if item.name == ".":
            _write_home(item)
        else:
            _write(home, item)
    except FileExistsError as error:
        raise Refused(f"{item.wanted.path} was made by somebody else just now: run it again") from error
    except OSError as error:
        raise Refused(f"{item.wanted.path} could not be written ({error.strerror}): {MENDED}") from error


def _write_home(item: Item) -> None:
    path = item.wanted.path
    if item.state == "create":
        path.mkdir()
        path.chmod(item.wanted.mode)
        with suppress(PermissionError):  # a parent may be entered and written in, and not be read
            _sync(path.parent)
    else:
        path.chmod(_home_mode(stat.S_IMODE(path.lstat().st_mode)))


def _sync(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _write(home: Home, item: Item) -> None:
    parent = _open_below(home, item.wanted.path.parent)
    try:
        if item.wanted.content is None:
            _write_directory(parent, item)
        else:
            _replace(parent, item.wanted.path.name, item.wanted.content, item.wanted.mode)
        os.fsync(parent)
    finally:
        os.close(parent)


def _open_below(home: Home, path: Path) -> int:
    """A descriptor of the directory, reached from the home one real component after the other."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(home.path, flags)
    for component in path.relative_to(home.path).parts:
        try:
            below = os.open(component, flags, dir_fd=handle)
        finally:
            os.close(handle)
        handle = below
    return handle


def _write_directory(parent: int, item: Item) -> None:
    name = item.wanted.path.name
    if item.state == "create":
        os.mkdir(name, dir_fd=parent)
    handle = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        os.fchmod(handle, item.wanted.mode)
    finally:
        os.close(handle)


def _replace(parent: int, name: str, content: bytes, mode: int) -> None:
    temporary = f".{name}.tmp"  # one name, so that the next writer takes away what a killed one left
    with suppress(FileNotFoundError):
        os.unlink(temporary, dir_fd=parent)
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fchmod(stream.fileno(), mode)
            os.fsync(stream.fileno())
        os.replace(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
    except BaseException:
        os.unlink(temporary, dir_fd=parent)
        raise
