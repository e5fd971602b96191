"""A gateway.toml with the settings that this deployment needs put in, as text. Pure.

The text is edited line by line and judged as TOML: what does not come out exact is not offered.
"""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from typing import Any

from pytest_amap.parsers.gateway_toml import REQUIRED, Path

_HEADER = re.compile(r"\s*\[(?P<name>[^\[\]]+)\]\s*(?:#.*)?")


class ByHand(Exception):
    """The file is written in a way that a line's edit would not keep; the text says what to do."""


def merged(text: str) -> str:
    """`text` with every required setting; all else stays. Raises ByHand."""
    before = _read(text)
    if before is None:
        raise ByHand("gateway.toml cannot be read as TOML: mend it first")
    wanted = [(path, value) for path, value in REQUIRED if not _holds(before, path, value)]
    for path, value in wanted:
        text = _put(text, path, json.dumps(value))
    for path, value in wanted:
        _set(before, path, value)
    if _read(text) != before:
        raise ByHand("gateway.toml is written in another style than tables: put what is marked WRONG right by hand")
    return text


def diff(text: str, name: str) -> str:
    """The merge as a unified diff, "" where nothing is to be changed. Raises ByHand."""
    new = merged(text)
    lines = difflib.unified_diff(text.splitlines(), new.splitlines(), name, f"{name}, merged", lineterm="")
    return "\n".join(lines)


def _read(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return None


def _holds(data: Any, path: Path, value: object) -> bool:
    for key in path:
        data = data.get(key) if isinstance(data, dict) else None
    return type(data) is type(value) and data == value


def _set(data: dict[str, Any], path: Path, value: object) -> None:
    for key in path[:-1]:
        inner = data.setdefault(key, {})
        if not isinstance(inner, dict):
            raise ByHand(f"{key} in gateway.toml is no table: put what is marked WRONG right by hand")
        data = inner
    data[path[-1]] = value


def _put(text: str, path: Path, literal: str) -> str:
    """Replace the key's line in its table, or add it below the table's header, or add the table at the end."""
    *table, key = path
    lines, line = text.splitlines(), f"{key} = {literal}"
    headers = [(number, _table(line)) for number, line in enumerate(lines) if _table(line)]
    start = next((number for number, name in headers if name == tuple(table)), None)
    if start is None:
        return "\n".join([*lines, *([""] if lines else []), f"[{'.'.join(table)}]", line]) + "\n"
    end = next((number for number, _ in headers if number > start), len(lines))
    for number in range(start + 1, end):
        if re.match(rf"\s*{re.escape(key)}\s*=", lines[number]):
            lines[number] = line
            return "\n".join(lines) + "\n"
    return "\n".join([*lines[: start + 1], line, *lines[start + 1 :]]) + "\n"


def _table(line: str) -> tuple[str, ...]:
    """The table that a line opens, an array's element as (), "" quoted or not."""
    header = _HEADER.fullmatch(line)
    if header is None:
        return ("",) if line.lstrip().startswith("[[") else ()
    return tuple(part.strip().strip("\"'") for part in header["name"].split("."))
