"""The store of one run's evidence: records written whole, once, each holding the digest of the one before.

A run that was killed stays open on disk; opening the next one seals it as abandoned.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pytest_amap.evidence import chain, recorded, writeonce
from pytest_amap.evidence.recorded import EvidenceError
from pytest_amap.evidence.redaction import Redactor
from pytest_amap.observations import Ran

REHEARSAL = "rehearsal"
SEALED, ABANDONED = "sealed", "abandoned"
MOST_RUNS_A_SECOND = 99


def now() -> datetime:
    """The one clock of records, seals and run ids."""
    return datetime.now(UTC)


class Evidence:
    """Made by `open`. Everything it writes is redacted first; every error is an EvidenceError.

    Paths of records are relative to `root`, which is the evidence folder.
    """

    def __init__(self, root: Path, redactor: Redactor, *, host: str, run: str) -> None:
        self.root = root
        self.redactor = redactor
        self.host = host
        self.run = run
        self.abandoned: tuple[str, ...] = ()
        """Earlier runs that had not ended and were sealed when this one was opened."""
        self._mark = {"run": run, **_host(host)}
        self._chain: list[tuple[str, str]] = []
        """Path and digest of each record."""
        self._pending: tuple[str, str] | None = None
        self._last = ""
        self._closed = False
        self._sealed = False
        self._turn = threading.RLock()

    @classmethod
    def open(cls, root: Path, redactor: Redactor, *, host: str) -> Evidence:
        """Start a run below `root`, which is made if missing; seal the runs that were cut off before.

        `host` is live or rehearsal. The caller holds the lock that keeps a second run away.
        """
        writeonce.make_folder(root)
        unsealed = [run for run in recorded.runs(root) if not (root / "runs" / run / chain.SUMS).exists()]
        abandoned = tuple(run for run in unsealed if _abandon(root, run))
        evidence = cls(root, redactor, host=host, run=_reserve(root))
        evidence.abandoned = abandoned
        return evidence

    @property
    def folder(self) -> Path:
        """runs/<run>, where the reports of this run stand."""
        return self.root / "runs" / self.run

    @property
    def records(self) -> list[str]:
        """The paths of the records so far, in order."""
        self._settle()
        return [path for path, _ in self._chain]

    @property
    def count(self) -> int:
        return len(self.records)

    @property
    def head(self) -> str:
        """SHA-256 of the last record; zeros before the first."""
        self._settle()
        return self._chain[-1][1] if self._chain else chain.FIRST

    def command(self, *, step: int, check: str, label: str, cwd: str, ran: Ran) -> str:
        """Record a command that ended, or could not start; returns the record's path.

        Of a stream over the cap the record keeps head, tail, size and digest.
        """
        about = {"argv": list(ran.argv), "cwd": cwd, "started": ran.started, "ended": ran.ended, "seconds": ran.seconds}
        fields = {**self.redactor.value(about), "exit": ran.exit, "timed_out": ran.timed_out}
        for name in ("stdout", "stderr"):
            fields |= chain.kept(name, self.redactor.text(getattr(ran, name)))
        return self._append("command", step, check, label, fields)

    def observation(self, *, step: int, check: str, label: str, source: str, observed: Any) -> str:
        """Record anything that was seen without a command; `observed` is made of JSON's types."""
        fields = self.redactor.value({"source": source, "observed": observed})
        return self._append("observation", step, check, label, fields)

    def write(self, name: str, text: str) -> None:
        """Write the file `name` of this run's folder, once. A secret that is still in it is hidden."""
        if self._sealed:
            raise EvidenceError(f"cannot write {name}: the run {self.run} is sealed; start a new run")
        writeonce.create(self.root, f"runs/{self.run}", name, self.redactor.text(text).encode("utf-8", "replace"))

    def close_chain(self) -> str:
        """End the chain and return its head; nothing can be recorded after that."""
        with self._turn:
            self._closed = True
            return self.head

    def seal(self, reports: Iterable[str]) -> str:
        """Seal the run with these files of its folder, and make `latest` name it.

        Returns the SHA-256 of seal.json, which holds the head and the digest of every report.
        """
        self.close_chain()
        seal = _seal(self.root, self.run, SEALED, self._mark, self._chain, reports)
        self._sealed = True
        writeonce.point(self.root, "latest", f"runs/{self.run}")
        return seal

    def _append(self, kind: str, step: int, check: str, label: str, fields: Mapping[str, Any]) -> str:
        with self._turn:
            if self._closed:
                raise EvidenceError(f"cannot record {label!r}: the chain of run {self.run} is closed")
            seq, prev, label = self.count + 1, self.head, self.redactor.text(label)
            about = {"kind": kind, **self._mark, "seq": seq, "prev": prev, "step": step, "check": check, "label": label}
            data = chain.encode({**about, **self._time(), **fields})
            path = chain.record_path(step, self.run, seq, label)
            self._pending = entry = (path, chain.digest(data))
            folder, name = path.split("/")
            writeonce.create(self.root, folder, name, data)
            self._pending = entry
            self._settle()
            return path

    def _settle(self) -> None:
        """Take up the record that was being written: an interrupt may come between a file and what we know of it."""
        with self._turn:
            pending = self._pending
            if pending and pending not in self._chain[-1:] and _holds(self.root / pending[0], pending[1]):
                self._chain.append(pending)
            self._pending = None

    def _time(self) -> dict[str, Any]:
        """The record's time; of a clock that was set back the record says so, since verify reads the order."""
        time = chain.stamp(now())
        back = {"clock_set_back": True} if time < self._last else {}
        self._last = time
        return {"time": time, **back}


def _host(host: str) -> dict[str, Any]:
    return {"host": host, "rehearsal": True} if host == REHEARSAL else {"host": host}


def _reserve(root: Path) -> str:
    """The id of a new run, whose folder is made."""
    moment = now()
    for attempt in range(1, MOST_RUNS_A_SECOND + 1):
        run = chain.run_id(moment, attempt)
        if writeonce.reserve(root, "runs", run):
            return run
    raise EvidenceError(f"{root / 'runs'} has {MOST_RUNS_A_SECOND} runs of this second; wait a second and run again")


def _abandon(root: Path, run: str) -> bool:
    """Seal what a run that was cut off left behind; False when its seal was there and only lacked the sums."""
    folder = root / "runs" / run
    with writeonce.explained(folder):
        records = [(path, _digest(root / path)) for path in recorded.record_paths(root, run)]
        for part in [*folder.glob(".*.part"), *root.glob(f"step-*/.{run}-*.part")]:
            part.unlink()
        names = [path.name for path in folder.iterdir() if recorded.is_plain(path) and path.name != chain.SEAL]
    if (folder / chain.SEAL).exists():
        _sum(root, run, records, names)
        return False
    _seal(root, run, ABANDONED, {"run": run, **_host(_host_of(root, records))}, records, names)
    return True


def _host_of(root: Path, records: Iterable[tuple[str, str]]) -> str:
    """live or rehearsal, as the first record that can be read says."""
    for path, _ in records:
        with suppress(EvidenceError):
            return str(recorded.read_object(root / path).get("host", ""))
    return ""


def _seal(
    root: Path,
    run: str,
    state: str,
    mark: Mapping[str, Any],
    records: Sequence[tuple[str, str]],
    reports: Iterable[str],
) -> str:
    reports = sorted(reports)
    seal = chain.seal(
        {"kind": "seal", **mark},
        state=state,
        time=chain.stamp(now()),
        digests=[value for _, value in records],
        files={name: _digest(root / "runs" / run / name) for name in reports},
    )
    writeonce.create(root, f"runs/{run}", chain.SEAL, seal)
    _sum(root, run, records, reports)
    return chain.digest(seal)


def _sum(root: Path, run: str, records: Sequence[tuple[str, str]], reports: Iterable[str]) -> None:
    files = [(name, _digest(root / "runs" / run / name)) for name in (*reports, chain.SEAL)]
    writeonce.create(root, f"runs/{run}", chain.SUMS, chain.sums(records, files))


def _digest(path: Path) -> str:
    return chain.digest(recorded.read_bytes(path))


def _holds(path: Path, digest: str) -> bool:
    return path.is_file() and chain.digest(path.read_bytes()) == digest
