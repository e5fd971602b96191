"""`amap verify DIR`: is a recorded run whole and unchanged? Pure reading, on any operating system.

Whoever can rewrite every file can also make a new chain: compare the head, which the terminal, the report and
the statement showed, with the one printed here.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_amap.evidence import chain, consistency, recorded
from pytest_amap.evidence.ctrf import CONCLUDED
from pytest_amap.evidence.recorded import EvidenceError
from pytest_amap.foreign import one_line

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_OWN = (chain.SEAL, chain.SUMS)


@dataclass(frozen=True)
class _Record:
    """One record: its digest and its fields, None where it holds no JSON object."""

    digest: str
    data: dict[str, Any] | None


@dataclass(frozen=True)
class _Run:
    """One run: its records by path relative to evidence/, and the bytes of its folder's files by name."""

    root: Path
    run: str
    records: Mapping[str, _Record]
    files: Mapping[str, bytes]
    strange: tuple[str, ...]
    """What stands among its files and is none: folders, symlinks, files of another name."""

    @property
    def digests(self) -> dict[str, str]:
        return {path: record.digest for path, record in self.records.items()}


def problems(directory: Path) -> list[str]:
    """One printable line for each thing that is wrong with the run `directory` names; none when it is whole."""
    return _looked_at(directory)[0]


def main(argv: Sequence[str] | None = None) -> int:
    """Print the problems, or that there are none; 0 when the run is whole, else 1."""
    parser = argparse.ArgumentParser(prog="amap verify", description="Is a run's evidence whole and unchanged?")
    parser.add_argument(
        "directory", metavar="DIR", type=Path, help="an evidence folder (its latest run), or one runs/<run>"
    )
    directory = parser.parse_args(argv).directory
    found, run = _looked_at(directory)
    for line in found if found or run is None else [one_line(_whole(run))]:
        print(line)
    for newer in _newer(run) if run else ():
        print(f"note: the run {newer} is newer; it was not looked at")
    return 1 if found else 0


def _looked_at(directory: Path) -> tuple[list[str], _Run | None]:
    """The problems, and the run if it could be read. Names and values in it are anybody's, so no line is raw."""
    run = None
    try:
        run = _load(directory)
        found = _problems(run)
    except EvidenceError as error:
        found = [str(error)]
    return [one_line(line) for line in found], run


def _newer(run: _Run) -> list[str]:
    """The runs that began after this one."""
    known = recorded.runs(run.root)
    return known[known.index(run.run) + 1 :]


def _load(directory: Path) -> _Run:
    root, run = recorded.locate(directory)
    folder = root / "runs" / run
    records = {path: _record(root / path) for path in recorded.record_paths(root, run)}
    try:
        inside = sorted(folder.iterdir())
        among = [path for path in sorted(root.glob(f"step-*/{run}-*")) if not chain.RECORD.fullmatch(path.name)]
        strange = [path for path in (*inside, *among) if not recorded.is_plain(path) or path in among]
        strange += [path for path in sorted(root.glob("step-*")) if path.is_symlink()]
        files = {path.name: recorded.read_bytes(path) for path in inside if recorded.is_plain(path)}
    except OSError as error:
        raise EvidenceError(f"cannot read {error.filename}: {error.strerror}; check who may read the folder") from None
    return _Run(root, run, records, files, tuple(path.relative_to(root).as_posix() for path in strange))


def _record(path: Path) -> _Record:
    """One record; its output is not kept, which may be large."""
    data = recorded.read_bytes(path)
    found = recorded.json_object(data)
    kept = {name: value for name, value in found.items() if name not in ("stdout", "stderr")} if found else found
    return _Record(chain.digest(data), kept)


def _problems(run: _Run) -> list[str]:
    chained = list(_chain(run))
    if chain.SEAL not in run.files and chain.SUMS not in run.files:
        state = "chain broken" if chained else "chain whole"
        return [*chained, f"not sealed: {len(run.records)} records, {state}"]
    found = [*chained, *_seal(run), *_sums(run)]
    found += [f"{name}: is not a file of this run" for name in run.strange]
    documents = {name: recorded.json_object(data) for name, data in run.files.items() if name.endswith(".json")}
    concluded = [
        record.data for record in run.records.values() if record.data and record.data.get("label") == CONCLUDED
    ]
    return found + list(consistency.problems(documents, run.files, run.digests, concluded))


def _whole(run: _Run) -> str:
    seal = recorded.json_object(run.files[chain.SEAL]) or {}
    host = "REHEARSAL" if seal.get("rehearsal") else seal.get("host", "")
    abandoned = (
        ", abandoned: it was cut off, and sealed by the run after it" if seal.get("state") == "abandoned" else ""
    )
    return (
        f"whole: {host} run {run.run}{abandoned}, {len(run.records)} records, head {seal.get('head')}, "
        f"seal {chain.digest(run.files[chain.SEAL])}"
    )


def _chain(run: _Run) -> Iterator[str]:
    """Names, sequence, digests and times of the records."""
    before, last, host = chain.FIRST, "", None
    for expected, (path, kept) in enumerate(run.records.items(), 1):
        record = kept.data
        if record is None:
            yield f"{path}: is no JSON object"
        else:
            seq = record.get("seq")
            if seq != expected:
                yield f"{path}: expected record {expected}, saw {seq}: a record is missing, added or moved"
            if record.get("prev") != before:
                yield f"{path}: does not follow the record before it: one of the two was changed"
            yield from _about(path, record, run.run)
            host = host or record.get("host")
            if record.get("host") != host:
                yield f"{path}: expected host {host}, saw {record.get('host')}"
            time = str(record.get("time"))
            if not _TIME.fullmatch(time) or (time < last and not record.get("clock_set_back")):
                yield f"{path}: its time {time} is before that of the record before it, {last}"
            last = time
        before = kept.digest


def _about(path: str, record: Mapping[str, Any], run: str) -> Iterator[str]:
    if record.get("run") != run:
        yield f"{path}: belongs to run {record.get('run')}"
    step, seq, label = record.get("step"), record.get("seq"), record.get("label")
    if not (isinstance(step, int) and isinstance(seq, int) and isinstance(label, str)):
        yield f"{path}: has no step, seq and label"
    elif (due := chain.record_path(step, run, seq, label)) != path:
        yield f"{path}: its own fields name it {due}"
    if record.get("kind") not in ("command", "observation"):
        yield f"{path}: is neither a command nor an observation"
    if (record.get("host") == "rehearsal") != (record.get("rehearsal") is True):
        yield f"{path}: host and rehearsal mark do not agree"


def _seal(run: _Run) -> Iterator[str]:
    """The seal against the records and the reports."""
    seal = recorded.json_object(run.files.get(chain.SEAL, b""))
    if seal is None:
        yield f"{chain.SEAL}: is missing or no JSON object"
        return
    digests = list(run.digests.values())
    state = "abandoned" if seal.get("state") == "abandoned" else "sealed"
    host = str(seal.get("host"))
    hosts = {str((record.data or {}).get("host")) for record in run.records.values()} or {host}
    due = {"kind": "seal", "run": run.run, "state": state, "count": len(digests)}
    due |= {"head": digests[-1] if digests else chain.FIRST}
    for name, value in due.items():
        if seal.get(name) != value:
            yield f"{chain.SEAL}: expected {name} {value}, saw {seal.get(name)}"
    if hosts != {host} or host not in ("", *chain.HOSTS) or (host == "rehearsal") != (seal.get("rehearsal") is True):
        yield f"{chain.SEAL}: its host is not that of the records"
    sealed = seal.get("files")
    sealed = sealed if isinstance(sealed, dict) else {}
    for name in sorted({*sealed, *run.files} - set(_OWN)):
        if name not in run.files:
            yield f"{name}: was sealed and is missing"
        elif name not in sealed:
            yield f"{name}: is not a file of this run"
        elif chain.digest(run.files[name]) != sealed[name]:
            yield f"{name}: was changed after it was sealed"


def _sums(run: _Run) -> Iterator[str]:
    """SHA256SUMS, made again and compared byte for byte; line by line for the message."""
    files = [(name, chain.digest(data)) for name, data in run.files.items() if name != chain.SUMS]
    due, seen = chain.sums(run.digests.items(), files), run.files.get(chain.SUMS, b"")
    if due == seen:
        return
    lines = set(seen.splitlines(keepends=True))
    missing = [path for path, value in run.digests.items() if chain.sums([(path, value)], []) not in lines]
    missing += [name for name, value in files if chain.sums([], [(name, value)]) not in lines]
    for name in missing:
        yield f"{chain.SUMS}: does not hold the sum of {name}"
    if not missing:
        yield f"{chain.SUMS}: was changed: a line was added, moved or written otherwise"
