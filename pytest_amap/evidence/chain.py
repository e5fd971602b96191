"""The chain of records: their names, their bytes, their digests. Pure.

Each record holds the SHA-256 of the record before it; a seal holds the count and the last digest, the head.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

FIRST = "0" * 64
"""`prev` of a run's first record."""
CAP = 1 << 20
"""Bytes of one output stream that a record keeps; of more it keeps the head and the tail."""
HOSTS = ("live", "rehearsal")
SEAL = "seal.json"
SUMS = "SHA256SUMS"
RUN = re.compile(r"\d{8}T\d{6}Z(?:-\d{1,2})?")
RECORD = re.compile(rf"(?P<run>{RUN.pattern})-(?P<seq>\d{{3,}})-(?P<slug>[a-z0-9-]+)\.json")


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def encode(record: Mapping[str, Any]) -> bytes:
    """The bytes of a record, a seal or any other JSON file of the evidence."""
    try:
        return (json.dumps(record, indent=1, ensure_ascii=False) + "\n").encode()
    except UnicodeEncodeError:  # a lone surrogate, out of a file name that is no UTF-8
        return (json.dumps(record, indent=1) + "\n").encode()


def stamp(moment: datetime) -> str:
    """UTC as in every record: 2026-11-29T12:00:00.000Z."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def run_id(moment: datetime, attempt: int = 1) -> str:
    """20261129T120000Z, then 20261129T120000Z-2 and so on for runs of one second."""
    name = moment.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    return name if attempt == 1 else f"{name}-{attempt}"


def record_path(step: int, run: str, seq: int, label: str) -> str:
    """Where a record stands, relative to evidence/."""
    slug = re.sub(r"[^a-z0-9]+", "-", label.lower()).strip("-")[:60].strip("-") or "record"
    return f"step-{step}/{run}-{seq:03d}-{slug}.json"


def kept(name: str, text: str) -> dict[str, Any]:
    """A stream's fields in a record. `text` is redacted, and so is what the digest of a cut one is of."""
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= CAP:
        return {name: text}
    head = data[: CAP // 2].decode("utf-8", "ignore")
    tail = data[-CAP // 2 :].decode("utf-8", "ignore")
    return {
        name: f"{head}\n[... cut here: {len(data) - CAP} of {len(data)} bytes left out ...]\n{tail}",
        f"{name}_bytes": len(data),
        f"{name}_sha256": digest(data),
    }


def seal(mark: Mapping[str, Any], *, state: str, time: str, digests: Sequence[str], files: Mapping[str, str]) -> bytes:
    """The bytes of seal.json. `digests` are the records' in order, `files` those of the run's reports."""
    head = digests[-1] if digests else FIRST
    return encode({**mark, "state": state, "time": time, "count": len(digests), "head": head, "files": dict(files)})


def sums(records: Iterable[tuple[str, str]], files: Iterable[tuple[str, str]]) -> bytes:
    """The bytes of SHA256SUMS: (path relative to evidence/, digest) of the records, (name, digest) of the rest."""
    lines = [f"{value}  ../../{path}\n" for path, value in records]
    lines += [f"{value}  {name}\n" for name, value in sorted(files)]
    return "".join(lines).encode("utf-8", "surrogateescape")
