"""Finds and reads a recorded run: pure reading, on any operating system."""

from __future__ import annotations

import contextlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_amap.evidence import chain
from pytest_amap.evidence.chain import HOSTS, RECORD, RUN, SEAL
from pytest_amap.parsers import documents

RESULTS = "results.json"
LARGEST = 64 << 20
"""Bytes of one file of the evidence; the largest record holds two capped streams, escaped."""


class EvidenceError(Exception):
    """Evidence that cannot be written or read; the message is a sentence for the operator."""


@dataclass(frozen=True)
class Record:
    """One record: its path relative to evidence/, and its JSON."""

    path: str
    data: dict[str, Any]
    digest: str


@dataclass(frozen=True)
class RecordedRun:
    """One run as it lies on disk. `results` and `seal` are None where the run did not come so far."""

    root: Path
    run: str
    host: str
    """live, rehearsal, or "" when the run left no record."""
    records: tuple[Record, ...]
    results: dict[str, Any] | None
    seal: dict[str, Any] | None
    sums: bytes = b""
    """What SHA256SUMS holds, or nothing."""

    @property
    def unproved(self) -> frozenset[str]:
        """The records that are not as the next one, or the seal, and SHA256SUMS have them: anybody may have made them.

        Who rewrites all of these proves what he likes; the head is what tells him.
        """
        ends = [str(record.data.get("prev")) for record in self.records[1:]] + [str((self.seal or {}).get("head"))]
        lines = set(self.sums.splitlines(keepends=True))
        found = zip(self.records, ends, strict=True) if self.records else ()
        return frozenset(
            one.path for one, end in found if one.digest != end or chain.sums([(one.path, one.digest)], ()) not in lines
        )

    @property
    def folder(self) -> Path:
        return self.root / "runs" / self.run


def read_run(directory: Path) -> RecordedRun:
    """The run that `directory` names; raises EvidenceError when there is none or it cannot be read."""
    root, run = locate(directory)
    records = tuple(_record(root, path) for path in record_paths(root, run))
    results, seal = (_optional(root / "runs" / run / name) for name in (RESULTS, SEAL))
    marked = [record.data for record in records] + ([seal] if seal else [])
    host = marked[0].get("host") if marked else ""
    if host not in ("", *HOSTS):
        raise EvidenceError(f"run {run} is marked neither {' nor '.join(HOSTS)}: run `amap verify` on the folder")
    sums = root / "runs" / run / chain.SUMS
    return RecordedRun(root, run, host, records, results, seal, read_bytes(sums) if os.path.lexists(sums) else b"")


def _record(root: Path, path: str) -> Record:
    data = read_bytes(root / path)
    return Record(path, _object(root / path, data), chain.digest(data))


def locate(directory: Path) -> tuple[Path, str]:
    """Evidence folder and run id of `directory`: an evidence folder (its latest run) or one runs/<run>."""
    try:
        place = directory.resolve()
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            os.listdir(place)
    except PermissionError as error:  # evidence is its owner's alone
        raise EvidenceError(f"{directory} cannot be read ({error.strerror}): ask its owner for a copy") from None
    except (OSError, RuntimeError, ValueError) as error:  # a symlink that leads to itself, or no path at all
        raise EvidenceError(f"{directory} leads nowhere ({error}): name an evidence folder") from None
    if place.parent.name == "runs" and RUN.fullmatch(place.name) and place.is_dir():
        return place.parent.parent, place.name
    run = _latest(place)
    if run is None:
        raise EvidenceError(
            f"{directory} holds no run: expected an evidence folder with runs/ in it, or one of its runs/<run>"
        )
    folder = place / "runs" / run
    if not folder.is_dir() or folder.is_symlink() or folder.parent.is_symlink():
        raise EvidenceError(
            f"{directory / 'latest'} names the run {run}, which is not there: name a runs/<run> instead"
        )
    return place, run


def runs(root: Path) -> list[str]:
    """The ids of every run in an evidence folder, in the order of their names."""
    return sorted((name for name in _names(root / "runs") if RUN.fullmatch(name)), key=_age)


def record_paths(root: Path, run: str) -> list[str]:
    """The paths of a run's records relative to `root`, in the order of their sequence numbers."""
    found = []
    for folder in _names(root):
        if folder.startswith("step-") and not (root / folder).is_symlink():
            for name in _names(root / folder):
                match = RECORD.fullmatch(name)
                if match and match["run"] == run:
                    found.append((int(match["seq"]), f"{folder}/{name}"))
    return [path for _, path in sorted(found)]


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file of the evidence; raises EvidenceError when it is none."""
    return _object(path, read_bytes(path))


def _object(path: Path, data: bytes) -> dict[str, Any]:
    found = json_object(data)
    if found is None:
        raise EvidenceError(f"{path} holds no JSON object: run `amap verify` on the folder to see what changed")
    return found


def read_bytes(path: Path) -> bytes:
    """What is in a file of the evidence; raises EvidenceError.

    A symlink, a pipe, a device or a file larger than any of ours is not read: evidence comes from anywhere.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        if stat.S_ISREG(path.lstat().st_mode):
            with os.fdopen(os.open(path, flags), "rb") as file:
                info = os.fstat(file.fileno())
                if stat.S_ISREG(info.st_mode) and info.st_size <= LARGEST:
                    return file.read(LARGEST)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise EvidenceError(f"cannot read {path}: {why}; check who may read the folder") from None
    raise EvidenceError(f"{path} is no file of at most {LARGEST >> 20} MiB: it is none of a run's")


def is_plain(path: Path) -> bool:
    """Whether it is a file, and no symlink to one."""
    return path.is_file() and not path.is_symlink()


def json_object(data: bytes) -> dict[str, Any] | None:
    """The JSON object, or None: every reader is to see the same in it, so no key twice, no NaN, nothing but UTF-8."""
    try:
        found = documents.document(data.decode("utf-8"), LARGEST)
    except UnicodeDecodeError:
        return None
    return found if isinstance(found, dict) else None


def _age(run: str) -> tuple[str, int]:
    second, _, attempt = run.partition("-")
    return second, int(attempt or 1)


def _latest(root: Path) -> str | None:
    """What `latest` names, a symlink or a one-line file, or else the newest run."""
    latest = root / "latest"
    try:
        named = str(latest.readlink()) if latest.is_symlink() else read_bytes(latest).decode("utf-8").strip()
    except (OSError, EvidenceError, UnicodeDecodeError):
        newest = runs(root)
        return newest[-1] if newest else None
    run = named.replace("\\", "/").removeprefix("runs/")
    return run if RUN.fullmatch(run) else None


def _names(folder: Path) -> list[str]:
    try:
        return sorted(entry.name for entry in folder.iterdir())
    except OSError:
        return []


def _optional(path: Path) -> dict[str, Any] | None:
    return read_object(path) if os.path.lexists(path) else None
