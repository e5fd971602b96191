"""No host path in a report: the home, the checkouts and this repository stand there by their names. Pure."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from kit.siblings import KINDS

T = TypeVar("T")
KEPT = "places"
"""Where results.json keeps them, among its `extra`."""


def of(homes: Iterable[str], repository: str, siblings: Mapping[str, str], user_home: str) -> dict[str, str]:
    """Path to name, for `named`; `homes` are the spellings of AMAP_OPENSHELL_HOME. The longest path wins."""
    found = {path: f"${KINDS[name].variable}" for name, path in siblings.items()}
    found |= {user_home: "$HOME", repository: "this repository"} | {home: "$AMAP_OPENSHELL_HOME" for home in homes}
    return _longest_first(found)


def named(value: T, places: Mapping[str, str]) -> T:
    """The value with each path replaced, in every text of any dataclass, tuple or mapping."""
    return _named(value, places)


def kept(value: object, places: Mapping[str, str]) -> dict[str, str]:
    """The places that the value speaks of: with them alone its report can be made again, on any machine."""
    return {path: name for path, name in places.items() if _named(value, {path: name}) != value}


def recorded(results: Mapping[str, Any]) -> dict[str, str]:
    """The places that were kept in a run's results.json; none where it has none."""
    known = results["results"]["extra"].get(KEPT)
    pairs = known.items() if isinstance(known, dict) else ()
    return _longest_first({path: str(name) for path, name in pairs if path.startswith("/")})


def _longest_first(places: Mapping[str, str]) -> dict[str, str]:
    return {path: name for path, name in sorted(places.items(), key=lambda item: -len(item[0])) if len(path) > 1}


def _named(value: Any, places: Mapping[str, str]) -> Any:
    if isinstance(value, str) and type(value) is str:
        for path, name in places.items():
            value = name.join(_whole(path).split(value))
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        changes = {f.name: _named(getattr(value, f.name), places) for f in dataclasses.fields(value)}
        return dataclasses.replace(value, **changes)
    if isinstance(value, tuple):
        return tuple(_named(item, places) for item in value)
    if isinstance(value, dict):
        return {key: _named(item, places) for key, item in value.items()}
    return value


def _whole(path: str) -> re.Pattern[str]:
    """The path where it stands as one, not as the beginning or the end of another's name."""
    return re.compile(rf"(?<![\w./-]){re.escape(path)}(?![\w-]|\.\w)")
