"""amap-main under real shells, with stand-ins for everything it starts."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

PAYLOAD = Path(__file__).resolve().parents[2] / "kit" / "payload"
SHELLS = [words for words in (("dash",), ("bash",), ("busybox", "sh")) if shutil.which(words[0])]
REQUIRED = ("AMAP_INBOX_DIR", "AMAP_PEER_DIR", "AMAP_OUTBOX_DIR", "HOME")

DAEMON = 'env | grep ^AMAP_DELIVERY_ | sort > "$LOG/daemon-env.part"; mv "$LOG/daemon-env.part" "$LOG/daemon-env"\n'
RELEASING = """\
trap 'echo released > "$LOG/released"; exit 0' TERM
echo $$ > "$LOG/daemon-pid.part"; mv "$LOG/daemon-pid.part" "$LOG/daemon-pid"
while :; do /bin/sleep 0.02; done
"""
STUBBORN = RELEASING.replace("'echo released > \"$LOG/released\"; exit 0'", "''")
UNTIL = 'while [ ! -e "$LOG/{}" ]; do /bin/sleep 0.01; done\n'
INSTANT_SLEEP = 'echo "$1" >> "$LOG/sleeps"; [ "$1" = 0.1 ] && exec /bin/sleep 0.005; exit 0\n'


@dataclass
class Bench:
    """A payload directory with amap-main and stand-ins, and the environment of a sandbox."""

    shell: tuple[str, ...]
    root: Path
    environment: dict[str, str] = field(default_factory=dict)
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name in ("payload", "path", "log", "home"):
            (self.root / name).mkdir()
        shutil.copy(PAYLOAD / "amap-main", self.root / "payload")
        self.environment |= {
            "PATH": f"{self.root / 'path'}:/usr/bin:/bin",
            "LOG": str(self.log),
            "HOME": str(self.root / "home"),
            "AMAP_INBOX_DIR": "/lanes/inbox",
            "AMAP_PEER_DIR": "/lanes/peer",
            "AMAP_OUTBOX_DIR": "/lanes/outbox",
            "AMAP_SELF_ADDRESS": "alpha@agents.example.org",
        }
        self.program("payload/claude-seed", 'echo seeded > "$LOG/seeded"\n')
        self.program("payload/inbox-delivery", RELEASING)
        self.program("path/claude", "exit 0\n")

    @property
    def log(self) -> Path:
        return self.root / "log"

    def program(self, name: str, body: str) -> None:
        if self.shell[0] == "busybox" and name in ("path/sleep", "path/date"):
            pytest.skip("busybox runs its own")
        path = self.root / name
        path.write_text(f"#!/bin/sh\n{body}")
        path.chmod(0o755)

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [shutil.which(self.shell[0]) or "", *self.shell[1:], str(self.root / "payload" / "amap-main"), *arguments],
            env=self.environment,
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self.processes.append(process)
        return process

    def run(self, *arguments: str, stdin: bytes = b"") -> tuple[int, str]:
        """Exit status and stderr of a whole run."""
        process = self.start(*arguments)
        _, stderr = process.communicate(stdin, timeout=20)
        return process.returncode, stderr.decode()

    def wait_for(self, name: str) -> str:
        """The text of a log file, once it is there."""
        return until(lambda: (self.log / name).read_text() if (self.log / name).exists() else "", name)

    def logged(self, name: str) -> bool:
        return (self.log / name).exists()


def until(answer: Callable[[], str], what: str) -> str:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if found := answer():
            return found
        time.sleep(0.01)
    pytest.fail(f"{what} did not come within 10 s")


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.fixture(params=SHELLS, ids=" ".join)
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    made = Bench(request.param, tmp_path)
    yield made
    for process in made.processes:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
        process.wait()


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
    bench.program("payload/claude-seed", 'echo > "$LOG/seeding"\nexec /bin/sleep 0.5\n')
    bench.program("path/claude", 'echo > "$LOG/claude"\n')
    process = bench.start()
    bench.wait_for("seeding")
    os.killpg(process.pid, getattr(signal, f"SIG{name}"))
    process.communicate(timeout=20)
    assert process.returncode != 0
    assert not bench.logged("claude")
    assert not bench.logged("daemon-pid")


def members(group: int) -> list[int]:
    """The living processes of a group."""
    found = []
    for directory in Path("/proc").glob("[0-9]*"):
        try:
            fields = (directory / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z" and int(fields[2]) == group:
            found.append(int(directory.name))
    return found


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
