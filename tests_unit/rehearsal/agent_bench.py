"""One session of the stand-in for Claude Code in a HOME of its own, and a Messages API for it to call."""

from __future__ import annotations

import http.server
import json
import os
import secrets
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from siblings_bench import CONNECTOR, REHEARSAL, read, until

KEY = "openshell:resolve:env:ANTHROPIC_API_KEY"


class Api:
    """Answers everything with `status` and keeps (method, path, x-api-key) of each call."""

    def __init__(self, status: int = 200) -> None:
        self.calls: list[tuple[str, str, str | None]] = []
        calls = self.calls

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                calls.append((self.command, self.path, self.headers["x-api-key"]))
                self.rfile.read(int(self.headers.get("content-length") or 0))
                self.send_response(status)
                self.send_header("content-length", "0")
                self.end_headers()

            do_HEAD = do_GET = do_POST

            def log_message(self, *words: Any) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def api() -> Iterator[Api]:
    made = Api()
    yield made
    made.close()


class Agent:
    """A HOME that is also the working directory, with every first-run question answered.

    `runtime` is a directory short enough for sockets. The SessionStart hook writes the socket's path to `record`.
    """

    def __init__(self, home: Path, runtime: Path, api: str) -> None:
        self.home, self.runtime, self.api = home, runtime, api
        self.record, self.program = home / "hook-record", home.parent / f"{home.name}-bin" / "claude"
        self.faults = home.parent / f"{home.name}-faults.json"
        (home / ".claude").mkdir(parents=True)
        self.program.parent.mkdir()
        source = (REHEARSAL / "agent/claude.py").read_text().replace("/etc/amap-rehearsal/agent.json", str(self.faults))
        self.program.write_text(f"#!{sys.executable}\n{source}")
        self.program.chmod(0o755)
        self.answers: dict[str, Any] = {
            "hasCompletedOnboarding": True,
            "projects": {str(home): {"hasTrustDialogAccepted": True}},
            "customApiKeyResponses": {"approved": [KEY[-20:]]},
        }
        command = f'printf %s "$CLAUDE_CODE_MESSAGING_SOCKET" > {self.record}'
        self.settings: dict[str, Any] = {
            "crossSessionInbound": "accept",
            "skipDangerousModePermissionPrompt": True,
            "hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": command}]}]},
        }
        submit = {"command": str(CONNECTOR / "inbox-submit"), "args": ["mcp"]}
        self.servers = {"mcpServers": {"inbox-submit": {**submit, "env": {"OUTBOX_DIR": "${AMAP_OUTBOX_DIR}"}}}}
        self.process: subprocess.Popen[str] | None = None

    def start(self, **environment: str) -> None:
        """Start the session; its screen goes to `home`/screen."""
        (self.home / ".claude.json").write_text(json.dumps(self.answers))
        flag, mcp = self.home / "flag.json", self.home / "mcp.json"
        flag.write_text(json.dumps(self.settings))
        mcp.write_text(json.dumps(self.servers))
        argv = [self.program, "--mcp-config", mcp, "--append-system-prompt-file", "/dev/null", "--settings", flag]
        own = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "XDG_RUNTIME_DIR": str(self.runtime),
            "ANTHROPIC_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": self.api,
            **environment,
        }
        with open(self.home / "screen", "w") as screen:
            self.process = subprocess.Popen(
                [*map(str, argv), "--dangerously-skip-permissions"],
                cwd=self.home,
                env=own,
                stdin=subprocess.DEVNULL,
                stdout=screen,
                stderr=screen,
                text=True,
            )

    def stop(self) -> int:
        assert self.process is not None
        self.process.terminate()
        return self.process.wait(10)

    @property
    def screen(self) -> str:
        return (self.home / "screen").read_text().rpartition("\x1b[H")[2]

    def ready(self) -> dict[str, Any]:
        """The session's registry entry, once it stands ready."""
        until(lambda: "Ready." in self.screen)
        (path,) = (self.home / ".claude/sessions").glob("*.json")
        return read(path)

    def waits_at(self, question: str) -> None:
        until(lambda: question in self.screen)
        assert not list(self.runtime.rglob("*.sock"))
        assert not (self.home / ".claude/sessions").exists()

    @property
    def turns(self) -> list[dict[str, Any]]:
        paths = list((self.home / ".claude/projects").rglob("*.jsonl"))
        return [json.loads(line) for path in paths for line in path.read_text().splitlines()]

    def send(self, text: str, reply_directory: Path | None = None, wait: float = 0.4) -> dict[str, Any] | None:
        """Send one user frame without an auth line; the receipt, or None after `wait` seconds of silence."""
        target = Path(self.ready()["messagingSocketPath"])
        reply = (reply_directory or target.parent) / f"{secrets.token_hex(8)}.sock"
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(reply))
            listener.listen(1)
            listener.settimeout(wait)
            with socket.socket(socket.AF_UNIX) as wire:
                wire.connect(str(target))
                frame = {"type": "user", "from": f"uds:{reply}", "message": {"role": "user", "content": text}}
                wire.sendall(json.dumps(frame).encode() + b"\n")
            try:
                with listener.accept()[0] as back:
                    receipt: dict[str, Any] = json.loads(back.recv(4096))
            except TimeoutError:
                return None
        return receipt
