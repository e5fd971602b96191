"""The delivery daemon against a socket of the test's own: admission, the wire, receipts, outcomes, claims."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from siblings_bench import CONNECTOR, Fleet, address, load, read, request, until


class Wire:
    """A session that records the frames it gets and answers each with the given status, or with silence."""

    def __init__(self, folder: Path, **status: str) -> None:
        self.path, self.key, self.frames, self.status = folder / "1.sock", folder / "1.key", [], status
        self.key.write_text('{"peerToken": "secret"}')
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.path))
        self._listener.listen(8)
        threading.Thread(target=self._serve, daemon=True).start()

    frames: list[dict[str, Any]]

    def _serve(self) -> None:
        while True:
            with self._listener.accept()[0] as peer, peer.makefile("rb") as lines:
                self.frames += [json.loads(line) for line in lines]
            if self.status:
                with socket.socket(socket.AF_UNIX) as back:
                    back.connect(self.frames[-1]["from"].removeprefix("uds:"))
                    back.sendall(json.dumps({"action": "peer_message_status", **self.status}).encode() + b"\n")

    @property
    def row(self) -> str:
        return f"claude\t-\t-\t-\t{self.path}\t{self.key}"


PATIENT = {"AMAP_DELIVERY_RECEIPT_WINDOW_SECONDS": "10"}
"""For a receipt that comes: the window ends with it."""


class Bench:
    """beta's daemon over a placed delegation; `rows` is what its lister prints."""

    def __init__(self, tmp_path: Path) -> None:
        self.fleet = Fleet(tmp_path / "home")
        self.fleet.poll()
        self.fleet.write("alpha", "1", request("1"))
        self.fleet.poll()
        self.notice: str = self.fleet.notices("beta")[0]["notice_id"]
        self.state, self.lister, self.own = tmp_path / "delivery", tmp_path / "lister", address("beta")
        self.outcomes = self.fleet.lane("beta", "outbox/ext/claude-code/outcomes")
        self.rows("")

    def rows(self, text: str, code: int = 0) -> None:
        self.lister.write_text(f"#!/bin/sh\ncat <<'ROWS'\n{text}\nROWS\nexit {code}\n")
        self.lister.chmod(0o755)

    def start(self, **change: str) -> subprocess.Popen[str]:
        delivery = self.fleet.delivery("beta", self.state, self.lister)
        environment = {"PATH": os.environ["PATH"], **delivery, "AMAP_DELIVERY_SELF": self.own, **change}
        return subprocess.Popen([CONNECTOR / "inbox-delivery"], env=environment, stderr=subprocess.PIPE, text=True)

    @contextlib.contextmanager
    def running(self, **change: str) -> Iterator[subprocess.Popen[str]]:
        process = self.start(**change)
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=10)

    def outcome(self) -> dict[str, Any]:
        path = self.outcomes / f"peer-{self.notice}.json"
        until(path.exists)
        return read(path)

    @property
    def ledgered(self) -> bool:
        return (self.state / "ledger" / f"peer-{self.notice}").exists()


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.fixture
def sockets() -> Iterator[Path]:
    """A directory short enough for a socket's path."""
    with tempfile.TemporaryDirectory(prefix="wire", dir="/tmp") as folder:
        yield Path(folder)


def test_silence_for_the_window_is_delivered_once(bench: Bench, sockets: Path) -> None:
    wire = Wire(sockets)
    bench.rows(wire.row)
    with bench.running():
        outcome = bench.outcome()
        until(lambda: os.listdir(sockets) and len(os.listdir(sockets)) == 2)
    (bench.state / "daemon.json").unlink()
    with bench.running():
        until(lambda: (bench.state / "daemon.json").exists())
    assert outcome["outcome"] == "delivered"
    assert outcome["detail"].startswith("inferred:")
    assert bench.ledgered
    auth, user = wire.frames
    assert auth == {"type": "auth", "token": "secret"}
    text = user["message"]["content"]
    assert text.startswith(f'<cross-session-message from-name="{address("alpha")}">\nList the files')
    assert f"\nmessage id: {bench.notice}\n" in text.partition("-- added by inbox-delivery --")[2]
    assert "from-mode" not in text
    assert not list(bench.state.glob("*.claim"))


RECEIPTS = {
    "delivered": ({"status": "delivered"}, "delivered", "receipt: delivered", True),
    "denied": ({"status": "denied", "reason": "no"}, "denied", "no", True),
    "refused": ({"status": "expired", "status_detail": "refused"}, "held", "crossSessionInbound", False),
    "held": ({"status": "held"}, "held", "held by the receiving sandbox.", False),
    "dropped": ({"status": "dropped"}, "inject_failed", "dropped", False),
    "expired": ({"status": "expired"}, "inject_failed", "expired", False),
}


@pytest.mark.parametrize(("status", "outcome", "detail", "terminal"), RECEIPTS.values(), ids=RECEIPTS.keys())
def test_a_receipt_decides(
    bench: Bench, sockets: Path, status: dict[str, str], outcome: str, detail: str, terminal: bool
) -> None:
    bench.rows(Wire(sockets, **status).row)
    with bench.running(**PATIENT):
        seen = bench.outcome()
    assert seen["outcome"] == outcome
    assert detail in seen["detail"]
    assert bench.ledgered == terminal


def test_a_refused_message_is_offered_again_in_the_next_life(bench: Bench, sockets: Path) -> None:
    wire = Wire(sockets, status="expired", status_detail="refused")
    bench.rows(wire.row)
    with bench.running(**PATIENT):
        assert bench.outcome()["outcome"] == "held"
    bench.fleet.poll()
    wire.status = {}
    with bench.running():
        assert bench.outcome()["outcome"] == "delivered"
    bench.fleet.poll()
    consumed = [event["outcome"] for event in bench.fleet.audit("beta") if event["event"] == "outcome_consumed"]
    assert consumed == ["held", "delivered"]


def test_two_sessions_are_ambiguous_and_nothing_is_sent(bench: Bench, sockets: Path) -> None:
    wire = Wire(sockets)
    bench.rows(f"{wire.row}\n{wire.row}")
    with bench.running():
        assert bench.outcome()["outcome"] == "ambiguous_target"
    assert wire.frames == []
    assert not bench.ledgered


def test_a_session_without_a_key_file_fails_the_injection(bench: Bench, sockets: Path) -> None:
    wire = Wire(sockets)
    bench.rows(f"claude\t-\t-\t-\t{wire.path}\t-")
    with bench.running():
        outcome = bench.outcome()
    assert outcome["outcome"] == "inject_failed"
    assert "peerToken" in outcome["detail"]


def test_a_session_above_the_daemon_is_never_its_target(bench: Bench, sockets: Path) -> None:
    wire = Wire(sockets)
    bench.rows(f"claude\t-\t-\t{os.getpid()}\t{wire.path}\t{wire.key}")
    with bench.running():
        assert "ancestor" in bench.outcome()["detail"]
    assert wire.frames == []


@pytest.mark.parametrize(("rows", "code"), [("", 0), ("claude", 1)])
def test_without_a_session_there_is_no_outcome_at_all(bench: Bench, rows: str, code: int) -> None:
    bench.rows(rows, code)
    with bench.running() as process:
        until(lambda: (bench.state / "daemon.json").exists())
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.8)
    assert not bench.outcomes.exists()


def _another_recipient(bench: Bench) -> None:
    bench.own = address("gamma")


def _no_body(bench: Bench) -> None:
    bench.fleet.lane("beta", "peer/messages", f"notice-{bench.notice}.json").unlink()


def _deliver_kind(bench: Bench) -> None:
    path = bench.fleet.lane("beta", "peer/notices", f"notice-{bench.notice}.json")
    path.write_text(json.dumps({**read(path), "kind": "deliver"}))


@pytest.mark.parametrize("spoil", [_another_recipient, _no_body, _deliver_kind])
def test_the_gate_refuses_and_the_sender_hears_of_it(bench: Bench, spoil: Any) -> None:
    spoil(bench)
    with bench.running():
        assert bench.outcome()["outcome"] == "refused"
        assert bench.ledgered
    assert bench.fleet.poll()["beta"]["peer_dsn_sent"] == 1


def test_mail_is_a_doorbell_without_an_outcome(bench: Bench, sockets: Path) -> None:
    wire = Wire(sockets)
    bench.rows(wire.row)
    (bench.state / "ledger").mkdir(parents=True)
    (bench.state / "ledger" / f"peer-{bench.notice}").touch()
    (bench.fleet.lane("beta", "inbox/notices") / f"notice-{'a' * 32}.json").write_text("{}")
    with bench.running():
        until((bench.state / f"ledger/mail-{'a' * 32}").exists)
    until(lambda: wire.frames)
    assert "you have mail" in wire.frames[-1]["message"]["content"]
    assert not bench.outcomes.exists()


def test_configuration_faults_are_fatal_in_one_line(bench: Bench) -> None:
    for change in ({"AMAP_DELIVERY_STATE_DIR": ""}, {"AMAP_DELIVERY_SELF": "nobody"}, {"AMAP_DELIVERY_PEER_CLAIM": ""}):
        process = bench.start(**change)
        stderr = process.communicate(timeout=10)[1]
        assert process.returncode == 2
        assert stderr.startswith("inbox-delivery: fatal: ")
        assert stderr.count("\n") == 1


def test_a_living_holder_keeps_its_claim_and_a_dead_one_loses_it(tmp_path: Path) -> None:
    library = load("rehearsed_inboxlib", CONNECTOR / "_inboxlib.py")
    path = str(tmp_path / "claims/peer.json")
    held = library.acquire_consumer_claim(path, "/n", "test")
    with pytest.raises(library.ClaimError, match=f"held by process {os.getpid()}"):
        library.acquire_consumer_claim(path, "/n", "test")
    stale = {**json.loads(held.content), "proc_start": "1"}
    Path(path).write_text(json.dumps(stale))
    held.release()
    assert os.path.exists(path)
    library.acquire_consumer_claim(path, "/n", "test").release()
    assert not os.path.exists(path)
