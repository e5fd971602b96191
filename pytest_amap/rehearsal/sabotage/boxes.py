"""Faults in what a sandbox is made of: mounts, rules, identity, egress, the agent's switches."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from .. import landlock, layout, planted
from ..boxes.spec import BoxSpec, Endpoint, Mount, Rules
from ..store import Record

Reshape = Callable[[BoxSpec], BoxSpec]
Policy = dict[str, Any]

LANES = "/opt/amap/lanes"
INBOX, PEER, OUTBOX = f"{LANES}/inbox", f"{LANES}/peer", f"{LANES}/outbox"
PAYLOAD, ROSTER = "/opt/amap/payload", "/opt/amap/roster"
MAIL = "mail.example.org"
MIRRORS = layout.DISK / "mirrors"
"""Where lanes lie that are not the host's own, by their path below the home."""


def reshape(spec: BoxSpec) -> BoxSpec:
    for name in planted.among(SPECS):
        spec = SPECS[name](spec)
    return spec


def rewrite(policy: Policy) -> Policy:
    """The effective policy, as the gateway holds it and as the supervisor applies it."""
    for name in planted.among(POLICIES):
        policy = POLICIES[name](json.loads(json.dumps(policy)))
    return policy


def before_start(record: Record, directory: Path) -> None:
    for name in planted.among(BEFORE):
        BEFORE[name](record, directory)


def after_start(spec: BoxSpec) -> None:
    for name in planted.among(AFTER):
        AFTER[name](spec)


def _at(target: str, change: Callable[[Mount], Mount]) -> Reshape:
    """The mount at `target` changed."""

    def apply(spec: BoxSpec) -> BoxSpec:
        return replace(spec, mounts=tuple(change(item) if item.target == target else item for item in spec.mounts))

    return apply


def _remount(target: str, **changes: Any) -> Reshape:
    return _at(target, lambda mount: replace(mount, **changes))


def _ruled(change: Callable[[Rules], Rules]) -> Reshape:
    """The ruleset changed, whatever the policy lists."""
    return lambda spec: replace(spec, rules=spec.rules and change(spec.rules))


def _open(target: str) -> Reshape:
    """Writable mount and writable rule; the listing stays as it was."""
    return lambda spec: _let_write(target)(_remount(target, read_only=False)(spec))


def _unmount(target: str) -> Reshape:
    return lambda spec: replace(spec, mounts=tuple(item for item in spec.mounts if item.target != target))


def _unrule(target: str) -> Reshape:
    return _ruled(lambda rules: replace(rules, read_only=tuple(item for item in rules.read_only if item != target)))


def _of_another(mount: Mount) -> Mount:
    instances, own = Path(mount.source).parents[1], Path(mount.source).parent.name
    names = sorted(item.name for item in instances.iterdir() if item.name != own)
    return replace(mount, source=str(instances / names[0] / "inbox")) if names else mount


def _extra_bind(spec: BoxSpec) -> BoxSpec:
    extra = Path(spec.directory) / "extra"
    extra.mkdir(exist_ok=True)
    return replace(spec, mounts=(*spec.mounts, Mount(str(extra), "/opt/amap/extra", True)))


def _submount(spec: BoxSpec) -> BoxSpec:
    """The runtime shows only the bind it was told of (moby#23499), so this one is in the kernel's table alone."""
    inbox = next((item for item in spec.mounts if item.target == INBOX), None)
    if inbox is None:
        return spec
    below = Mount(f"{inbox.source}/notices", f"{INBOX}/notices", False, shown=False)
    return replace(spec, mounts=(*spec.mounts, below))


def _missing_source(spec: BoxSpec) -> BoxSpec:
    return replace(spec, mounts=(*spec.mounts, Mount(f"{spec.directory}/gone", "/opt/amap/gone", True)))


def _from(target: str, fill: Callable[[Path, Path], None], **changes: Any) -> Reshape:
    """The mount's source is a directory of the sandbox's own, filled from the real one when it starts."""

    def elsewhere(mount: Mount) -> Mount:
        own = MIRRORS / Path(mount.source).relative_to(layout.HOME)
        own.mkdir(parents=True, exist_ok=True)
        fill(Path(mount.source), own)
        return replace(mount, source=str(own), **changes)

    return _at(target, elsewhere)


def _copy(source: Path, own: Path) -> None:
    shutil.copytree(source, own, dirs_exist_ok=True)


def _let_read(target: str) -> Reshape:
    return _ruled(lambda rules: replace(rules, read_only=(*rules.read_only, target)))


def _let_write(target: str) -> Reshape:
    return _ruled(lambda rules: replace(rules, read_write=(*rules.read_write, target)))


def _overlay(spec: BoxSpec) -> BoxSpec:
    return _let_write(INBOX)(_from(INBOX, _copy, read_only=False)(spec))


def _endpoints(change: Callable[[tuple[Endpoint, ...]], tuple[Endpoint, ...]], **network: Any) -> Reshape:
    def apply(spec: BoxSpec) -> BoxSpec:
        if spec.network is None:
            return spec
        return replace(spec, network=replace(spec.network, endpoints=change(spec.network.endpoints), **network))

    return apply


def _reach_mail(endpoints: tuple[Endpoint, ...]) -> tuple[Endpoint, ...]:
    return (*endpoints, Endpoint(MAIL, (80, 443), "-", ("*",)))


def _style(style: str) -> Reshape:
    def apply(spec: BoxSpec) -> BoxSpec:
        if spec.network is None:
            return spec
        proxy = {"HTTPS_PROXY": "http://127.0.0.1:3128"} if style == "proxy" else {}
        return replace(
            spec,
            network=replace(spec.network, style=style),
            environment={**spec.environment, **proxy},
            exec_environment={**spec.exec_environment, **proxy},
        )

    return apply


def _agent(**switches: Any) -> Reshape:
    def apply(spec: BoxSpec) -> BoxSpec:
        known = json.loads(spec.etc.get("amap-rehearsal/agent.json", "{}"))
        return replace(spec, etc={**spec.etc, "amap-rehearsal/agent.json": json.dumps({**known, **switches})})

    return apply


def _socket_elsewhere(spec: BoxSpec) -> BoxSpec:
    return _let_write("/dev/shm")(_agent(socket_dir="/dev/shm/cc-socks")(spec))


def _another_way(spec: BoxSpec) -> BoxSpec:
    """As a named volume over the same directory: no bind in the runtime's list."""
    sources = [item.source for item in spec.mounts if item.target == INBOX]
    return replace(spec, mounts=(*spec.mounts, *(Mount(source, "/data", False, shown=False) for source in sources)))


SPECS: dict[str, Reshape] = {
    "inbox-writable": _remount(INBOX, read_only=False),
    "inbox-open": _open(INBOX),
    "inbox-overlaid": _overlay,
    "inbox-is-a-copy": _from(INBOX, _copy),
    "inbox-by-another-way": _another_way,
    "peer-writable": _remount(PEER, read_only=False),
    "payload-writable": _remount(PAYLOAD, read_only=False),
    "payload-open": _open(PAYLOAD),
    "roster-writable": _remount(ROSTER, read_only=False),
    "lane-of-another-member": _at(INBOX, _of_another),
    "extra-bind": _extra_bind,
    "writable-submount": _submount,
    "outbox-read-only": _remount(OUTBOX, read_only=True),
    "peer-unmounted": _unmount(PEER),
    "peer-is-a-copy": _from(PEER, _copy),
    "peer-notices-empty": _from(PEER, _copy),
    "peer-ruled-anyway": _let_read(PEER),
    "landlock-v2-rights": _ruled(lambda rules: replace(rules, handled=landlock.V2)),
    "landlock-missing": lambda spec: replace(spec, rules=None),
    "lane-skipped": _unrule(INBOX),
    "exec-unconfined": lambda spec: replace(spec, exec_confined=False),
    "network-open": _endpoints(_reach_mail),
    "mail-reached-unlogged": _endpoints(_reach_mail, logged=False),
    "denial-unlogged": _endpoints(lambda endpoints: endpoints, logged=False),
    "provider-key-refused": _endpoints(lambda endpoints: endpoints, key_good=False),
    "network-closed": _endpoints(lambda endpoints: ()),
    "provider-binaries-differ": _endpoints(
        lambda endpoints: tuple(replace(item, binaries=("/usr/local/bin/agent",)) for item in endpoints)
    ),
    "provider-unreachable": _endpoints(lambda endpoints: tuple(replace(item, binaries=()) for item in endpoints)),
    "denials-by-connect": _style("connect"),
    "denials-by-proxy": _style("proxy"),
    "silent-refusal": _agent(silent_refuse=True),
    "setting-ignored": _agent(never_tightens=True),
    "never-replies": _agent(never_reply=True),
    "never-a-turn": _agent(never_turn=True),
    "main-process-ends": _agent(ends=True),
    "two-sessions": _agent(two_sessions=True),
    "no-session-socket": _agent(no_socket=True),
    "key-file-missing": _agent(no_key_file=True),
    "first-run-question": _agent(first_run_question=True),
    "socket-elsewhere": _socket_elsewhere,
    "uid-differs": lambda spec: replace(spec, uid=spec.uid + 1),
    "gid-differs": lambda spec: replace(spec, gid=spec.gid + 1),
    "uid-unmapped": lambda spec: replace(spec, uid=65534, gid=65534),
    "create-stays-error": _missing_source,
}


def _files(policy: Policy) -> dict[str, list[str]]:
    return policy.setdefault("filesystem_policy", {})


def _unlist(policy: Policy) -> Policy:
    _files(policy)["read_only"] = [item for item in _files(policy).get("read_only", []) if item != INBOX]
    return policy


def _listed(mode: str, *paths: str) -> Callable[[Policy], Policy]:
    def apply(policy: Policy) -> Policy:
        _files(policy).setdefault(mode, []).extend(paths)
        return policy

    return apply


def _look_alike(policy: Policy) -> Policy:
    return _listed("read_only", f"{INBOX}2")(_unlist(policy))


def _set(section: str, **values: str) -> Callable[[Policy], Policy]:
    def apply(policy: Policy) -> Policy:
        policy.setdefault(section, {}).update(values)
        return policy

    return apply


POLICIES: dict[str, Callable[[Policy], Policy]] = {
    "inbox-unlisted": _unlist,
    "inbox-listed-twice": _listed("read_write", INBOX),
    "writable-parent": _listed("read_write", LANES),
    "look-alike-path": _look_alike,
    "landlock-best-effort": _set("landlock", compatibility="best_effort"),
    "peer-granted-anyway": _listed("read_only", PEER),
    "policy-uid": _set("process", run_as_user="1234"),
}


def _leave_settings(record: Record, directory: Path) -> None:
    """Once: a second start finds whatever the agent or the suite made of it."""
    own = directory / "sandbox" / ".claude"
    own.mkdir(parents=True, exist_ok=True)
    if record["started_at"] is None:
        (own / "settings.local.json").write_text('{"crossSessionInbound": "accept"}\n')


def _block_daemon(record: Record, directory: Path) -> None:
    """A file stands where the daemon keeps its claims."""
    claims = directory / "sandbox" / ".claude" / "connector"
    if claims.is_dir():
        shutil.rmtree(claims)
    claims.parent.mkdir(parents=True, exist_ok=True)
    claims.touch()


def _lose_workspace(record: Record, directory: Path) -> None:
    if record["started_at"] is not None:
        shutil.rmtree(directory / "sandbox")
        (directory / "sandbox").mkdir(mode=0o700)


BEFORE: dict[str, Callable[[Record, Path], None]] = {
    "settings-left-behind": _leave_settings,
    "daemon-down": _block_daemon,
    "workspace-lost": _lose_workspace,
}


def _remake(target: str) -> Callable[[BoxSpec], None]:
    def after(spec: BoxSpec) -> None:
        source = next((item.source for item in spec.mounts if item.target == target), None)
        if source is None or os.path.exists(f"{source}.before"):
            return
        os.rename(source, f"{source}.before")
        shutil.copytree(f"{source}.before", source)

    return after


AFTER: dict[str, Callable[[BoxSpec], None]] = {"source-remade": _remake(INBOX), "peer-remade": _remake(PEER)}
