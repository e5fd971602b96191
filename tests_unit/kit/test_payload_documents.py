"""The payload's documents: exact settings, the connector's servers, and a policy that names only what is there."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from kit import commands, lanes, payload_files

PAYLOAD = payload_files.OWN


def read(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((PAYLOAD / name).read_text())
    return document


def below_payload(path: str) -> str:
    return str(Path(path).relative_to(lanes.PAYLOAD_TARGET))


def test_the_settings_are_these_four_and_no_more() -> None:
    assert read("claude-settings.json") == {
        "crossSessionInbound": "accept",
        "skipDangerousModePermissionPrompt": True,
        "env": {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"},
        "hooks": {
            "SessionStart": [
                {"hooks": [{"type": "command", "command": f"{lanes.PAYLOAD_TARGET}/claude-session-start"}]}
            ]
        },
    }


def test_the_two_lanes_and_the_outbox_have_their_servers() -> None:
    assert read("mcp-servers.json") == {
        "mcpServers": {
            "inbox": {
                "command": f"{lanes.PAYLOAD_TARGET}/bin/inbox-mcp-vol",
                "env": {"INBOX_MESSAGE_DIR": "${AMAP_INBOX_DIR}/messages", "INBOX_LANE": "mail"},
            },
            "delegation": {
                "command": f"{lanes.PAYLOAD_TARGET}/bin/inbox-mcp-vol",
                "env": {"INBOX_MESSAGE_DIR": "${AMAP_PEER_DIR}/messages", "INBOX_LANE": "peer"},
            },
            "inbox-submit": {
                "command": f"{lanes.PAYLOAD_TARGET}/bin/inbox-submit",
                "args": ["mcp"],
                "env": {"OUTBOX_DIR": "${AMAP_OUTBOX_DIR}"},
            },
        }
    }


def test_every_program_that_is_named_is_in_the_payload() -> None:
    named = [word for word in commands.MAIN if word.startswith(lanes.PAYLOAD_TARGET)]
    named += [server["command"] for server in read("mcp-servers.json")["mcpServers"].values()]
    named += re.findall(r"/opt/amap/payload/[\w./-]+", (PAYLOAD / "claude-settings.json").read_text())
    here = {path.name for path in PAYLOAD.iterdir()} | {"bin/inbox-mcp-vol", "bin/inbox-submit"}
    assert {below_payload(path) for path in named} <= here


def test_the_programs_are_executable_in_the_checkout_too() -> None:
    programs = {"amap-main", "openshell-sessions", "claude-session-start", "claude-seed"}
    files = {path.name for path in PAYLOAD.iterdir() if path.is_file()}
    assert {name for name in files if (PAYLOAD / name).stat().st_mode & 0o111} == programs


def test_the_policy_names_tools_variables_and_paths_that_exist() -> None:
    text = (PAYLOAD / "INBOX-POLICY.md").read_text()
    variables = set(re.findall(r"\$(AMAP_\w+)", text))
    assert variables == {"AMAP_INBOX_DIR", "AMAP_PEER_DIR", "AMAP_SELF_ADDRESS"}
    assert set(re.findall(r"/opt/amap/[\w./-]*\w", text)) == {f"{lanes.ROSTER_TARGET}/roster.json"}
    for word in ("`submit`", "`submit_result`", "`peers`", "`in_reply_to`", "SendMessage", "three intervals"):
        assert word in text
