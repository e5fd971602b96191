"""One run a home: the second is told who holds it, and a dead holder's lock is taken over with a note."""

from __future__ import annotations

from pathlib import Path

from rehearsing import rehearse
from victims import labels, victim


def test_the_second_run_is_told_who_holds_the_home(home: Path) -> None:
    with victim(home, "-k", "unknown_3") as running:
        running.reaches(lambda: "gateway status" in labels(home))
        second = rehearse(home, "-k", "unknown_6")
        assert running.process.poll() is None
        first = running.end()
    assert second.code == 1
    assert f"{home} is in use by pid {running.process.pid}, started 2" in second.text
    assert f"tests_live --apply --rehearsal --amap-home {home}" in second.text
    assert "Traceback" not in second.text
    assert second.seconds < 10
    assert (first.code, first.outcomes) == (0, {"unknown_3": "PASS"}), first.tail()


def test_a_dead_holders_lock_is_taken_over_and_the_report_says_so(home: Path) -> None:
    with victim(home, "-k", "unknown_6") as running:
        running.reaches(lambda: True)
        running.kill()
    again = rehearse(home, "-k", "unknown_6")
    assert again.code == 0, again.tail()
    left = again.results["extra"]["left"]
    assert any(line.startswith(f"the lock of pid {running.process.pid}, started ") for line in left), left
    clean_again = rehearse(home, "-k", "unknown_6")
    assert not any("lock" in line for line in clean_again.results["extra"]["left"])
