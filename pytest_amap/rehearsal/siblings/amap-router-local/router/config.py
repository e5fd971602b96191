"""router.json: lane names, the loader, and what a wrong configuration is told."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field
from typing import Any

LANE_INBOX, LANE_PEER, LANE_OUTBOX = "inbox", "peer", "outbox"
LANES = (LANE_INBOX, LANE_PEER, LANE_OUTBOX)
LANE_LEAVES = {
    LANE_INBOX: ("notices", "messages"),
    LANE_PEER: ("notices", "messages"),
    LANE_OUTBOX: ("results", "processed"),
}
ROUTER_NAME = "amap.router"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_OUTCOME_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_DOMAIN = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_COUNTS = {
    "attachment_max_bytes": 8 << 20,
    "attachment_max_count": 16,
    "attachment_max_total_bytes": 32 << 20,
    "sender_exposure_window_seconds": 86_400,
    "peer_reply_window_seconds": 604_800,
}
_KEYS = {
    "state_dir", "instances", "instances_dir", "selected_json", "fleet_domain", "peer_senders", "peers",
    "task_graph", "mail_graph", "connector_outcome_ids", "intake_dir", *_COUNTS,
}  # fmt: skip
_INSTANCE_KEYS = {"handoff_dir", "namespace", "peers", "peer_senders"}

Edges = dict[str, frozenset[str]]


class ConfigError(Exception):
    """The configuration is refused; the text is one sentence."""


@dataclass(frozen=True)
class Config:
    """One accepted router.json. `task` maps a receiver to its senders, `mail` a name to those it lists."""

    state_dir: str
    fleet_domain: str | None
    instances_dir: str | None
    selected_json: str | None
    roots: dict[str, tuple[str, str]]  # authored instances: name -> (mode, root)
    task: Edges
    mail: Edges
    task_all: bool
    mail_all: bool
    intake_dir: str | None
    outcome_ids: tuple[str, ...]
    limits: dict[str, int] = field(default_factory=dict)

    def may_task(self, sender: str, receiver: str) -> bool:
        """Whether the graph lets `sender` start a task at `receiver`; direction is declared on the receiver."""
        if self.fleet_domain is None or sender == receiver:
            return False
        return self.task_all or sender in self.task.get(receiver, frozenset())

    def may_mail(self, one: str, other: str) -> bool:
        """Whether both sides list each other."""
        if one == other:
            return False
        return self.mail_all or (other in self.mail.get(one, frozenset()) and one in self.mail.get(other, frozenset()))

    def address(self, name: str) -> str:
        """The address of an instance, or of the router itself."""
        if self.fleet_domain is None:
            return f"agent.{name}@local"
        return f"{name}@{self.fleet_domain}"


def load(path: str) -> Config:
    """Read and check a router.json; ConfigError says what is wrong with it."""
    try:
        with open(path, encoding="utf-8") as stream:
            obj = json.load(stream)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: cannot be read as JSON: {error}") from error
    return load_obj(obj)


def load_obj(obj: Any) -> Config:
    """Check a parsed router.json; unknown keys are refused at every level."""
    if not isinstance(obj, dict):
        raise ConfigError("the configuration must be a JSON object")
    _refuse_unknown(obj, _KEYS, "the configuration")
    state_dir = _absolute(obj, "state_dir")
    if state_dir is None:
        raise ConfigError("state_dir is required")
    domain = _domain(obj.get("fleet_domain"))
    authored = "instances" in obj
    if authored == ("instances_dir" in obj):
        raise ConfigError("exactly one of instances and instances_dir is required")
    roots, task, mail = _authored(obj) if authored else ({}, _edges(obj, "peer_senders"), _edges(obj, "peers"))
    instances_dir, selected_json = _discovery(obj, authored)
    config = Config(
        state_dir=state_dir,
        fleet_domain=domain,
        instances_dir=instances_dir,
        selected_json=selected_json,
        roots=roots,
        task=task,
        mail=mail,
        task_all=_graph(obj, "task_graph"),
        mail_all=_graph(obj, "mail_graph"),
        intake_dir=_absolute(obj, "intake_dir"),
        outcome_ids=_outcome_ids(obj.get("connector_outcome_ids", ["claude-code"])),
        limits={key: _count(obj, key, default) for key, default in _COUNTS.items()},
    )
    _check_whole(config)
    return config


def _check_whole(config: Config) -> None:
    if config.task_all and config.fleet_domain is None:
        raise ConfigError("task_graph needs fleet_domain")
    if config.task_all and any(config.task.values()):
        raise ConfigError("task_graph and peer_senders exclude each other")
    if config.mail_all and any(config.mail.values()):
        raise ConfigError("mail_graph and peers exclude each other")
    if config.limits["attachment_max_total_bytes"] < config.limits["attachment_max_bytes"]:
        raise ConfigError("attachment_max_total_bytes must be at least attachment_max_bytes")
    roots = [root for _mode, root in config.roots.values()]
    for other in [config.instances_dir, config.selected_json, config.intake_dir, *roots]:
        if other is not None and _overlap(config.state_dir, other):
            raise ConfigError(f"state_dir {config.state_dir} must neither contain nor lie in {other}")
    names = {*config.task, *config.mail, *(name for names in config.mail.values() for name in names)}
    for one in sorted(names):
        for other in sorted(names):
            if config.may_mail(one, other) and (config.may_task(one, other) or config.may_task(other, one)):
                raise ConfigError(f"{one} and {other} may not be both a peer edge and a mutual mail pair")


def _refuse_unknown(obj: dict[str, Any], known: set[str], where: str) -> None:
    unknown = sorted(set(obj) - known)
    if unknown:
        raise ConfigError(f"{where} has unknown key(s): {', '.join(unknown)}")


def _absolute(obj: dict[str, Any], key: str) -> str | None:
    value = obj.get(key)
    if value is None:
        return None
    if not isinstance(value, str) or not os.path.isabs(value) or ":" in value:
        raise ConfigError(f"{key} must be an absolute path without a colon")
    return os.path.normpath(value)


def _domain(value: Any) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or len(value) > 253 or not _DOMAIN.fullmatch(value):
        raise ConfigError("fleet_domain must be lower-case labels joined by dots")
    return value


def _graph(obj: dict[str, Any], key: str) -> bool:
    if key in obj and obj[key] != "all":
        raise ConfigError(f'{key} has one value only: "all"')
    return key in obj


def _count(obj: dict[str, Any], key: str, default: int) -> int:
    value = obj.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ConfigError(f"{key} must be a whole number, zero or more")
    return value


def _outcome_ids(value: Any) -> tuple[str, ...]:
    good = isinstance(value, list) and all(isinstance(item, str) and _OUTCOME_ID.fullmatch(item) for item in value)
    if not good or len(set(value)) != len(value):
        raise ConfigError("connector_outcome_ids must be a list of distinct plain names")
    return tuple(value)


def _name(value: Any, where: str) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise ConfigError(f"{where}: {value!r} is no instance name")
    if value.lower() == ROUTER_NAME:
        raise ConfigError(f"{where}: {value!r} is reserved for the router")
    return value


def _names(holder: str, value: Any, key: str) -> frozenset[str]:
    if not isinstance(value, list):
        raise ConfigError(f"{key}.{holder} must be a list of names")
    names: list[str] = [_name(item, f"{key}.{holder}") for item in value]
    if holder in names or len(set(names)) != len(names):
        raise ConfigError(f"{key}.{holder} names itself or names one twice")
    return frozenset(names)


def _edges(obj: dict[str, Any], key: str) -> Edges:
    value = obj.get(key, {})
    if not isinstance(value, dict):
        raise ConfigError(f"{key} must be an object of lists")
    return {_name(holder, key): _names(holder, names, key) for holder, names in value.items()}


def _discovery(obj: dict[str, Any], authored: bool) -> tuple[str | None, str | None]:
    if authored:
        misplaced = sorted({"selected_json", "peer_senders", "peers"} & set(obj))
        if misplaced:
            raise ConfigError(f"{', '.join(misplaced)} belongs to instances_dir, not beside instances")
        return None, None
    if "selected_json" not in obj:
        raise ConfigError("selected_json is required with instances_dir")
    return _absolute(obj, "instances_dir"), _absolute(obj, "selected_json")


def _authored(obj: dict[str, Any]) -> tuple[dict[str, tuple[str, str]], Edges, Edges]:
    instances = obj["instances"]
    if not isinstance(instances, dict):
        raise ConfigError("instances must be an object")
    if len({name.lower() for name in instances}) != len(instances):
        raise ConfigError("two instances differ in upper and lower case only")
    roots: dict[str, tuple[str, str]] = {}
    task: Edges = {}
    mail: Edges = {}
    for raw, body in instances.items():
        name = _name(raw, "instances")
        if not isinstance(body, dict):
            raise ConfigError(f"instances.{name} must be an object")
        _refuse_unknown(body, _INSTANCE_KEYS, f"instances.{name}")
        modes = [mode for mode in ("handoff_dir", "namespace") if mode in body]
        root = _absolute(body, modes[0]) if len(modes) == 1 else None
        if root is None:
            raise ConfigError(f"instances.{name} needs exactly one of handoff_dir and namespace")
        roots[name] = (modes[0], root)
        task[name] = _names(name, body.get("peer_senders", []), "peer_senders")
        mail[name] = _names(name, body.get("peers", []), "peers")
    return roots, {k: v for k, v in task.items() if v}, {k: v for k, v in mail.items() if v}


def _overlap(one: str, other: str) -> bool:
    return os.path.commonpath([one, other]) in (one, other)
