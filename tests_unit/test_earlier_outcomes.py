"""The last earlier outcome of a check, and whether what it rests on is still the same."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from report_sample import check_result, only, run_of

from pytest_amap.catalogue import L1
from pytest_amap.evidence import ctrf
from pytest_amap.report import earlier
from pytest_amap.results import Fact, RunResult
from pytest_amap.verdicts import FAIL, PASS, UNKNOWN

FACTS = {
    "sandboxes": "alpha a1, beta b1",
    "image": "tag sha256:1",
    "fleet": "f",
    "router_config": "r",
    "spec_commit": "s",
}
OLD, MIDDLE, NEW = "20261129T120000Z", "20261129T120000Z-2", "20261129T130000Z"


def put(root: Path, run: RunResult, name: str, **facts: str) -> None:
    known = tuple(Fact(key, value) for key, value in (FACTS | facts).items())
    folder = root / "runs" / name
    folder.mkdir(parents=True)
    document = ctrf.results(replace(run, run=name, facts=known))
    (folder / "results.json").write_text(json.dumps(document))


def test_the_newest_run_that_asked_a_check_is_the_one_shown(tmp_path: Path) -> None:
    put(tmp_path, run_of(check_result("unknown_2", UNKNOWN)), OLD)
    put(tmp_path, only("unknown_2", FAIL), MIDDLE)
    put(tmp_path, only("unknown_6"), NEW)
    found = earlier.outcomes(tmp_path, L1, but=NEW, checks=("unknown_2", "unknown_3", "unknown_6"), facts=FACTS)
    assert {name: (known.outcome, known.run) for name, known in found.items()} == {
        "unknown_2": (FAIL, MIDDLE),
        "unknown_3": (PASS, OLD),
        "unknown_6": (PASS, OLD),
    }
    assert {known.identity for known in found.values()} == {"same identity"}


@pytest.mark.parametrize("content", ["", "{", "[]", '{"results": {}}'])
def test_a_run_that_left_no_readable_results_is_passed_over(tmp_path: Path, content: str) -> None:
    put(tmp_path, run_of(), OLD)
    (tmp_path / "runs" / NEW).mkdir()
    (tmp_path / "runs" / NEW / "results.json").write_text(content)
    found = earlier.outcomes(tmp_path, L1, but="", checks=L1.ids, facts=FACTS)
    assert {known.run for known in found.values()} == {OLD}


WRONG = [
    ("facts", "x"), ("facts", {"image": 5}), ("facts", []), ("run", 5), ("records", "9"), ("steps", {}), ("left", [1]),
    ("head", None), ("host", "another"), ("declared", "x"), ("not_checked", [[]]), ("started", {}),
]  # fmt: skip
"""Fields of `extra` of another type than ours: whoever reads them later would stumble."""


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_a_run_whose_results_have_another_shape_is_passed_over(name: str, value: object, tmp_path: Path) -> None:
    put(tmp_path, run_of(), OLD)
    put(tmp_path, run_of(), NEW)
    path = tmp_path / "runs" / NEW / "results.json"
    document = json.loads(path.read_text())
    document["results"]["extra"][name] = value
    path.write_text(json.dumps(document))
    found = earlier.outcomes(tmp_path, L1, but="", checks=L1.ids, facts=FACTS)
    assert {known.run for known in found.values()} == {OLD}


@pytest.mark.parametrize(
    ("name", "value"), [("message", 5), ("name", []), ("rawStatus", {}), ("extra", []), ("extra", {"selected": 1})]
)
def test_a_run_whose_checks_have_another_shape_is_passed_over(name: str, value: object, tmp_path: Path) -> None:
    put(tmp_path, run_of(), OLD)
    put(tmp_path, run_of(), NEW)
    path = tmp_path / "runs" / NEW / "results.json"
    document = json.loads(path.read_text())
    test = document["results"]["tests"][0]
    test[name] = test[name] | value if isinstance(value, dict) and name == "extra" else value
    path.write_text(json.dumps(document))
    found = earlier.outcomes(tmp_path, L1, but="", checks=L1.ids, facts=FACTS)
    assert {known.run for known in found.values()} == {OLD}


def test_without_an_earlier_run_nothing_is_claimed(tmp_path: Path) -> None:
    assert earlier.outcomes(tmp_path, L1, but="", checks=L1.ids, facts=FACTS) == {}


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (FACTS, "same identity"),
        (FACTS | {"image": "tag sha256:2"}, "changed since: image"),
        (FACTS | {"sandboxes": "alpha a2, beta b1", "spec_commit": "t"}, "changed since: sandboxes, spec commit"),
        (FACTS | {"image": "not measured: why"}, "same sandboxes, fleet, router configuration, spec commit; not"),
        ({}, "identity not known"),
    ],
    ids=["same", "image", "two", "not measured", "nothing known"],
)
def test_identity_is_told_in_words(now: dict[str, str], said: str) -> None:
    assert earlier.identity(FACTS, now).startswith(said)


def test_a_fact_that_the_earlier_run_did_not_know_has_changed() -> None:
    then = {name: value for name, value in FACTS.items() if name != "image"}
    assert earlier.identity(then, FACTS) == "changed since: image"
