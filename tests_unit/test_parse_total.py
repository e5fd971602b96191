"""Every reader is total and bounded, and no noise reads as good."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_amap.parsers import (
    Unreadable,
    addresses,
    audit,
    cli,
    containers,
    documents,
    environment_files,
    gateway_toml,
    listeners,
    lister,
    logs,
    mountinfo,
    policy,
    roster,
    router_log,
    spec_items,
    strict_yaml,
    submit,
    text,
    unit_files,
    units,
    versions,
)

READERS: dict[str, Callable[[str], Any]] = {
    "plain": text.plain,
    "one_line": text.one_line,
    "gist": text.gist,
    "says": lambda seen: text.says(seen, "sandbox not found"),
    "openshell": versions.openshell,
    "claude": versions.claude,
    "kernel": versions.kernel,
    "sandbox": cli.sandbox,
    "sandbox_list_json": cli.sandbox_list_json,
    "sandbox_names": cli.sandbox_names,
    "status": cli.status,
    "profiles": cli.profiles,
    "providers": cli.providers,
    "gateway_info": cli.gateway_info,
    "listeners": lambda seen: listeners.listeners(seen, 17670),
    "is_loopback": addresses.is_loopback,
    "url": addresses.url,
    "gateway_file": lambda seen: gateway_toml.findings(gateway_toml.gateway_file(seen)),
    "overrides": lambda seen: gateway_toml.findings(gateway_toml.GatewayFile({}), {"--bind-address": seen, seen: seen}),
    "unit": units.unit,
    "unit_start": lambda seen: units.unit(f"ExecStart={{ path=x ; argv[]={seen} ; ignore_errors=no ; }}"),
    "unit_environment": lambda seen: units.unit(f"Environment={seen}"),
    "gateway_others": lambda seen: gateway_toml.others(gateway_toml.gateway_file(seen), {seen: seen}),
    "unit_file": lambda seen: unit_files.unit([("a", seen), ("b", f"[Service]\nExecStart={seen}")], {}),
    "manager_environment": units.manager_environment,
    "withheld": units.withheld,
    "expanded": lambda seen: environment_files.expanded(seen, {"A": seen}),
    "started": lambda seen: units.started((seen, "$A"), {"A": seen}),
    "environment_file": environment_files.environment_file,
    "entries": logs.entries,
    "network": logs.network,
    "network_details": lambda seen: logs.network(f"[1.1] [a] [b] [c] NET:OPEN [MED] DENIED {seen}"),
    "strict_yaml": strict_yaml.document,
    "policy": policy.policy,
    "policy_section": lambda seen: policy.policy(f"version: 1\nprocess: {seen}"),
    "events": lambda seen: audit.placements(audit.events(seen)),
    "roster": roster.roster,
    "drained": router_log.drained,
    "drained_summary": lambda seen: router_log.drained(f"2026-01-01 00:00:00,1 INFO a: drained a: {{{seen}}}"),
    "refusals": router_log.refusals,
    "containers": containers.containers,
    "mounts": mountinfo.mounts,
    "rows": lister.rows,
    "submitted": submit.submitted,
    "submit_result": submit.submit_result,
    "items": spec_items.items,
    "items_below": lambda seen: spec_items.items(f"NOT CHECKED HERE\n{seen}"),
    "document": documents.document,
}

SAMPLES = (
    '{"id": "a", "name": "b", "workspace": "c", "phase": "Ready", "status": "connected", "next_page_token": ""}',
    '[{"id": "a", "name": "b", "type": "c", "Mounts": [], "Config": {}, "State": {}, "HostConfig": {}}]',
    "Error:   × sandbox 'a' is not\n  │ ready\n  ╰─▶ transport error\n",
    "openshell 0.1.2-dev.4+gabc\n6.8.0-1\n2.1.284 (Claude Code)\n",
    "  Server: https://127.0.0.1:17670\n  Status: Connected\n",
    "LISTEN0 128 127.0.0.1:17670 0.0.0.0:*\n",
    '[openshell]\nversion = 2\n[openshell.gateway]\nbind_address = "127.0.0.1:1"\n',
    "ExecStart={ path=x ; argv[]=x --config 'y' ; ignore_errors=no ; }\nEnvironment=\"A=b c\"\n",
    "[1.5] [sandbox] [OCSF ] [ocsf] NET:OPEN [MED] DENIED /x(6) -> mail.example.org:443 [policy:- engine:a] [reason:b]",
    "version: 1\nfilesystem_policy: {read_only: [/a], read_write: []}\nprocess: {run_as_user: '1'}\n",
    '{"ts": "a", "event": "peer_notice_placed", "instance": "b", "notice_id": "c"}\n',
    "2026-01-01 00:00:00,1 INFO a: drained b: {'c': 1, 'd': [{'e': -2}]}\n",
    "36 35 98:0 /a /b\\040c ro,x master:1 - ext3 /dev/root rw\n",
    "claude\t-\t-\t7\t/a\t/b\n",
    "Submitted request a to the relay drop-box (b).\n",
    "NOT CHECKED HERE\n  - a\n    b-\n    c\n  - d\n    - e\n\n",
)

ANY_TEXT = st.text(st.characters())


@st.composite
def bent(draw: st.DrawFn) -> str:
    """A good sample with a piece of it repeated, taken out, or replaced by anything."""
    sample = draw(st.sampled_from(SAMPLES))
    start = draw(st.integers(0, len(sample)))
    end = draw(st.integers(start, len(sample)))
    middle = draw(st.one_of(ANY_TEXT, st.just(sample[start:end] * 2), st.sampled_from(SAMPLES)))
    return sample[:start] + middle + sample[end:]


@settings(max_examples=60)
@given(st.one_of(ANY_TEXT, bent()))
def test_no_reader_raises(seen: str) -> None:
    for reader in READERS.values():
        answer = reader(seen)
        if isinstance(answer, Unreadable):
            assert answer.why
            assert len(answer.why) < 1000
            answer.why.encode()


HUGE = 2_000_000


@pytest.mark.parametrize("name", READERS)
def test_a_line_of_two_million_characters_is_answered_in_time(name: str) -> None:
    piece = '[1.1] [a] [b] [c] NET:OPEN DENIED / error: sandbox {"a":\x1b]'
    started = time.process_time()
    READERS[name](piece * (HUGE // len(piece)))
    assert time.process_time() - started < 2


@given(ANY_TEXT)
def test_noise_is_nothing_good(noise: str) -> None:
    """What decides a verdict or a gate is never read out of noise."""
    for reader in (versions.openshell, versions.claude, cli.sandbox, cli.gateway_info, policy.policy):
        assert isinstance(reader(noise), Unreadable)
    for reader in (roster.roster, submit.submitted, mountinfo.mounts, spec_items.items):
        assert isinstance(reader(noise), Unreadable)
    assert not any(
        found.ok for found in gateway_toml.findings(gateway_toml.gateway_file(noise)) if found.state == "PRESENT"
    )
    assert not logs.network(noise)
    assert not audit.placements(audit.events(noise))


@given(bent())
def test_a_port_is_never_overlooked(noise: str) -> None:
    """A17: whatever stands around `:17670`, the row is either read or kept."""
    row = f"LISTEN 0 128 {noise.split(chr(10))[0]}:17670 0.0.0.0:*"
    found = listeners.listeners(row, 17670)
    assert found.addresses or found.unparsed


@given(st.text(st.characters(exclude_characters="\n")), st.sampled_from(["", ".", "x", ".evil.net", "-"]))
def test_only_the_exact_host_is_the_host(before: str, behind: str) -> None:
    target = f"{before}mail.example.org{behind}"
    events = logs.network(f"[1.1] [a] [b] [c] NET:OPEN [MED] DENIED /x(1) -> {target}:443 [policy:-]")
    exact = text.plain(target).strip() in ("mail.example.org", "mail.example.org.")
    if logs.about(events, "mail.example.org"):
        assert exact or text.plain(before).rstrip().endswith((" ->", "://")) or text.plain(before).strip().isupper()


@given(st.lists(st.sampled_from(["/a", "/a/b", "/a/b/c", "/ab", "/", "/a/b2"])), st.booleans())
def test_a_writable_parent_always_grants_writing(paths: list[str], listed: bool) -> None:
    made = policy.Policy(False, ("/a/b",) if listed else (), tuple(paths), "", "", "", {}, ())
    covered = any(path in ("/", "/a", "/a/b") for path in paths)
    answer = policy.access(made, "/a/b")
    assert (answer in ("both", "read-write")) is (covered or (not paths and not listed))


@given(st.recursive(st.none() | st.booleans() | st.integers() | ANY_TEXT, lambda inner: st.lists(inner), max_leaves=20))
def test_strict_json_reads_what_json_writes(value: object) -> None:
    assert documents.value(json.dumps(value)) == value


def test_answers_cannot_be_changed() -> None:
    answer = cli.status("Status: Connected")
    with pytest.raises(dataclasses.FrozenInstanceError):
        answer.connected = False  # type: ignore[misc, union-attr]
