"""amap-main under real shells: what it needs, what it starts and hands on, and how often it starts the daemon."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

import payload_bench
import pytest
from payload_bench import DAEMON, INSTANT_SLEEP, RELEASING, STUBBORN, UNTIL, Bench, alive, members

REQUIRED = ("AMAP_INBOX_DIR", "AMAP_PEER_DIR", "AMAP_OUTBOX_DIR", "HOME")


bench = payload_bench.bench


@pytest.mark.parametrize("name", REQUIRED)
@pytest.mark.parametrize("value", [None, ""])
def test_a_missing_variable_is_named_and_nothing_starts(bench: Bench, name: str, value: str | None) -> None:
    bench.environment.pop(name)
    if value is not None:
        bench.environment[name] = value
    status, stderr = bench.run()
    assert status == 1
    assert name in stderr
    assert len(stderr.splitlines()) == 1
    assert not any(bench.log.iterdir())


def test_an_empty_address_is_refused_and_an_absent_one_is_not(bench: Bench) -> None:
    bench.environment["AMAP_SELF_ADDRESS"] = ""
    status, stderr = bench.run()
    assert (status, "AMAP_SELF_ADDRESS" in stderr, bench.logged("seeded")) == (1, True, False)
    del bench.environment["AMAP_SELF_ADDRESS"]
    bench.program("payload/inbox-delivery", DAEMON + RELEASING)
    bench.program("path/claude", UNTIL.format("daemon-env"))
    assert bench.run()[0] == 0
    assert "AMAP_DELIVERY_SELF" not in bench.wait_for("daemon-env")


def test_the_daemon_gets_exactly_the_delivery_variables(bench: Bench) -> None:
    bench.environment |= {"AMAP_DELIVERY_RECEIPT_WINDOW_SECONDS": "1", "AMAP_DELIVERY_SELF": "mallory@example.org"}
    bench.program("payload/inbox-delivery", DAEMON + RELEASING)
    bench.program("path/claude", UNTIL.format("daemon-env"))
    assert bench.run()[0] == 0
    connector = f"{bench.root}/home/.claude/connector"
    assert dict(line.split("=", 1) for line in bench.wait_for("daemon-env").splitlines()) == {
        "AMAP_DELIVERY_MAIL_NOTICE_DIR": "/lanes/inbox/notices",
        "AMAP_DELIVERY_MAIL_CLAIM": f"{connector}/claims/mail.amap-consumer.json",
        "AMAP_DELIVERY_PEER_NOTICE_DIR": "/lanes/peer/notices",
        "AMAP_DELIVERY_PEER_MESSAGE_DIR": "/lanes/peer/messages",
        "AMAP_DELIVERY_PEER_CLAIM": f"{connector}/claims/peer.amap-consumer.json",
        "AMAP_DELIVERY_STATE_DIR": f"{connector}/delivery-state",
        "AMAP_DELIVERY_OUTCOME_DIR": "/lanes/outbox/ext/claude-code/outcomes",
        "AMAP_DELIVERY_SESSION_SOURCE": f"{bench.root}/payload/openshell-sessions",
        "AMAP_DELIVERY_SELF": "alpha@agents.example.org",
    }


def test_a_failed_seed_starts_nothing(bench: Bench) -> None:
    bench.program("payload/claude-seed", "echo 'claude-seed: no' >&2; exit 1\n")
    bench.program("path/claude", 'echo > "$LOG/claude"\n')
    status, stderr = bench.run()
    assert status == 1
    assert "claude-seed failed" in stderr
    assert not bench.logged("claude")
    assert not bench.logged("daemon-pid")


def test_claude_gets_arguments_and_stdin_and_its_status_is_the_exit_status(bench: Bench) -> None:
    bench.program("path/claude", 'printf "<%s>" "$@" > "$LOG/arguments"; cat > "$LOG/stdin"; exit 7\n')
    status, _ = bench.run("--settings", "a b", "", "*", stdin=b"typed\n")
    assert status == 7
    assert bench.wait_for("arguments") == "<--settings><a b><><*>"
    assert bench.wait_for("stdin") == "typed\n"


def test_a_missing_claude_is_127(bench: Bench) -> None:
    (bench.root / "path" / "claude").unlink()
    bench.environment["PATH"] = str(bench.root / "path")
    for tool in ("dirname", "env", "sed", "date", "sleep"):
        (bench.root / "path" / tool).symlink_to(shutil.which(tool) or tool)
    assert bench.run()[0] == 127


def test_daemon_and_claude_are_no_relatives_and_the_daemon_is_stopped_last(bench: Bench) -> None:
    bench.program(
        "path/claude",
        UNTIL.format("daemon-pid") + 'echo $$ > "$LOG/claude-pid.part"; mv "$LOG/claude-pid.part" "$LOG/claude-pid"\n'
        'while [ ! -e "$LOG/go" ]; do /bin/sleep 0.01; done\n[ ! -e "$LOG/released" ] || exit 9\n',
    )
    process = bench.start()
    claude, daemon = int(bench.wait_for("claude-pid")), int(bench.wait_for("daemon-pid"))
    ancestors = []
    pid = daemon
    while pid > 1 and pid != process.pid:
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        ancestors.append(pid)
    assert ancestors[-1] == process.pid
    assert claude not in ancestors
    (bench.log / "go").touch()
    process.communicate(timeout=20)
    assert process.returncode == 0
    assert bench.wait_for("released") == "released\n"
    assert not alive(daemon)


@pytest.mark.parametrize(
    ("body", "status"), [("exit 255\n", 255), ("kill -KILL $$\n", 137), ("kill -TERM $$\n", 143), ("exit 0\n", 0)]
)
def test_any_status_of_claude_is_the_exit_status(bench: Bench, body: str, status: int) -> None:
    bench.program("path/claude", body)
    assert bench.run()[0] == status


def test_values_with_spaces_and_signs_stay_whole(bench: Bench) -> None:
    home = bench.root / "my home; $(touch no) *"
    home.mkdir()
    bench.environment |= {
        "HOME": str(home),
        "AMAP_INBOX_DIR": "/lanes/in box",
        "AMAP_OUTBOX_DIR": "/lanes/$HOME/`id`",
        "AMAP_SELF_ADDRESS": "alpha  beta@agents.example.org",
        "OTHER": "two\nAMAP_DELIVERY_MAIL_CLAIM=/lines\nAMAP_DELIVERY_$(touch no)=x",
        "AMAP_DELIVERY_X": "a\nb=c",
        "CDPATH": str(bench.root),
    }
    bench.program("payload/inbox-delivery", DAEMON + RELEASING)
    bench.program("path/claude", UNTIL.format("daemon-env"))
    assert bench.run()[0] == 0
    found = dict(line.split("=", 1) for line in bench.wait_for("daemon-env").splitlines() if "touch" not in line[:40])
    assert found["AMAP_DELIVERY_MAIL_NOTICE_DIR"] == "/lanes/in box/notices"
    assert found["AMAP_DELIVERY_MAIL_CLAIM"] in (f"{home}/.claude/connector/claims/mail.amap-consumer.json", "/lines")
    assert found["AMAP_DELIVERY_STATE_DIR"] == f"{home}/.claude/connector/delivery-state"
    assert found["AMAP_DELIVERY_OUTCOME_DIR"] == "/lanes/$HOME/`id`/ext/claude-code/outcomes"
    assert found["AMAP_DELIVERY_SELF"] == "alpha  beta@agents.example.org"
    assert "AMAP_DELIVERY_X" not in found
    assert not list(bench.root.rglob("no"))


def test_a_closed_stdin_stops_nothing_half_way(bench: Bench) -> None:
    """Whether it starts or not, nothing is left behind."""
    bench.program("path/claude", "exit 5\n")
    words = [shutil.which(bench.shell[0]) or "", *bench.shell[1:], str(bench.root / "payload" / "amap-main")]
    argv = ["/bin/sh", "-c", 'exec "$@" <&-', "sh", *words]
    process = subprocess.Popen(argv, env=bench.environment, stderr=subprocess.DEVNULL, start_new_session=True)
    bench.processes.append(process)
    assert process.wait(20) != 0
    assert members(process.pid) == []


def test_a_log_that_nobody_reads_does_not_end_the_restarts(bench: Bench) -> None:
    bench.program("payload/inbox-delivery", 'echo x >> "$LOG/starts"\nexit 5\n')
    bench.program("path/sleep", INSTANT_SLEEP)
    bench.program("path/claude", 'while [ "$(grep -c . "$LOG/starts" 2>/dev/null)" -lt 4 ]; do /bin/sleep 0.01; done\n')
    (bench.log / "starts").touch()
    process = bench.start()
    assert process.stderr is not None
    process.stderr.close()
    assert process.wait(20) == 0


def test_a_daemon_that_cannot_be_started_is_tried_again_and_claude_goes_on(bench: Bench) -> None:
    (bench.root / "payload" / "inbox-delivery").unlink()
    bench.program("path/sleep", INSTANT_SLEEP)
    bench.program("path/claude", 'while [ "$(grep -c . "$LOG/sleeps" 2>/dev/null)" -lt 2 ]; do /bin/sleep 0.01; done\n')
    (bench.log / "sleeps").touch()
    status, stderr = bench.run()
    assert status == 0
    assert "inbox-delivery ended with status 127, restarting in 2s" in stderr


def test_the_daemon_has_neither_terminal_nor_any_other_descriptor_of_claudes(bench: Bench) -> None:
    listing = 'ls -l /proc/$$/fd > "$LOG/fds.part"; mv "$LOG/fds.part" "$LOG/fds"\n'
    bench.program("payload/inbox-delivery", listing + RELEASING)
    bench.program("path/claude", UNTIL.format("fds"))
    assert bench.run()[0] == 0
    targets = [line.split(" -> ") for line in bench.wait_for("fds").splitlines() if " -> " in line]
    opened = {words[0].split()[-1]: words[1] for words in targets}
    assert opened["0"] == "/dev/null"
    assert [number for number, target in opened.items() if target.startswith("pipe:") and number not in "12"] == []


def test_the_pause_between_starts_doubles_up_to_a_minute(bench: Bench) -> None:
    bench.program("payload/inbox-delivery", "exit 5\n")
    bench.program("path/sleep", INSTANT_SLEEP)
    bench.program("path/claude", 'while [ "$(grep -c . "$LOG/sleeps" 2>/dev/null)" -lt 9 ]; do /bin/sleep 0.01; done\n')
    (bench.log / "sleeps").touch()
    status, stderr = bench.run()
    assert status == 0
    assert bench.wait_for("sleeps").split()[:9] == ["1", "2", "4", "8", "16", "32", "60", "60", "60"]
    assert "inbox-delivery ended with status 5, restarting in 1s" in stderr


def test_a_run_of_a_minute_resets_the_pause(bench: Bench) -> None:
    bench.program("payload/inbox-delivery", "exit 5\n")
    bench.program("path/sleep", INSTANT_SLEEP)
    bench.program("path/date", 'echo x >> "$LOG/dates"; echo $(($(grep -c . "$LOG/dates") * 60))\n')
    bench.program("path/claude", 'while [ "$(grep -c . "$LOG/sleeps" 2>/dev/null)" -lt 4 ]; do /bin/sleep 0.01; done\n')
    (bench.log / "sleeps").touch()
    assert bench.run()[0] == 0
    assert set(bench.wait_for("sleeps").split()) - {"0.1"} == {"1"}


def test_a_daemon_that_ignores_term_is_killed_in_the_end(bench: Bench) -> None:
    bench.program("payload/inbox-delivery", STUBBORN)
    bench.program("path/sleep", INSTANT_SLEEP)
    bench.program("path/claude", UNTIL.format("daemon-pid") + "exit 4\n")
    assert bench.run()[0] == 4
    assert not alive(int(bench.wait_for("daemon-pid")))
    assert bench.wait_for("sleeps").count("0.1") >= 100


def test_the_end_does_not_wait_for_the_pause(bench: Bench) -> None:
    bench.program("payload/inbox-delivery", "exit 5\n")
    bench.program("path/sleep", 'echo "$1" >> "$LOG/sleeps"; [ "$1" = 60 ] && exec /bin/sleep 60; exit 0\n')
    bench.program("path/claude", 'until grep -qs 60 "$LOG/sleeps"; do /bin/sleep 0.01; done\n')
    began = time.monotonic()
    assert bench.run()[0] == 0
    assert time.monotonic() - began < 30
