"""Signals to amap-main and to its whole group, under real shells: claude gets them, and nothing is left running."""

from __future__ import annotations

import os
import signal
import time

import payload_bench
import pytest
from payload_bench import UNTIL, Bench, alive, members

# A background job of sh starts with INT and QUIT ignored, and sh cannot trap what it inherited as ignored; claude
# installs its own handlers, so the stand-in is Python.
LEAVING = """exec python3 -c '
import os, signal, sys, time
def leave(number, frame):
    time.sleep(0.2)
    open(os.environ["LOG"] + "/got", "a").write(signal.Signals(number).name + " ")
    if len(open(os.environ["LOG"] + "/got").read().split()) >= int(os.environ["PATIENCE"]): sys.exit(3)
for name in ("TERM", "HUP", "INT", "QUIT"):
    signal.signal(getattr(signal, "SIG" + name), leave)
open(os.environ["LOG"] + "/ready", "w").write("yes")
while True: time.sleep(0.05)
'
"""
SIGNALS = ("TERM", "HUP", "INT", "QUIT")


bench = payload_bench.bench


@pytest.mark.parametrize("name", SIGNALS)
def test_a_signal_reaches_claude_and_the_exit_waits_for_both(bench: Bench, name: str) -> None:
    bench.environment["PATIENCE"] = "1"
    bench.program("path/claude", UNTIL.format("daemon-pid") + LEAVING)
    process = bench.start()
    bench.wait_for("ready")
    process.send_signal(getattr(signal, f"SIG{name}"))
    process.communicate(timeout=20)
    assert process.returncode == 3
    assert bench.wait_for("got") == f"SIG{name} "
    assert bench.wait_for("released") == "released\n"


@pytest.mark.parametrize("name", SIGNALS)
def test_a_signal_to_the_whole_group_leaves_nothing_running(bench: Bench, name: str) -> None:
    """Claude may get it twice: as one of the group, and forwarded."""
    bench.environment["PATIENCE"] = "1"
    bench.program("path/claude", UNTIL.format("daemon-pid") + LEAVING)
    process = bench.start()
    bench.wait_for("ready")
    daemon = int(bench.wait_for("daemon-pid"))
    os.killpg(process.pid, getattr(signal, f"SIG{name}"))
    process.communicate(timeout=20)
    assert process.returncode == 3
    assert not alive(daemon)
    assert members(process.pid) == []


@pytest.mark.parametrize("name", SIGNALS)
def test_a_signal_while_the_seed_is_at_work_starts_nothing(bench: Bench, name: str) -> None:
    bench.program("payload/claude-seed", 'echo > "$LOG/seeding"\nexec /bin/sleep 15\n')
    bench.program("path/claude", 'echo > "$LOG/claude"\n')
    process = bench.start()
    bench.wait_for("seeding")
    os.killpg(process.pid, getattr(signal, f"SIG{name}"))
    process.communicate(timeout=20)
    assert process.returncode != 0
    assert not bench.logged("claude")
    assert not bench.logged("daemon-pid")


def test_a_claude_that_takes_its_time_gets_each_signal_and_is_waited_for(bench: Bench) -> None:
    bench.environment["PATIENCE"] = "3"
    bench.program("path/claude", UNTIL.format("daemon-pid") + LEAVING)
    process = bench.start()
    bench.wait_for("ready")
    for count in (1, 2, 3):
        process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + 10
        while bench.wait_for("got").count("SIGTERM") < count:
            assert time.monotonic() < deadline, f"signal {count} did not come"
            time.sleep(0.01)
    process.communicate(timeout=20)
    assert process.returncode == 3
