"""Files that are written whole, once, and never replaced, in folders nobody else can put in their place.

Every path is opened from its root without following a symlink below it; modes are set, whatever the umask.
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path, PurePath

from pytest_amap.evidence.recorded import EvidenceError

_REMEDIES = {
    errno.ENOSPC: "free some disk space and run again",
    errno.EDQUOT: "free some disk space and run again",
    errno.EROFS: "make the file system writable and run again",
    errno.EACCES: "make the folder yours and run again",
    errno.EPERM: "make the folder yours and run again",
    errno.ENOENT: "the folder has vanished; put it back, or choose another home",
    errno.ELOOP: "a symlink or a file stands where a folder is expected; move it away",
    errno.ENOTDIR: "a symlink or a file stands where a folder is expected; move it away",
    errno.EEXIST: "something of that name is there already and is never overwritten; move it away",
}


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turns an OSError into an EvidenceError that says what to do."""
    try:
        yield
    except OSError as error:
        remedy = _REMEDIES.get(error.errno or 0, "check the disk and run again")
        raise EvidenceError(f"cannot write {path}: {error.strerror or error}; {remedy}") from error


def make_folder(path: Path) -> None:
    """Makes `path` and its parents; `path` itself is 0700 and a real directory afterwards."""
    with explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            _make(path)
        with _opened(path) as folder:
            os.fchmod(folder, 0o700)


def reserve(root: Path, parent: str, name: str) -> bool:
    """Makes the new folder root/parent/name, 0700; False when something of that name is there."""
    with explained(root / parent / name), _below(root, parent) as folder:
        try:
            _make(name, folder)
        except FileExistsError:
            return False
        os.fsync(folder)
        return True


def create(root: Path, parent: str, name: str, data: bytes) -> None:
    """Writes the new file root/parent/name, 0600, and returns when it is on disk.

    A reader sees the whole file or none. Raises EvidenceError when that cannot be done or the name is taken.
    """
    part = f".{name}.{os.getpid()}-{secrets.token_hex(4)}.part"
    with explained(root / parent / name), _below(root, parent) as folder:
        try:
            _write(folder, part, data)
            os.link(part, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(part, dir_fd=folder)
        os.fsync(folder)


def point(root: Path, name: str, target: str) -> None:
    """Makes the symlink root/name name `target`, in one step."""
    part = f".{name}.{os.getpid()}.part"
    with explained(root / name), _opened(root) as folder:
        with suppress(FileNotFoundError):
            os.unlink(part, dir_fd=folder)
        os.symlink(target, part, dir_fd=folder)
        os.rename(part, name, src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)


def _write(folder: int, name: str, data: bytes) -> None:
    descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=folder)
    with os.fdopen(descriptor, "wb") as file:
        os.fchmod(descriptor, 0o600)
        file.write(data)
        file.flush()
        os.fsync(descriptor)


def _make(name: Path | str, parent: int | None = None) -> None:
    os.mkdir(name, 0o700, dir_fd=parent)
    os.chmod(name, 0o700, dir_fd=parent)  # a umask may have taken even our own right to enter it


@contextmanager
def _opened(name: Path | str, parent: int | None = None) -> Iterator[int]:
    descriptor = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _below(root: Path, parent: str) -> Iterator[int]:
    """A descriptor of root/parent; what is missing of `parent` is made, 0700. "." is `root`, whose mode is not ours."""
    with ExitStack() as opened:
        folder = opened.enter_context(_opened(root))
        for part in PurePath(parent).parts:
            with suppress(FileExistsError):
                _make(part, folder)
                os.fsync(folder)
            folder = opened.enter_context(_opened(part, folder))
            os.fchmod(folder, 0o700)
        yield folder
