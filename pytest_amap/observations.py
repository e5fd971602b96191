"""What collectors see and judges judge: plain frozen dataclasses, each naming its record. Pure.

`build` makes any of them again from a record's JSON, by their annotations: replay needs nothing else.
"""

from __future__ import annotations

import dataclasses
import enum
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from pytest_amap.parsers import Unreadable, text

T = TypeVar("T")


@dataclass(frozen=True)
class Ran:
    """One command that was started, or could not be.

    `exit` is None when the program did not run or did not end in time (`timed_out`); then `stderr` says why.
    `started` and `ended` are UTC, ISO 8601 with milliseconds and Z. `record` is a path relative to evidence/.
    """

    argv: tuple[str, ...]
    exit: int | None
    stdout: str
    stderr: str
    started: str
    ended: str
    timed_out: bool = False
    seconds: float = 0.0
    record: str = ""

    @property
    def ok(self) -> bool:
        return self.exit == 0

    def parsed(self, reader: Callable[[str], T | Unreadable]) -> T | Unreadable:
        """What `reader` makes of its stdout; of a command that did not succeed, what it said."""
        return reader(self.stdout) if self.ok else Unreadable(self.said)

    @property
    def said(self) -> str:
        """What is worth showing a person: stderr's, else stdout's, else how it ended."""
        for stream in (self.stderr, self.stdout):
            if told := text.gist(stream):
                return told[:300]
        return "no answer in time" if self.timed_out else f"exit {self.exit}, no output"

    @property
    def told(self) -> str:
        """All that it said in one sentence, error boxes unwrapped."""
        whole = text.one_line(self.stderr or self.stdout)[:400]
        return "no end within its deadline" if self.timed_out else whole or self.said


@dataclass(frozen=True)
class Read:
    """One host file, read without following a symlink and up to a cap.

    `problem` is None when it was read whole, else a word: an errno name, "symlink", "not a regular file",
    "too large"; then `text` is None. `mtime` is UTC ISO 8601 with milliseconds; `mode` like "600".
    """

    path: str
    text: str | None
    problem: str | None = None
    mode: str = ""
    uid: int = -1
    gid: int = -1
    size: int = -1
    mtime: str = ""
    record: str = ""


@dataclass(frozen=True)
class Listing:
    """The names in one host directory, sorted; `problem` as in Read, then `names` is empty."""

    path: str
    names: tuple[str, ...]
    problem: str | None = None
    record: str = ""


@dataclass(frozen=True)
class Stat:
    """lstat of one host path; `kind` is file, directory, symlink, other, or absent."""

    path: str
    kind: str
    mode: str = ""
    uid: int = -1
    gid: int = -1
    mtime: str = ""
    device: int = -1
    inode: int = -1
    problem: str | None = None
    record: str = ""


RECORDED = (Ran, Read, Listing, Stat)
"""The observations that have a record of their own."""


def plain(value: Any) -> Any:
    """A dataclass, or anything made of them, as JSON's own types."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    return value


Loader = Callable[[str], Any]
"""From a record's path to the JSON of the observation it holds."""


def build(kind: Any, data: Any, load: Loader | None = None) -> Any:
    """The value of type `kind` that `plain`, or with `load` `referring`, turned into `data`.

    Handles dataclasses, tuple[X, ...], list[X], dict[str, X], X | None, enums and scalars; a field of a dataclass
    that `data` lacks has its default. Raises TypeError or ValueError when `data` is not of that shape.
    """
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return _build_dataclass(kind, data, load)
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        if data is None and type(None) in args:
            return None
        return build(next(arg for arg in args if arg is not type(None)), data, load)
    if origin in (tuple, list):
        _expect(list, data)
        if origin is tuple and Ellipsis not in args:
            return tuple(build(arg, item, load) for arg, item in zip(args, data, strict=True))
        return origin(build(args[0], item, load) for item in data)
    if origin is dict:
        _expect(dict, data)
        return {key: build(args[1], item, load) for key, item in data.items()}
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return kind(data)
    if kind in (str, int, float, bool):
        _expect((int, float) if kind is float else kind, data)
    return data


def _build_dataclass(kind: type, data: Any, load: Loader | None) -> Any:
    _expect(dict, data)
    if load is not None and kind in RECORDED and list(data) == ["record"]:
        return build(kind, load(data["record"]))
    hints = typing.get_type_hints(kind)
    known = {f.name for f in dataclasses.fields(kind)}
    return kind(**{name: build(hints[name], item, load) for name, item in data.items() if name in known})


def _expect(kind: type | tuple[type, ...], data: Any) -> None:
    """A bool is no number here, though Python takes it for one."""
    if not isinstance(data, kind) or (isinstance(data, bool) and kind is not bool):
        names = " or ".join(one.__name__ for one in (kind if isinstance(kind, tuple) else (kind,)))
        raise TypeError(f"expected {names}, saw {type(data).__name__}")


def referring(value: Any) -> Any:
    """Like `plain`, but an observation that has its own record stands as {"record": path}."""
    if isinstance(value, RECORDED) and value.record:
        return {"record": value.record}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: referring(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): referring(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [referring(item) for item in value]
    return plain(value)
