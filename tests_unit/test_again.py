"""The command that asks again names the same host, home and settings, and neither a selection nor a fault."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from pytest_amap.session import again

pytest_plugins = ["pytester"]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("tests_live --apply", "pytest tests_live --apply"),
        ("-k unknown_3 -x -q --apply", "pytest tests_live --apply"),
        ("--apply --rehearsal --fault inbox-writable -m unknown", "pytest tests_live --apply --rehearsal"),
        ("--apply --rehearsal -k unknown_3", "pytest tests_live --apply --rehearsal --amap-home /made"),
        ("--apply --rehearsal --amap-home /mine", "pytest tests_live --apply --rehearsal --amap-home /mine"),
        ("--apply --amap-home '/a b/h' --only-step 3", "pytest tests_live --apply --amap-home '/a b/h'"),
        (
            "--apply --fleet mine.json --declare 'x-: no' --declare 'y-: no' -o amap_port=1 -o amap_docker=podman",
            "pytest tests_live --apply --fleet mine.json --declare 'x-: no' --declare 'y-: no' "
            "-o amap_port=1 -o amap_docker=podman",
        ),
    ],
)
def test_what_stays_and_what_goes(pytester: pytest.Pytester, typed: str, said: str) -> None:
    pytester.mkdir("tests_live")
    pytester.makeini("[pytest]\n")
    config = pytester.parseconfig("-p", "pytest_amap.plugin", *shlex.split(typed))
    assert again.command(config, "/made") == said


def test_it_holds_from_where_it_was_typed(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    live = pytester.mkdir("tests_live")
    pytester.makeini("[pytest]\n")
    monkeypatch.chdir(pytester.mkdir("elsewhere"))
    config = pytester.parseconfig("-p", "pytest_amap.plugin", "--apply", str(live))
    assert (Path.cwd() / shlex.split(again.command(config, "/made"))[1]).resolve() == live
