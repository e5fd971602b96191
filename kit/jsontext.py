"""JSON documents of this project: read strictly, written one way."""

from __future__ import annotations

import errno
import json
import stat
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kit.errors import Refused, shown

LIMIT = 16 * 1024 * 1024
"""No file that the kit reads is larger; a device without an end is."""


def render(document: object) -> str:
    """Two spaces of indent, keys in the order given, one final newline."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def parse_object(raw: bytes, source: str) -> dict[str, Any]:
    """The object in `raw` (UTF-8); Refused on bad JSON, a duplicate key, NaN or another top level."""
    try:
        document = json.loads(raw.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Refused(f"{source} is no JSON document ({_one_line(error)}): mend the file") from error
    if not isinstance(document, dict):
        raise Refused(f"{source} holds {type(document).__name__} at its top level: it must be one JSON object")
    return document


def read_bytes(path: Path, remedy: str) -> bytes:
    """The file's bytes; Refused with `remedy` when it is absent or cannot be read."""
    try:
        return regular_bytes(path)
    except OSError as error:
        raise Refused(f"{path} cannot be read ({error.strerror}): {remedy}") from error


def regular_bytes(path: Path) -> bytes:
    """The bytes of a regular file or a link to one; OSError for what would block or never end, too."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "No regular file", str(path))
    with path.open("rb") as stream:
        content = stream.read(LIMIT + 1)
    if len(content) > LIMIT:
        raise OSError(errno.EFBIG, f"More than {LIMIT} bytes", str(path))
    return content


def check_keys(entry: object, keys: Sequence[str], where: str) -> dict[str, Any]:
    """`entry` when it is an object with exactly these keys."""
    if not isinstance(entry, dict) or sorted(entry) != sorted(keys):
        seen = shown(", ".join(sorted(entry))) if isinstance(entry, dict) else type(entry).__name__
        raise Refused(f"{where} must be an object with exactly {', '.join(keys)}, and holds {seen}: mend the file")
    return entry


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) != len(pairs):
        twice = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        raise ValueError(f"duplicate key {shown(twice)}")
    return document


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
