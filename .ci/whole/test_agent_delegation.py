"""A whole delegation without sandboxes: router, daemon and session program of alpha's task and beta's answer."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import agent_bench
import pytest
from agent_bench import KEY, Agent, Api
from siblings_bench import CONNECTOR, Fleet, address, request, until


class Beta:
    """beta's session and daemon on its lanes of a fleet."""

    def __init__(self, tmp_path: Path, runtime: Path, api: str) -> None:
        self.fleet = Fleet(tmp_path / "home")
        self.fleet.poll()
        self.agent = Agent(tmp_path / "sandbox", runtime, api)
        self._state = tmp_path / "delivery"
        self._lister = tmp_path / "lister"
        self._lister.write_text(
            "#!/bin/sh\n"
            f'socket=$(cat {self.agent.record} 2>/dev/null) && [ -S "$socket" ] || exit 0\n'
            f"printf 'claude\\t-\\t-\\t-\\t%s\\t%s\\n' \"$socket\" {self.agent.home}/.claude/sessions/*.key\n"
        )
        self._lister.chmod(0o755)
        self._daemon: subprocess.Popen[str] | None = None

    def start(self, window: str = "0.3") -> None:
        """`window` is the daemon's for a receipt: seconds of silence after which it takes it for delivered."""
        lanes = {
            "AMAP_PEER_DIR": str(self.fleet.lane("beta", "peer")),
            "AMAP_OUTBOX_DIR": str(self.fleet.lane("beta", "outbox")),
        }
        self.agent.start(**lanes)
        own = {"PATH": os.environ["PATH"], **self.fleet.delivery("beta", self._state, self._lister)}
        own["AMAP_DELIVERY_RECEIPT_WINDOW_SECONDS"] = window
        self._daemon = subprocess.Popen([CONNECTOR / "inbox-delivery"], env=own, text=True)

    def stop(self) -> None:
        if self._daemon is not None:
            self._daemon.send_signal(signal.SIGTERM)
            self._daemon.wait(10)
            self.agent.stop()

    def task(self, body: str) -> str:
        """alpha asks; the id of the notice in beta's lane."""
        self.fleet.write("alpha", "1", request("1", body_text=body))
        self.fleet.poll()
        notice: str = self.fleet.answer("alpha", "1")["message_id"]
        return notice

    def outcomes(self, notice_id: str) -> list[str]:
        self.fleet.poll()
        events = self.fleet.audit("beta")
        return [e["outcome"] for e in events if e["event"] == "outcome_consumed" and e["notice_id"] == notice_id]

    def answers(self) -> list[dict[str, Any]]:
        self.fleet.poll()
        return self.fleet.notices("alpha")


api = agent_bench.api


@pytest.fixture
def beta(tmp_path: Path, api: Api) -> Iterator[Beta]:
    with tempfile.TemporaryDirectory(prefix="cc", dir="/tmp") as runtime:
        made = Beta(tmp_path, Path(runtime), api.url)
        yield made
        made.stop()


LIST_AND_REPLY = "List the files in your workspace, then reply through inbox-submit with the message id."


def test_a_task_is_a_turn_and_the_answer_is_bound_to_it(beta: Beta, api: Api) -> None:
    (beta.agent.home / "a file of beta").touch()
    beta.start()
    notice = beta.task(LIST_AND_REPLY)
    (answer,) = until(beta.answers)
    assert answer["message"]["in_reply_to"] == notice
    assert answer["message"]["from"] == address("beta")
    spool = beta.fleet.lane("alpha", "peer/messages", f"notice-{answer['notice_id']}.json")
    assert "a file of beta" in json.loads(spool.read_text())["body_text"]
    until(lambda: beta.outcomes(notice) == ["delivered"])
    first, *rest = until(lambda: beta.agent.turns[3:] and beta.agent.turns)
    assert first["type"] == "user"
    assert f"message id: {notice}" in first["message"]["content"]
    assert [turn["type"] for turn in rest] == ["assistant", "user", "assistant"]
    assert rest[0]["message"]["content"][0]["name"] == "mcp__inbox-submit__submit"
    assert ("POST", "/v1/messages", KEY) in api.calls
    assert "Message from @alpha-fleet.example" in beta.agent.screen


def test_what_asks_for_nothing_gets_no_answer(beta: Beta) -> None:
    beta.start()
    beta.task("For your information.")
    until(lambda: len(beta.agent.turns) == 2)
    assert beta.answers() == []


def test_an_answer_is_never_answered(beta: Beta, api: Api) -> None:
    path = beta.fleet.lane("beta", "peer/notices", f"notice-{'a' * 32}.json")
    path.write_text(json.dumps({"message": {"in_reply_to": "b" * 32}}))
    beta.start()
    trailer = f'-- added by inbox-delivery --\nmessage id: {"a" * 32}\nto=["{address("alpha")}"]\n'
    beta.agent.send(f'<cross-session-message from-name="x">\n{LIST_AND_REPLY}\n\n{trailer}</cross-session-message>')
    until(lambda: len(beta.agent.turns) == 2)
    assert not [call for call in api.calls if call[0] == "POST"]


def test_refused_is_held_and_delivered_after_the_restore(beta: Beta) -> None:
    local = beta.agent.home / ".claude/settings.local.json"
    local.write_text('{"crossSessionInbound": "refuse"}')
    beta.start(window="10")
    notice = beta.task(LIST_AND_REPLY)
    until(lambda: beta.outcomes(notice) == ["held"])
    assert beta.answers() == []
    assert beta.agent.turns == []
    beta.stop()
    for path in (beta.agent.home / ".claude/sessions").iterdir():
        path.unlink()
    local.unlink()
    beta.start()
    until(beta.answers)
    until(lambda: beta.outcomes(notice)[-1] == "delivered")
    first, *between, _ = beta.outcomes(notice)
    assert first == "held"
    assert set(between) <= {"inject_failed"}, "an attempt before the new session listens is transient"


@pytest.mark.parametrize("fault", [{"never_reply": True}, None], ids=["never_reply", "api-error"])
def test_a_turn_without_an_answer(beta: Beta, fault: dict[str, bool] | None) -> None:
    if fault is not None:
        beta.agent.faults.write_text(json.dumps(fault))
    else:
        beta.agent.api = "http://127.0.0.1:9"
    beta.start()
    notice = beta.task(LIST_AND_REPLY)
    until(lambda: beta.outcomes(notice) == ["delivered"])
    until(lambda: "●" in beta.agent.screen)
    assert beta.answers() == []
    assert ("API Error" in beta.agent.screen) == (fault is None)
