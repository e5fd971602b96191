"""The doorway to the host: one record for everything that is done or seen, and waits that keep what matters."""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_amap.commands import Command
from pytest_amap.evidence.recorded import EvidenceError
from pytest_amap.evidence.redaction import Redactor
from pytest_amap.evidence.store import Evidence
from pytest_amap.host import host as doorway
from pytest_amap.host.host import Host, Place
from pytest_amap.observations import Ran, Read

KEY = "sk-ant-api03-aaaabbbbccccdddd"


class Clock:
    """Time that passes by sleeping alone."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return self.now

    def time(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 3))
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(doorway, "time", made)
    return made


@pytest.fixture
def host(tmp_path: Path) -> Host:
    evidence = Evidence.open(tmp_path / "evidence", Redactor({"ANTHROPIC_API_KEY": KEY}), host="live")
    said: list[str] = []
    environ = {"PATH": os.environ["PATH"], "OPENSHELL_GATEWAY": "x"}
    made = Host(evidence, environ=environ, cwd="/", key=KEY, say=said.append)
    made.said = said  # type: ignore[attr-defined]
    return made


def records(host: Host) -> list[dict[str, Any]]:
    return [json.loads((host.evidence.root / path).read_text()) for path in host.evidence.records]


def answers(*texts: str) -> Iterator[Ran]:
    """One Ran for each text, then the last for ever; times differ, as they do."""
    number = 0
    while True:
        text = texts[min(number, len(texts) - 1)]
        yield Ran(("openshell", "get"), 0, text, "", started=f"t{number}", ended=f"t{number}", seconds=number / 10)
        number += 1


def wait(host: Host, *texts: str, until: str = "", seconds: float = 60, **more: Any) -> Any:
    asked = answers(*texts)
    done = (lambda ran: ran.stdout if ran.stdout == until else None) if until else (lambda ran: None)
    more = {"slowest": doorway.LAST, "stop": str} | more
    return host.wait("alpha Ready", lambda: next(asked), done, seconds=seconds, **more)


def test_a_command_is_recorded_with_its_place_and_its_record_named(host: Host) -> None:
    with host.at(Place(8, "unknown_2")):
        ran = host.run(Command(("sh", "-c", "echo out; pwd; exit 4"), "probe", 20))
    [record] = records(host)
    assert (ran.exit, ran.stdout, ran.record) == (4, "out\n/\n", host.evidence.records[0])
    assert ran.record.startswith("step-8/")
    assert {name: record[name] for name in ("kind", "step", "check", "label", "exit", "timed_out", "cwd")} == {
        "kind": "command", "step": 8, "check": "unknown_2", "label": "probe", "exit": 4, "timed_out": False, "cwd": "/",
    }  # fmt: skip
    assert host.place == Place(0)


def test_the_key_reaches_the_one_command_it_is_for_and_no_record(host: Host) -> None:
    argv = ("sh", "-c", f'echo "[$ANTHROPIC_API_KEY]" "[$OPENSHELL_GATEWAY]" {KEY}')
    keyless, keyed = host.run(Command(argv, "get", 20)), host.run(Command(argv, "create", 20, with_key=True))
    assert keyless.stdout.startswith("[] []")
    assert not keyed.stdout.startswith("[]")
    assert KEY not in f"{keyless}{keyed}{records(host)}"


def test_a_look_leaves_no_record(host: Host) -> None:
    assert host.look(Command(("sh", "-c", "echo out"), "look", 20)).record == ""
    assert host.evidence.count == 0


def test_files_listings_and_stats_are_records_too(host: Host, tmp_path: Path) -> None:
    (tmp_path / "f").write_text(f"key {KEY}")
    read = host.read(str(tmp_path / "f"), "a file")
    (tmp_path / f"name-{KEY}").touch()
    assert not any(KEY in name for name in host.listing(str(tmp_path), "a folder").names)
    host.stat(str(tmp_path / "none"), "nothing")
    host.note("seen", "collect", {"a": (1, 2)})
    assert KEY not in (read.text or "")
    assert [record["kind"] for record in records(host)] == ["observation"] * 4
    assert records(host)[2]["observed"]["kind"] == "absent"
    assert records(host)[3]["observed"] == {"a": [1, 2]}


def test_a_wait_keeps_the_first_answer_each_change_and_the_last(host: Host, clock: Clock) -> None:
    """What differs by its times alone is the same answer."""
    waited = wait(host, "a", "a", "a", "b", "b", "c", until="c")
    assert (waited.value, waited.problem) == ("c", "")
    assert [record["stdout"] for record in records(host)] == ["a", "b", "c"]
    assert waited.last.record == host.evidence.records[-1]


def test_a_wait_that_ends_without_a_change_keeps_first_and_last(host: Host, clock: Clock) -> None:
    waited = wait(host, "a", seconds=3)
    assert (waited.value, waited.problem) == (None, "alpha Ready: nothing after 3 s")
    assert [record["stdout"] for record in records(host)] == ["a", "a"]
    assert waited.last.record == host.evidence.records[-1]


@pytest.mark.parametrize(("place", "why"), [("log.jsonl", "ENOENT"), ("", "not a regular file")])
def test_a_wait_for_a_file_that_nobody_can_read_says_so(
    host: Host, clock: Clock, tmp_path: Path, place: str, why: str
) -> None:
    path = tmp_path / place
    waited = host.wait_file("the placement", str(path), lambda read: read.text, seconds=1)
    assert waited.problem == f"the placement: nothing after 1 s: {path.name} could not be read ({why})"


def test_an_answer_at_once_is_one_record_and_no_pause(host: Host, clock: Clock) -> None:
    assert wait(host, "c", until="c").value == "c"
    assert (host.evidence.count, clock.slept, host.waits) == (1, [], [])


def test_a_command_is_asked_ever_more_rarely_a_file_always_soon(host: Host, clock: Clock) -> None:
    wait(host, "a", seconds=30)
    assert clock.slept[:3] == [0.2, 0.3, 0.45]
    assert max(clock.slept) == doorway.LAST
    clock.slept.clear()
    wait(host, "a", seconds=5, slowest=doorway.FIRST)
    assert max(clock.slept) <= 0.2


def test_a_wait_never_sleeps_past_its_deadline(host: Host, clock: Clock) -> None:
    begun = clock.now
    wait(host, "a", seconds=10)
    assert clock.now == pytest.approx(begun + 10)


def test_a_reason_why_waiting_is_pointless_ends_it(host: Host, clock: Clock) -> None:
    reasons = iter(["", "", "the router exited"])
    waited = wait(host, "a", stop=lambda: next(reasons))
    assert (waited.value, waited.problem) == (None, "alpha Ready: the router exited")
    assert len(clock.slept) == 2


def test_the_fact_wins_over_a_reason_to_stop(host: Host, clock: Clock) -> None:
    assert wait(host, "a", until="a", stop=lambda: "the router exited").value == "a"


def test_progress_is_told_at_least_every_ten_seconds(host: Host, clock: Clock) -> None:
    """What, how long of how long, and what was seen last."""
    wait(host, "Provisioning", seconds=65)
    told = [
        re.fullmatch(r"waiting for alpha Ready: (\d+) s of 65 s, last seen: Provisioning", text)
        for text in host.said  # type: ignore[attr-defined]
    ]
    moments = [0, *(int(match[1]) for match in told if match), 65]
    assert len(moments) == len(told) + 2
    assert all(later - earlier <= 10 for earlier, later in itertools.pairwise(moments))


def test_a_command_that_goes_on_is_told_of(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doorway, "SAY_EVERY", 0.2)
    host.run(Command(("sleep", "0.5"), "build the image", 3600))
    host.run(Command(("true",), "quick", 20))
    said = host.said  # type: ignore[attr-defined]
    assert said
    assert set(said) <= {f"still at build the image: {n} s of 3600 s" for n in (0, 1)}


def test_waits_worth_telling_are_kept_with_their_length(host: Host, clock: Clock) -> None:
    wait(host, "a", seconds=7)
    assert [(one.what, one.seconds) for one in host.waits] == [("alpha Ready", 7.0)]


def test_a_file_is_waited_for_by_itself(host: Host, tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "result.json"

    def arrives() -> str:
        path.write_text("done")
        return ""

    def content(read: Read) -> str | None:
        return read.text

    waited = host.wait_file("the result", str(path), content, seconds=5, stop=arrives)
    assert (waited.value, [record["observed"]["problem"] for record in records(host)]) == ("done", ["ENOENT", None])


def test_a_command_is_waited_for(host: Host) -> None:
    command = Command(("sh", "-c", "echo Ready"), "get", 20)
    assert host.wait_command("alpha", command, lambda ran: ran.stdout.strip() or None, seconds=5).value == "Ready"


def test_a_record_that_cannot_be_written_stops_the_work_but_not_the_cleanup(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(**_: object) -> str:
        raise EvidenceError("No space left on device")

    monkeypatch.setattr(host.evidence, "observation", full)
    with pytest.raises(EvidenceError):
        host.note("seen", "x", 1)
    with host.going_on():
        assert host.note("seen", "x", 1) == ""
    assert host.unrecorded == ["No space left on device"] * 2
