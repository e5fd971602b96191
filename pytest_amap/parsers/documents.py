"""JSON as it is defined, no more: no duplicate key, no NaN, no Infinity, a bounded size."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any

from . import Unreadable, shown

LIMIT = 8 * 1024 * 1024
"""Characters of JSON text that are read at all; a document of AMAP has at most 1 MiB."""


def value(text: str, limit: int = LIMIT) -> Any:
    """The JSON value that `text` is, or Unreadable.

    Nothing may stand before or after it but white space.
    """
    if len(text) > limit:
        return Unreadable(f"expected at most {limit} characters of JSON, saw {len(text)}")
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_float)
    except RecursionError:
        return Unreadable("expected JSON, saw it nested too deeply to be read")
    except ValueError as error:
        return Unreadable(f"expected JSON, saw {shown(text.strip())} ({error})")


def document(text: str, limit: int = LIMIT) -> dict[str, Any] | Unreadable:
    """The JSON object that `text` is."""
    read = value(text, limit)
    if isinstance(read, (dict, Unreadable)):
        return read
    return Unreadable(f"expected a JSON object, saw {shown(read)}")


def words(item: object, *keys: str) -> tuple[str, ...] | Unreadable:
    """The strings under `keys` of a JSON object, each there, not empty and not edged with space."""
    if not isinstance(item, dict):
        return Unreadable(f"expected a JSON object, saw {shown(item)}")
    found = []
    for key in keys:
        word = item.get(key)
        if not isinstance(word, str) or not word or word != word.strip():
            return Unreadable(f"expected a word under {key!r}, saw {shown(word)}")
        found.append(word)
    return tuple(found)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read = dict(pairs)
    if len(read) != len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the key {shown(twice)} stands twice in one object")
    return read


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _float(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"{shown(digits)} is too large a number")
    return number
