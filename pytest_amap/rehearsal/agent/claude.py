"""Session program that stands for Claude Code 2.1.284: its side of the cross-session wire, and a scripted model.

Installed as `claude`. What it does was measured on the real program: first-run questions, precedence of
crossSessionInbound, socket, registry and key file, SessionStart hooks, receipts. The model knows one task: where a
delegation asks for a reply, it calls the Messages API, lists its directory, and answers through inbox-submit.
Defects for a rehearsal are read from FAULTS; a SIGTERM ends it at once, and its files stay behind as after a kill.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import hashlib
import http.client
import json
import os
import queue
import re
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

FAULTS = Path("/etc/amap-rehearsal/agent.json")
VERSION_FILE = Path("/usr/local/lib/rehearsal/claude-version")
STRICTNESS = ("accept", "hold", "refuse")
SOCKET_NAME = re.compile(r"(\d+(-[0-9a-f]{8})?|[0-9a-f]{1,16})\.sock")
TRAILER = "-- added by inbox-delivery --"
ASKS_FOR_REPLY = re.compile(r"\b(reply|report back|answer|respond)\b", re.IGNORECASE)
WELCOME = "Choose the text style that looks best with your terminal"


class Question(Exception):
    """Shown on the screen until a person answers; no socket is opened meanwhile."""


class ApiError(OSError):
    """The Messages API could not be reached or did not answer 2xx."""


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object, empty where the file is missing or is none."""
    with contextlib.suppress(OSError, ValueError):
        value = json.loads(path.read_text(encoding="utf-8"))
        return value if isinstance(value, dict) else {}
    return {}


def version() -> str:
    """The version this image was built with."""
    return VERSION_FILE.read_text(encoding="ascii").strip() if VERSION_FILE.exists() else "2.1.284"


def parse_arguments() -> argparse.Namespace:
    """The options amap-main passes, out of the real program's many; one of them its --help does not list."""
    parser = argparse.ArgumentParser(prog="claude", description="Claude Code, as far as a rehearsal needs it")
    parser.add_argument("-v", "--version", action="version", version=f"{version()} (Claude Code)")
    parser.add_argument("--settings", metavar="FILE-OR-JSON", default="{}")
    parser.add_argument("--dangerously-skip-permissions", action="store_true")
    parser.add_argument("--mcp-config", metavar="FILE", default="")
    parser.add_argument("--append-system-prompt-file", metavar="FILE", help=argparse.SUPPRESS)
    arguments, others = parser.parse_known_args()
    unknown = [word for word in others if word.startswith("-")]
    if unknown:
        sys.exit(f"error: unknown option '{unknown[0]}'")
    return arguments


class Settings:
    """The settings files in effect: flag, user, project and local."""

    def __init__(self, flag: str, bypass: bool) -> None:
        self.home, self.cwd = Path(os.environ["HOME"]), Path.cwd()
        self.bypass = bypass
        self.flag = json.loads(flag) if flag.lstrip().startswith("{") else read_json(Path(flag))
        # With HOME as working directory one file is both: user and project settings.
        self.user, self.project = (read_json(base / ".claude/settings.json") for base in (self.home, self.cwd))
        self.local = read_json(self.cwd / ".claude/settings.local.json")

    def inbound(self) -> str:
        """crossSessionInbound: the flag file outranks the user's; project and local files only tighten."""
        values = [s.get("crossSessionInbound") for s in (self.flag, self.user, self.project, self.local)]
        if any(value is not None and value not in STRICTNESS for value in values):
            raise Question("Settings Warning: crossSessionInbound must be accept, hold or refuse")
        flag, user, *tightening = values
        base = flag or user or ("hold" if self.bypass else "accept")
        return max([base, *(value for value in tightening if value)], key=STRICTNESS.index)

    def first_run(self, key: str) -> None:
        """Raise the first question that no earlier answer silences."""
        state = read_json(self.home / ".claude.json")
        project = (state.get("projects") or {}).get(str(self.cwd)) or {}
        approved = (state.get("customApiKeyResponses") or {}).get("approved") or []
        skip = any(s.get("skipDangerousModePermissionPrompt") is True for s in (self.flag, self.user))
        if state.get("hasCompletedOnboarding") is not True:
            raise Question(WELCOME)
        if project.get("hasTrustDialogAccepted") is not True:
            raise Question("Is this a project you created or one you trust?")
        if key and key[-20:] not in approved:
            raise Question("Detected a custom API key in your environment")
        if self.bypass and not skip and state.get("bypassPermissionsModeAccepted") is not True:
            raise Question("WARNING: Claude Code running in Bypass Permissions mode")

    def session_start_hooks(self) -> list[str]:
        """The commands to run when the session starts."""
        groups = [g for s in (self.flag, self.user) for g in (s.get("hooks") or {}).get("SessionStart") or []]
        return [hook["command"] for group in groups for hook in group.get("hooks") or [] if "command" in hook]


class Screen:
    """A plain page on the terminal: a title and the newest lines."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._lock = threading.Lock()

    def add(self, text: str) -> None:
        """Add lines and draw."""
        with self._lock:
            self._lines = [*self._lines, *text.splitlines()][-200:]
            width, height = shutil.get_terminal_size()
            shown = [f"Claude Code v{version()} (rehearsal stand-in)", "", *self._lines[4 - max(height, 5) :], ">"]
            print("\x1b[2J\x1b[H" + "\r\n".join(line[:width] for line in shown), end="", flush=True)


def vetted(directory: Path) -> bool:
    """Whether nobody else could replace any component of this path."""
    for part in (directory, *directory.parents):
        status = os.stat(part)
        shared = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not status.st_mode & stat.S_ISVTX
        if status.st_uid not in (0, os.getuid()) or shared:
            return False
    return True


def bind(faults: dict[str, Any]) -> socket.socket | None:
    """The messaging socket, or None where no directory is fit for it."""
    base = os.environ.get("XDG_RUNTIME_DIR") or os.environ.get("CLAUDE_CODE_TMPDIR") or "/tmp"
    candidates = [Path(base) / "cc-socks", Path(f"/tmp/cc-socks-{os.getuid()}")]
    for directory in [Path(faults["socket_dir"])] if "socket_dir" in faults else candidates:
        path = directory / f"{os.getpid()}.sock"
        with contextlib.suppress(OSError):
            directory.mkdir(mode=0o700, exist_ok=True)
            if len(str(path)) > 103 or not vetted(directory):
                continue
            path.unlink(missing_ok=True)
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            listener.bind(str(path))
            path.chmod(0o600)
            listener.listen(50)
            return listener
    return None


class Transcript:
    """The session's record, one JSON object a line."""

    def __init__(self, settings: Settings, session_id: str) -> None:
        folder = settings.home / ".claude/projects" / re.sub(r"[^A-Za-z0-9]", "-", str(settings.cwd))
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path = folder / f"{session_id}.jsonl"
        self.path.touch(0o600)
        self._common = {"sessionId": session_id, "cwd": str(settings.cwd), "version": version()}

    def add(self, kind: str, content: Any) -> None:
        """Append one `user` or `assistant` entry."""
        when = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
        about = {"type": kind, "uuid": str(uuid.uuid4()), "timestamp": when}
        entry = {**self._common, **about, "message": {"role": kind, "content": content}}
        with open(self.path, "a", encoding="utf-8") as stream:
            stream.write(json.dumps(entry) + "\n")


def api(method: str, path: str, body: dict[str, Any] | None = None) -> None:
    """One call to the provider, plain HTTP on the port of its URL, through HTTPS_PROXY where that is set."""
    url = urlsplit(os.environ.get("ANTHROPIC_BASE_URL") or "https://api.anthropic.com")
    host, port, proxy = url.hostname or "", url.port or 443, urlsplit(os.environ.get("HTTPS_PROXY", ""))
    headers = {"x-api-key": os.environ.get("ANTHROPIC_API_KEY", ""), "anthropic-version": "2023-06-01"}
    connection = http.client.HTTPConnection(proxy.hostname or host, proxy.port or port, timeout=10)
    if proxy.hostname:
        connection.set_tunnel(host, port)
    try:
        connection.request(method, path, json.dumps(body) if body else None, headers)
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        raise ApiError(f"Connection error ({error})") from error
    finally:
        connection.close()
    if not 200 <= status < 300:
        raise ApiError(f"{status} from {host}")


def call_tool(mcp_config: str, server: str, tool: str, arguments: dict[str, Any]) -> str:
    """Start a registered MCP server, call one tool, and return its text; OSError or ValueError where it fails."""
    entry = read_json(Path(mcp_config)).get("mcpServers", {}).get(server)
    if not isinstance(entry, dict):
        raise ValueError(f"no MCP server {server} is registered")
    environ = {**os.environ, **{name: os.path.expandvars(value) for name, value in entry.get("env", {}).items()}}
    command = [os.path.expandvars(word) for word in (entry["command"], *entry.get("args", []))]
    opening = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "claude"}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": opening},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": tool, "arguments": arguments}},
    ]
    asked = "".join(json.dumps(message) + "\n" for message in messages)
    done = subprocess.run(command, input=asked, env=environ, capture_output=True, text=True, timeout=30, check=False)
    for line in done.stdout.splitlines():
        answer = json.loads(line)
        if answer.get("id") == 2 and "result" in answer and not answer["result"].get("isError"):
            return str(answer["result"]["content"][0]["text"])
    raise ValueError(f"{server}.{tool} failed: {done.stdout.splitlines()[-1:] or done.stderr[-200:]}")


class Session:
    """One running session: the listener's threads queue turns, the main thread works them off."""

    def __init__(self, mcp_config: str, settings: Settings, faults: dict[str, Any], screen: Screen) -> None:
        self._mcp_config, self._settings, self._faults, self._screen = mcp_config, settings, faults, screen
        self._inbound = settings.flag["crossSessionInbound"] if faults.get("never_tightens") else settings.inbound()
        self._id = str(uuid.uuid4())
        self._transcript = Transcript(settings, self._id)
        self._turns: queue.Queue[str] = queue.Queue()
        self._socket_path = ""

    def run(self) -> None:
        """Open the socket, tell the hooks, and work for ever."""
        listener = None if self._faults.get("no_socket") else bind(self._faults)
        if listener is not None:
            self._socket_path = listener.getsockname()
            self._register()
            threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
        self._run_hooks()
        threading.Thread(target=self._hello, daemon=True).start()
        self._screen.add("Ready.")
        while True:
            self._turn(self._turns.get())

    def _hello(self) -> None:
        try:
            api("HEAD", "/api/hello")
        except ApiError as error:
            self._screen.add(f"Unable to connect to Anthropic services: {error}")

    def _register(self) -> None:
        folder = self._settings.home / ".claude/sessions"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        pid, domain = os.getpid(), os.readlink("/proc/self/ns/pid")
        start = Path("/proc/self/stat").read_text(errors="replace").rpartition(")")[2].split()[19]
        digest = hashlib.sha256(self._socket_path.encode()).hexdigest()
        key = {"peerToken": secrets.token_hex(16), "procStart": start, "pidDomain": domain}
        key_file = folder / f"{pid}.{digest}.key"
        if self._faults.get("no_key_file"):
            key_file.unlink(missing_ok=True)  # an earlier session's, which had the same pid
        else:
            self._write(key_file, key)
        record = {
            "pid": pid, "sessionId": self._id, "cwd": str(self._settings.cwd), "startedAt": int(time.time() * 1000),
            "procStart": start, "version": version(), "peerProtocol": 1, "peerFeatures": [], "kind": "interactive",
            "entrypoint": "cli", "pidDomain": domain, "messagingSocketPath": self._socket_path,
            "name": self._settings.cwd.name, "status": "idle",
        }  # fmt: skip
        self._write(folder / f"{pid}.json", record)

    @staticmethod
    def _write(path: Path, body: dict[str, Any]) -> None:
        staged = path.with_name(f".{path.name}.tmp")
        staged.touch(0o600)
        staged.write_text(json.dumps(body), encoding="utf-8")
        staged.replace(path)

    def _run_hooks(self) -> None:
        environ = {**os.environ, "CLAUDE_PID": str(os.getpid()), "CLAUDE_CODE_SESSION_ID": self._id}
        if self._socket_path:
            # The token proves a child of this session; it is not the peer key.
            token = secrets.token_hex(16)
            environ.update(CLAUDE_CODE_MESSAGING_SOCKET=self._socket_path, CLAUDE_CODE_MESSAGING_TOKEN=token)
        told = {
            "session_id": self._id, "transcript_path": str(self._transcript.path), "cwd": str(self._settings.cwd),
            "hook_event_name": "SessionStart", "source": "startup", "model": "stand-in",
        }  # fmt: skip
        for command in self._settings.session_start_hooks():
            shell, asked = ["/bin/sh", "-c", command], json.dumps(told)
            done = subprocess.run(shell, input=asked, env=environ, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                self._screen.add(f"SessionStart hook error: {done.stderr.strip()}")

    def _accept(self, listener: socket.socket) -> None:
        while True:
            peer, _address = listener.accept()
            threading.Thread(target=self._converse, args=(peer,), daemon=True).start()

    def _converse(self, peer: socket.socket) -> None:
        peer.settimeout(30)
        with contextlib.suppress(OSError, ValueError, AttributeError), peer, peer.makefile("rb") as lines:
            for line in lines:
                frame = json.loads(line)
                # The auth line is optional: any process of this uid that reaches the socket may send.
                if frame.get("type") == "user":
                    self._receive(frame)

    def _receive(self, frame: dict[str, Any]) -> None:
        reply = Path(str(frame.get("from", "")).partition("uds:")[2])
        text = frame["message"]["content"] if isinstance(frame.get("message"), dict) else None
        known = {os.path.dirname(self._socket_path), "/tmp/cc-socks", f"/tmp/cc-socks-{os.getuid()}"}
        recognised = SOCKET_NAME.fullmatch(reply.name) is not None and str(reply.parent) in known
        if not isinstance(text, str) or not recognised:
            return
        if self._inbound == "accept":
            if not self._faults.get("never_turn"):
                self._turns.put(text)
        elif self._inbound == "hold":
            self._screen.add("Held message from another session")
            self._receipt(reply, frame, status="held")
        elif not self._faults.get("silent_refuse"):
            self._receipt(reply, frame, status="expired", status_detail="refused")

    def _receipt(self, reply: Path, frame: dict[str, Any], **status: str) -> None:
        origin = {"from": f"uds:{self._socket_path}", "msg_id": frame.get("msg_id")}
        body = {"type": "control", "action": "peer_message_status", **status, **origin}
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as wire:
            wire.settimeout(5)
            wire.connect(str(reply))
            wire.sendall(json.dumps(body).encode() + b"\n")

    def _turn(self, text: str) -> None:
        sender = re.search(r'from-name="([^"]*)"', text)
        body = text.partition(">")[2].rpartition(TRAILER)[0].strip()
        self._screen.add(f"› Message from @{sender.group(1).replace('@', '-') if sender else '?'}: {body}")
        self._transcript.add("user", f"Another Claude session sent a message:\n{text}")
        try:
            said = self._work(body, text.rpartition(TRAILER)[2])
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            said = f"{'API Error' if isinstance(error, ApiError) else 'That did not work'}: {error}"
        self._transcript.add("assistant", [{"type": "text", "text": said}])
        self._screen.add(f"● {said}")

    def _work(self, body: str, trailer: str) -> str:
        notice, sender = re.search(r"message id: (\S+)", trailer), re.search(r'to=\["([^"]+)"\]', trailer)
        if notice is None or sender is None or self._is_reply(notice.group(1)):
            return "Noted."
        if not ASKS_FOR_REPLY.search(body) or self._faults.get("never_reply"):
            return "Read; nothing to answer."
        api("POST", "/v1/messages", {"model": "stand-in", "messages": [{"role": "user", "content": body}]})
        answer = "Done."
        if re.search(r"\blist\b", body, re.IGNORECASE):
            listing = subprocess.run(["ls", "-la"], capture_output=True, text=True, check=True).stdout
            answer = f"Files in {self._settings.cwd}:\n{listing}"
        given = {"to": [sender.group(1)], "body_text": answer, "in_reply_to": notice.group(1)}
        return f"Sent my answer: {self._submit(given)}"

    def _is_reply(self, notice_id: str) -> bool:
        """Whether the lane's own notice says that this message answers one of ours: no answer to an answer."""
        notice = read_json(Path(os.environ.get("AMAP_PEER_DIR", "")) / "notices" / f"notice-{notice_id}.json")
        return bool((notice.get("message") or {}).get("in_reply_to"))

    def _submit(self, given: dict[str, Any]) -> str:
        use = f"toolu_{secrets.token_hex(12)}"
        called = {"type": "tool_use", "id": use, "name": "mcp__inbox-submit__submit", "input": given}
        self._transcript.add("assistant", [called])
        result = call_tool(self._mcp_config, "inbox-submit", "submit", given)
        self._transcript.add("user", [{"type": "tool_result", "tool_use_id": use, "content": result}])
        return result


def main() -> None:
    """Ask what a first run asks, then be a session until a signal ends it."""
    arguments = parse_arguments()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    screen, faults = Screen(), read_json(FAULTS)
    if faults.get("ends"):
        return
    settings = Settings(arguments.settings, arguments.dangerously_skip_permissions)
    if faults.get("two_sessions") and os.fork() == 0:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: it dies with its twin
    try:
        if faults.get("first_run_question"):
            raise Question(WELCOME)
        settings.first_run(os.environ.get("ANTHROPIC_API_KEY", ""))
        session = Session(arguments.mcp_config, settings, faults, screen)
    except Question as question:
        screen.add(f"{question}\n❯ 1. No\n  2. Yes")
        while True:
            signal.pause()
    session.run()


if __name__ == "__main__":
    main()
