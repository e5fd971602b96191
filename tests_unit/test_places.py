"""No host path in a report, and no word that only looks like one is changed."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from pytest_amap.report import places
from pytest_amap.verdicts import FAIL, Outcome, Part

KNOWN = places.of(
    ["/srv/amap", "/data/srv/amap"],
    "/home/op/pytest-amap",
    {"router": "/home/op/amap-router-local", "spec": "/home/op/amap-spec"},
    "/home/op",
)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("/srv/amap", "$AMAP_OPENSHELL_HOME"),
        ("/srv/amap/evidence/latest", "$AMAP_OPENSHELL_HOME/evidence/latest"),
        ("/data/srv/amap/roster", "$AMAP_OPENSHELL_HOME/roster"),
        (
            "source=/srv/amap/payload,target=/opt/amap/payload",
            "source=$AMAP_OPENSHELL_HOME/payload,target=/opt/amap/payload",
        ),
        ("'/srv/amap', \"/srv/amap\"", "'$AMAP_OPENSHELL_HOME', \"$AMAP_OPENSHELL_HOME\""),
        ("look at /srv/amap.", "look at $AMAP_OPENSHELL_HOME."),
        ("/home/op/amap-router-local/docker/run.sh", "$AMAP_ROUTER_REPO/docker/run.sh"),
        ("/home/op/pytest-amap/image", "this repository/image"),
        ("/home/op/.config/openshell/gateway.toml", "$HOME/.config/openshell/gateway.toml"),
        ("/srv/amap2/x", "/srv/amap2/x"),
        ("/srv/amap-old", "/srv/amap-old"),
        ("/srv/amap.bak", "/srv/amap.bak"),
        ("/mnt/srv/amap", "/mnt/srv/amap"),
        ("/home/operator", "/home/operator"),
        ("/opt/amap/lanes/inbox", "/opt/amap/lanes/inbox"),
    ],
)
def test_a_path_gets_its_name_and_a_look_alike_none(text: str, named: str) -> None:
    assert places.named(text, KNOWN) == named


@dataclass(frozen=True)
class Row:
    outcome: Outcome
    parts: tuple[Part, ...]
    facts: dict[str, str]
    count: int


def test_every_text_is_reached_and_nothing_else_is_changed() -> None:
    part = Part("/srv/amap", FAIL, "x", "/home/op/x", ("step-8/r.json",))
    seen = places.named(Row(FAIL, (part,), {"home": "/srv/amap"}, 3), KNOWN)
    assert seen == Row(
        FAIL,
        (Part("$AMAP_OPENSHELL_HOME", FAIL, "x", "$HOME/x", ("step-8/r.json",)),),
        {"home": "$AMAP_OPENSHELL_HOME"},
        3,
    )
    assert seen.outcome is FAIL


@pytest.mark.parametrize("useless", ["", "/"])
def test_a_home_that_says_nothing_names_nothing(useless: str) -> None:
    assert places.of([useless], useless, {}, useless) == {}
    assert places.named("/etc/os-release", places.of([useless], "/repo", {}, useless)) == "/etc/os-release"


def test_only_what_a_report_speaks_of_is_kept() -> None:
    """A rehearsal's own paths are the same everywhere; the person's stay out of its evidence."""
    assert places.kept(Row(FAIL, (), {"at": "/srv/amap/roster"}, 3), KNOWN) == {"/srv/amap": "$AMAP_OPENSHELL_HOME"}


@pytest.mark.parametrize("kept", [None, [], "x", {"UNKNOWN": "PASS"}])
def test_a_results_file_of_another_shape_names_no_place(kept: object) -> None:
    assert places.recorded({"results": {"extra": {"places": kept}}}) == {}
    assert places.recorded({"results": {"extra": {}}}) == {}


def test_the_longest_place_that_was_kept_wins() -> None:
    known = places.recorded({"results": {"extra": {"places": {"/a": "A", "/a/b": "B"}}}})
    assert places.named("/a/b/c", known) == "B/c"
