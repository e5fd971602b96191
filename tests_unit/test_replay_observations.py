"""Observations made again from records: every shape, and nothing that a hostile record says."""

from __future__ import annotations

import importlib
import json
import os
import shutil
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from pytest_amap.catalogue import L1
from pytest_amap.evidence import recollect
from pytest_amap.evidence.recorded import EvidenceError, RecordedRun, read_run
from pytest_amap.observations import Ran, Read, build, plain, referring
from pytest_amap.verdicts import FAIL, PASS, UNKNOWN, Part, verdict

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "evidence"
RAN = Ran(("a",), 0, "out", "", "2026-11-29T12:00:00.000Z", "2026-11-29T12:00:01.000Z")


class Colour(Enum):
    RED = "red"


@dataclass(frozen=True)
class Everything:
    text: str
    number: float
    maybe: Ran | None
    many: tuple[Read, ...]
    pair: tuple[int, str]
    table: dict[str, list[int]]
    colour: Colour
    flag: bool = False


WHOLE = Everything("t", 1.5, RAN, (Read("/p", None, "ENOENT"),), (1, "x"), {"a": [1, 2]}, Colour.RED, True)


@pytest.fixture(scope="module")
def example() -> RecordedRun:
    return read_run(EXAMPLE)


def test_what_is_plain_is_built_again() -> None:
    assert build(Everything, json.loads(json.dumps(plain(WHOLE)))) == WHOLE


def test_what_refers_to_records_is_built_from_them() -> None:
    kept = replace(WHOLE, maybe=replace(RAN, record="step-1/a.json"))
    data = json.loads(json.dumps(referring(kept)))
    assert data["maybe"] == {"record": "step-1/a.json"}
    assert build(Everything, data, lambda path: {**plain(RAN), "record": path}) == kept


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("text", 1),
        ("text", None),
        ("number", "1"),
        ("flag", 1),
        ("many", {}),
        ("many", ["x"]),
        ("pair", [1]),
        ("pair", [True, "x"]),
        ("table", []),
        ("table", {"a": 1}),
        ("colour", "blue"),
        ("maybe", {"record": "x"}),
        ("maybe", {"argv": []}),
    ],
)
def test_another_shape_is_a_type_or_value_error(name: str, value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        build(Everything, {**plain(WHOLE), name: value})


@pytest.mark.parametrize("check", L1.ids)
def test_every_collector_says_what_it_returns(check: str) -> None:
    module = importlib.import_module(f"pytest_amap.checks.{check}")
    assert module.collect.__annotations__["return"] == "Seen"


@pytest.mark.parametrize("check", L1.ids)
def test_every_judge_comes_to_the_examples_outcome(check: str, example: RecordedRun) -> None:
    """Judges take observations alone. Where a judge takes others since: python examples/make_evidence.py."""
    module = importlib.import_module(f"pytest_amap.checks.{check}")
    then = recollect.result_of(example, L1)
    assert then is not None
    parts = module.judge(recollect.Observations(example).of(check, module.Seen))
    assert verdict(parts)[0] is next(result.outcome for result in then.checks if result.check.id == check)


def with_record(example: RecordedRun, check: str, change: dict[str, Any]) -> recollect.Observations:
    """The example, with fields of the first record that the check's observation rests on changed."""
    seen = next(r for r in example.records if (r.data["label"], r.data["check"]) == ("seen", check))
    target = seen.data["observed"]["attempt"]["inbox"]["record"]
    records = tuple(replace(r, data={**r.data, **change}) if r.path == target else r for r in example.records)
    return recollect.Observations(replace(example, records=records))


def test_a_cut_record_is_told(example: RecordedRun) -> None:
    kind = importlib.import_module("pytest_amap.checks.unknown_2").Seen
    with pytest.raises(recollect.Cut):
        with_record(example, "unknown_2", {"stdout_bytes": 9}).of("unknown_2", kind)


@pytest.mark.parametrize("change", [{"exit": "0"}, {"argv": "x"}, {"kind": "observation"}, {"stdout": None}])
def test_a_record_of_another_shape_is_unseen(example: RecordedRun, change: dict[str, Any]) -> None:
    kind = importlib.import_module("pytest_amap.checks.unknown_2").Seen
    with pytest.raises(recollect.Unseen, match="is not what this suite's judge takes"):
        with_record(example, "unknown_2", change).of("unknown_2", kind)


@pytest.mark.parametrize("path", ["/etc/passwd", "../../../etc/passwd", "step-8/none.json", "", 7, None, ["x"]])
def test_a_reference_leads_to_records_of_the_run_alone(example: RecordedRun, path: object) -> None:
    seen = next(r for r in example.records if (r.data["label"], r.data["check"]) == ("seen", "unknown_2"))
    observed = {"attempt": {**seen.data["observed"]["attempt"], "inbox": {"record": path}}}
    records = tuple(replace(r, data={**r.data, "observed": observed}) if r is seen else r for r in example.records)
    kind = importlib.import_module("pytest_amap.checks.unknown_2").Seen
    with pytest.raises(recollect.Unseen, match="no record of this run"):
        recollect.Observations(replace(example, records=records)).of("unknown_2", kind)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(EXAMPLE, tmp_path / "evidence")
    return tmp_path / "evidence"


def first_record(root: Path) -> Path:
    return sorted(root.glob("step-0/*.json"))[0]


@pytest.mark.parametrize("how", ["a symlink", "a pipe", "a folder", "too large", "too deep", "a list", "no UTF-8"])
def test_hostile_files_are_one_sentence(copy: Path, how: str, tmp_path: Path) -> None:
    path = first_record(copy)
    path.unlink()
    if how == "a symlink":
        (tmp_path / "outside.json").write_text("{}")
        path.symlink_to(tmp_path / "outside.json")
    elif how == "a pipe":
        os.mkfifo(path)
    elif how == "a folder":
        path.mkdir()
    elif how == "too large":
        with path.open("wb") as file:
            file.truncate(1 << 40)
    else:
        path.write_bytes({"too deep": b"[" * 200_000, "a list": b"[]", "no UTF-8": b'"\xff'}[how])
    with pytest.raises(EvidenceError) as refused:
        read_run(copy)
    assert "\n" not in str(refused.value)
    assert path.name in str(refused.value)


def test_a_run_folder_that_is_a_symlink_is_no_run(copy: Path, tmp_path: Path) -> None:
    run = copy / (copy / "latest").read_text().strip()
    run.rename(tmp_path / "elsewhere")
    run.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(EvidenceError, match="which is not there"):
        read_run(copy)


@pytest.mark.parametrize("latest", ["../..", "/etc", "runs/../../x", "runs/20261129T160317Z/..", "\0", ""])
def test_latest_names_a_run_and_nothing_else(copy: Path, latest: str) -> None:
    (copy / "latest").write_text(latest)
    with pytest.raises(EvidenceError, match="holds no run"):
        read_run(copy)


@pytest.mark.parametrize(
    "results", [{}, {"results": None}, {"results": {"extra": {}, "tests": []}}, {"results": {"tests": [1]}}]
)
def test_results_of_another_shape_are_one_sentence(example: RecordedRun, results: dict[str, Any]) -> None:
    with pytest.raises(EvidenceError, match="has not the shape"):
        recollect.result_of(replace(example, results=results), L1)


def test_changes_names_the_outcome_first_then_the_part(example: RecordedRun) -> None:
    then = recollect.result_of(example, L1)
    assert then is not None
    assert list(recollect.changes(then, then)) == []
    one = then.checks[1]
    failed = replace(one, outcome=FAIL, reason="r")
    assert list(recollect.changes(then, replace(then, checks=(failed,)))) == [
        f"{one.check.id}: recorded {one.outcome}, judged FAIL by this suite; then: {one.reason}; now: r"
    ]
    reworded = replace(one, parts=(replace(one.parts[0], seen="x"), *one.parts[1:], Part("new", PASS, "a", "a")))
    (line,) = recollect.changes(then, replace(then, checks=(reworded,)))
    assert line.startswith(
        f"{one.check.id}: {one.outcome} as recorded, in other words; then: PASS, {one.parts[0].reason}"
    )


def test_spoiled_is_what_no_judge_said(example: RecordedRun) -> None:
    then = recollect.result_of(example, L1)
    assert then is not None
    result = then.checks[1]
    unknown = Part("q", UNKNOWN, "a", "b")
    assert not recollect.spoiled(replace(result, outcome=UNKNOWN, reason=unknown.reason, parts=(unknown,)))
    assert recollect.spoiled(replace(result, outcome=UNKNOWN, reason="did not run to its end"))
    assert recollect.spoiled(replace(result, outcome=UNKNOWN, reason="interrupted", parts=()))
    assert not recollect.spoiled(result)
