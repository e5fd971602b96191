"""A stopped run ends its commands, cleans up and reports; what a killed one leaves is mended by the next."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from rehearsing import Rehearsal, rehearse
from victims import (
    PROBE,
    announced,
    assert_as_it_was,
    assert_nothing_outlives,
    assert_unaltered,
    assert_whole,
    frozen,
    labels,
    newest,
    records,
    sandboxes,
    screen,
    settings_left,
    victim,
)

from pytest_amap.evidence import verify

SETTINGS = "settings.beta"
PASS = "PASS"

# A moment of a run: what is selected, and how one sees from outside that it has come.
MOMENTS: dict[str, tuple[str, Callable[[Path], bool]]] = {
    "a step waits for sessions": ("unknown_2", lambda home: "alpha's session" in labels(home)),
    "the delegation is under way": ("unknown_1", lambda home: any("submit from" in one for one in labels(home))),
    "the probe is announced": ("unknown_3", lambda home: announced(home, PROBE)),
    "the probe stands": ("unknown_3", lambda home: PROBE in sandboxes(home)),
    "the setting is announced": ("unknown_4", lambda home: announced(home, SETTINGS)),
    "the setting stands": ("unknown_4", lambda home: bool(settings_left(home))),
    "the receiver is stopped": ("unknown_4", lambda home: sandboxes(home)["beta"] == "Stopped"),
}


@pytest.mark.parametrize(
    ("number", "moment"),
    [
        (signal.SIGINT, "a step waits for sessions"),
        (signal.SIGTERM, "the delegation is under way"),
        (signal.SIGHUP, "the probe stands"),
        (signal.SIGINT, "the setting is announced"),
        (signal.SIGTERM, "the receiver is stopped"),
    ],
    ids=lambda value: value.name if isinstance(value, signal.Signals) else value.replace(" ", "-"),
)
def test_a_stopped_run_cleans_up_and_reports(home: Path, number: signal.Signals, moment: str) -> None:
    selected, came = MOMENTS[moment]
    before = frozen(home)
    with victim(home, "-k", selected) as running:
        running.reaches(lambda: came(home))
        running.send(number)
        ended = running.end()
    assert ended.code == 2, ended.tail()
    assert_reported(ended, number)
    assert ended.outcomes[selected] == "UNKNOWN"
    assert_unaltered(before, home)
    assert_nothing_outlives(home)
    assert_as_it_was(home)


def assert_reported(ended: Rehearsal, number: signal.Signals) -> None:
    """Results and report are those of the stopped run, sealed."""
    assert ended.results["extra"]["run"] == newest(ended.home)
    assert ended.results["extra"]["interrupted"] == number.name
    assert verify.problems(ended.home / "evidence") == []
    report = (ended.home / "evidence" / "latest" / "REHEARSAL-REPORT.md").read_text()
    assert f"Interrupted by {number.name}" in report


def test_a_fresh_run_stopped_in_a_create_is_carried_on(clean: Rehearsal, tmp_path: Path) -> None:
    home = tmp_path / "home"
    with victim(home, "-k", "unknown_2") as running:
        running.until(lambda: announced(home, "alpha"))
        running.send(signal.SIGINT)
        ended = running.end()
    assert ended.code == 2, ended.tail()
    assert_reported(ended, signal.SIGINT)
    again = rehearse(home, "-k", "unknown_2")
    assert again.outcomes == {"unknown_2": PASS}, again.tail()
    assert_as_it_was(home)


def test_further_signals_do_not_cut_the_cleanup_short(home: Path) -> None:
    """In a terminal, where Ctrl-C goes to the whole group, and is told once more by the relay."""
    log = home.parent / "screen.log"
    with screen(log) as (keyboard, terminal), victim(home, "-k", "unknown_4", terminal=terminal) as running:
        running.reaches(lambda: settings_left(home))
        os.write(keyboard, b"\x03")
        for number in (signal.SIGTERM, signal.SIGHUP):
            time.sleep(1.2)
            running.send(number)
            os.write(keyboard, b"\x03")
        ended = running.end()
    shown = log.read_text(errors="replace")
    assert ended.code == 2, shown
    assert_reported(ended, signal.SIGINT)
    assert "cleanup is running and goes on" in shown
    assert_nothing_outlives(home)
    assert_as_it_was(home)


@pytest.mark.parametrize(
    ("moment", "then", "told"),
    [
        ("the probe is announced", ("-k", "unknown_6"), ""),
        ("the setting stands", ("--only-step", "1"), "an earlier run's change of beta was put back"),
        ("the receiver is stopped", ("-k", "unknown_2"), "an earlier run's change of beta was put back"),
    ],
    ids=lambda value: value.replace(" ", "-") if isinstance(value, str) else "",
)
def test_what_a_killed_run_left_is_mended_first_whatever_runs_next(
    home: Path, moment: str, then: tuple[str, ...], told: str
) -> None:
    selected, came = MOMENTS[moment]
    with victim(home, "-k", selected) as running:
        running.reaches(lambda: came(home))
        running.kill()
    killed, before = newest(home), frozen(home)
    assert_whole(home)
    again = rehearse(home, *then)
    assert again.code == 0, again.tail()
    assert verify.problems(home / "evidence" / "runs" / killed) == []
    left = " | ".join(again.results["extra"]["left"])
    assert f"run {killed} had not ended and was sealed as abandoned" in left
    assert told in left
    assert_unaltered(before, home)
    assert_as_it_was(home)


def test_the_mending_comes_before_the_posture_is_looked_at(home: Path) -> None:
    with victim(home, "-k", "unknown_3") as running:
        running.reaches(lambda: PROBE in sandboxes(home))
        running.kill()
    assert PROBE in sandboxes(home)
    again = rehearse(home, "-k", "unknown_6")
    assert again.outcomes == {"unknown_6": PASS}, again.tail()
    order = [str(record["label"]) for record in records(home)]
    assert order.index(f"delete {PROBE}") < order.index("sandboxes in every workspace", order.index("gateway status"))


def test_a_sandbox_of_the_probes_name_that_is_not_ours_is_never_touched(home: Path) -> None:
    with victim(home, "-k", "unknown_3") as running:
        running.reaches(lambda: PROBE in sandboxes(home))
        running.kill()
    (home / "evidence" / "intents" / f"{PROBE}.json").unlink()
    again = rehearse(home, "-k", "unknown_3")
    assert again.code == 1
    assert "not recorded and not announced by this suite" in again.text
    assert PROBE in sandboxes(home)
