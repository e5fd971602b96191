"""Observations: every one goes to JSON and comes back as itself, or says of what shape the JSON is not."""

from __future__ import annotations

import dataclasses
import importlib
import json
import types
import typing
from dataclasses import dataclass, fields
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from pytest_amap import checks
from pytest_amap.observations import Listing, Ran, Read, Stat, build, plain, referring

RAN = Ran(("a", "b"), None, "out\n", "", "t0", "t1", timed_out=True, seconds=1.5, record="step-4/x.json")
READ = Read("/f", None, "symlink", "600", 1000, 1000, 5, "t")


class Colour(Enum):
    RED = "red"


@dataclass(frozen=True)
class Inner:
    ran: Ran
    maybe: Read | None = None


@dataclass(frozen=True)
class Seen:
    inner: Inner
    many: tuple[Ran, ...]
    pair: tuple[str, int]
    by_name: dict[str, tuple[Read, ...]]
    listed: list[str]
    colour: Colour
    nothing: str | None
    flag: bool


SEEN = Seen(Inner(RAN, READ), (RAN, RAN), ("a", 1), {"beta": (READ,), "none": ()}, ["x"], Colour.RED, None, True)


@pytest.mark.parametrize("seen", [RAN, READ, Listing("/d", ("a",)), Stat("/s", "absent"), Inner(RAN), SEEN])
def test_a_round_trip_through_json_gives_the_same_observation(seen: Any) -> None:
    assert build(type(seen), json.loads(json.dumps(plain(seen)))) == seen


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (Ran, []),
        (Ran, "text"),
        (Ran, {"argv": ["a"]}),
        (Ran, {**plain(RAN), "argv": "a b"}),
        (Seen, {**plain(SEEN), "pair": ["a"]}),
        (Seen, {**plain(SEEN), "colour": "blue"}),
        (Seen, {**plain(SEEN), "inner": None}),
        (Seen, {**plain(SEEN), "many": {}}),
    ],
)
def test_another_shape_is_an_error_not_a_guess(kind: Any, data: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        build(kind, data)


def test_a_field_that_is_not_known_any_more_is_left_out() -> None:
    """Evidence of a later version can still be read where the rest is there."""
    assert build(Ran, {**plain(RAN), "later": 1}) == RAN


def test_a_part_with_a_record_stands_as_its_record() -> None:
    """It is in the chain already, and the whole of it would stand in the evidence twice."""
    referred = referring(SEEN)
    assert referred["inner"]["ran"] == {"record": "step-4/x.json"}
    assert referred["inner"]["maybe"] == plain(READ)
    assert referred["many"] == [{"record": "step-4/x.json"}] * 2
    assert referred["by_name"] == {"beta": [plain(READ)], "none": []}
    json.dumps(referred)


@pytest.mark.parametrize(
    ("ran", "said"),
    [
        (Ran((), 1, "out", "\n  Error: x  \nmore", "", ""), "Error: x"),
        (Ran((), 1, "\nout\n", " \n", "", ""), "out"),
        (Ran((), 7, "", "", "", ""), "exit 7, no output"),
        (Ran((), None, "", "", "", "", timed_out=True), "no answer in time"),
    ],
)
def test_what_is_worth_showing(ran: Ran, said: str) -> None:
    assert ran.said == said


def test_only_exit_0_is_ok() -> None:
    assert [Ran((), code, "", "", "", "").ok for code in (0, 1, -9, None)] == [True, False, False, False]


CHECKS = sorted(path.stem for path in Path(str(checks.__file__)).parent.glob("*.py"))


@pytest.mark.parametrize("name", [name for name in CHECKS if name.startswith(("pass_criterion_", "unknown_"))])
def test_what_every_check_sees_is_made_of_what_build_can_make(name: str) -> None:
    """A field of a type that JSON cannot hold would judge differently in a replay."""
    seen = importlib.import_module(f"pytest_amap.checks.{name}").Seen
    assert fields(seen)
    assert unbuildable(seen, name) == []


def unbuildable(kind: Any, where: str) -> list[str]:
    """The fields below `kind` that `build` would hand through as they are without being JSON's own."""
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        return [bad for f in fields(kind) for bad in unbuildable(hints[f.name], f"{where}.{f.name}")]
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        inner = [arg for arg in args if arg is not type(None)]
        return unbuildable(inner[0], where) if len(inner) == 1 else [f"{where}: {kind}"]
    if origin in (tuple, list):
        return [bad for arg in args if arg is not Ellipsis for bad in unbuildable(arg, where)]
    if origin is dict:
        return ([f"{where}: key {args[0]}"] if args[0] is not str else []) + unbuildable(args[1], where)
    scalar = kind in (str, int, float, bool) or (isinstance(kind, type) and issubclass(kind, Enum))
    return [] if scalar else [f"{where}: {kind}"]
