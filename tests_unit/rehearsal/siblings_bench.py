"""A fleet of alpha and beta in a temporary home, with the rehearsal's router, connector and session program on it."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

REHEARSAL = Path(__file__).parents[2] / "pytest_amap/rehearsal"
ROUTER = REHEARSAL / "siblings/amap-router-local"
CONNECTOR = REHEARSAL / "siblings/amap-connector-claude/bin"
SPEC = REHEARSAL / "siblings/amap-spec"
DOMAIN = "fleet.example"


def load(name: str, path: Path) -> Any:
    """A module, or a package by its __init__.py, under a name of its own and without touching sys.path."""
    if name not in sys.modules:
        search = [str(path.parent)] if path.name == "__init__.py" else None
        spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=search)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


def router_module(name: str) -> Any:
    """One module of the stand-in router."""
    load("rehearsed_router", ROUTER / "router/__init__.py")
    return importlib.import_module(f"rehearsed_router.{name}")


def address(name: str) -> str:
    return f"{name}@{DOMAIN}"


class Fleet:
    """Lanes, verdict and configuration as the kit lays them out; alpha may task beta."""

    def __init__(self, home: Path, **config: Any) -> None:
        self.home = home
        for name in ("alpha", "beta"):
            for leaf in ("inbox/notices", "inbox/messages", "peer/notices", "peer/messages", "outbox"):
                (home / "instances" / name / leaf).mkdir(parents=True)
        (home / "roster").mkdir()
        (home / "router-state").mkdir(mode=0o700)
        self.config = home / "router.json"
        body = {
            "state_dir": f"{home}/router-state",
            "instances_dir": f"{home}/instances",
            "selected_json": f"{home}/selected.json",
            "fleet_domain": DOMAIN,
            "peer_senders": {"alpha": [], "beta": ["alpha"]},
        }
        self.config.write_text(json.dumps({**body, **config}))
        self.select("alpha", "beta")

    def select(self, *names: str) -> None:
        verdict = {"schema": 1, "selected": [{"slug": name} for name in names], "not_selected": []}
        (self.home / "selected.json").write_text(json.dumps(verdict))

    def lane(self, name: str, *parts: str) -> Path:
        return self.home.joinpath("instances", name, *parts)

    def state(self, name: str, *parts: str) -> Path:
        return self.home.joinpath("router-state", name, *parts)

    def poll(self) -> dict[str, dict[str, Any]]:
        summaries: dict[str, dict[str, Any]] = router_module("poll").once(str(self.config))
        return summaries

    def write(self, name: str, req_id: str, document: Any) -> None:
        raw = document if isinstance(document, bytes) else json.dumps(document).encode()
        (self.lane(name, "outbox") / f"req-{req_id}.json").write_bytes(raw)

    def answer(self, name: str, req_id: str) -> dict[str, Any]:
        return read(self.lane(name, "outbox/results", f"{req_id}.json"))

    def audit(self, name: str) -> list[dict[str, Any]]:
        log = self.state(name, "audit/log.jsonl")
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

    def notices(self, name: str, lane: str = "peer") -> list[dict[str, Any]]:
        return [read(path) for path in sorted(self.lane(name, lane, "notices").glob("notice-*.json"))]

    def delivery(self, name: str, state: Path, lister: Path) -> dict[str, str]:
        """The delivery daemon's environment for one member, with a short receipt window."""
        values = {
            "MAIL_NOTICE_DIR": self.lane(name, "inbox/notices"),
            "MAIL_CLAIM": state / "mail.claim",
            "PEER_NOTICE_DIR": self.lane(name, "peer/notices"),
            "PEER_MESSAGE_DIR": self.lane(name, "peer/messages"),
            "PEER_CLAIM": state / "peer.claim",
            "STATE_DIR": state,
            "OUTCOME_DIR": self.lane(name, "outbox/ext/claude-code/outcomes"),
            "SESSION_SOURCE": lister,
            "SELF": address(name),
            "RECEIPT_WINDOW_SECONDS": 0.3,
        }
        return {f"AMAP_DELIVERY_{key}": str(value) for key, value in values.items()}

    def outcome(self, name: str, notice_id: str, outcome: str, **more: Any) -> Path:
        folder = self.lane(name, "outbox/ext/claude-code/outcomes")
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"peer-{notice_id}.json"
        body = {"outcome": outcome, "ts": "2026-01-02T03:04:05Z", "tree": "peer", "notice_id": notice_id, **more}
        path.write_text(json.dumps(body))
        return path


def request(req_id: str, to: str = "beta", **draft: Any) -> dict[str, Any]:
    body = {"to": [address(to)], "cc": [], "subject": "Files", "body_text": "List the files and reply.", **draft}
    return {"contract_version": "2", "req_id": req_id, "ts": "2026-01-02T03:04:05+00:00", "draft": body}


def read(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text())
    return document


def until(condition: Callable[[], Any], seconds: float = 10.0) -> Any:
    """The first true value of `condition`; AssertionError after so many seconds."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, f"not within {seconds} s"
        time.sleep(0.02)
    return value


def run(*argv: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program with little more than PATH in its environment."""
    own = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1", **environment}
    return subprocess.run([str(word) for word in argv], env=own, capture_output=True, text=True, timeout=30)
