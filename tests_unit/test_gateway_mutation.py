"""From a gateway.toml that holds, every single change changes what unknown_6 says: a finding, or a name."""

from __future__ import annotations

import copy
import json
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from posture_samples import GOOD, with_toml
from request_samples import read

from pytest_amap.checks.gateway_files import OTHERS
from pytest_amap.checks.unknown_6 import judge
from pytest_amap.parsers.gateway_toml import REQUIRED, findings, gateway_file
from pytest_amap.verdicts import PASS, verdict

FULL = """\
[openshell]
version = 2
[openshell.gateway]
name = "alpha"
compute_driver = "docker"
bind_address = "127.0.0.1:17670"
health_bind_address = "127.0.0.1:17671"
metrics_bind_address = "[::1]:17672"
log_level = "info"
credential_drivers = ["file"]
ssh_session_ttl_secs = 3600
image_preparation_timeout_seconds = 300
policy_validation_failure_mode = "fail_closed"
server_sans = ["host.openshell.internal"]
enable_loopback_service_http = false
enable_websocket_tunnel = false
disable_tls = false
guest_tls_ca = "/tls/ca.crt"
provider_profile_sources = ["/profiles"]
[openshell.gateway.tls]
cert_path = "/tls/tls.crt"
key_path = "/tls/tls.key"
client_ca_path = "/tls/ca.crt"
[openshell.gateway.gateway_jwt]
signing_key_path = "/jwt/key"
ttl_secs = 300
[openshell.gateway.auth]
allow_unauthenticated_users = false
[openshell.gateway.mtls_auth]
enabled = true
[[openshell.gateway.interceptors]]
name = "one"
phases = ["create"]
[openshell.drivers.docker]
socket_path = "/var/run/docker.sock"
default_image = "base"
image_pull_policy = "if_not_present"
grpc_endpoint = "https://host.openshell.internal:17670"
supervisor_image = "supervisor"
allow_driver_config = true
enable_bind_mounts = true
sandbox_pids_limit = 2048
app_armor_profile = "openshell"
https_proxy = "http://127.0.0.1:3128"
[openshell.drivers.docker.resource_admission]
enabled = false
required_labels = []
"""
DOCUMENT = tomllib.loads(FULL)
Place = tuple[str | int, ...]


def leaves(value: Any, path: Place = ()) -> Iterator[Place]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = [place for key, item in inner for place in leaves(item, (*path, key))]
    yield from found or [path]


def tables(value: Any, path: Place = ()) -> Iterator[Place]:
    if isinstance(value, dict):
        yield path
        for key, item in value.items():
            yield from tables(item, (*path, key))


def toml(value: Any) -> str:
    """An inline value; JSON's scalars, strings and arrays are TOML's too."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value)


def text(document: dict[str, Any]) -> str:
    return "".join(f"{json.dumps(key)} = {toml(value)}\n" for key, value in document.items())


def changed(place: Place, change: Callable[[Any, Any], None]) -> str:
    document = copy.deepcopy(DOCUMENT)
    holder = document
    for key in place[:-1]:
        holder = holder[key]  # type: ignore[index]
    change(holder, place[-1])
    return text(document)


def said(text: str, **overrides: str) -> list[tuple[str, str, str]]:
    """All that unknown_6 says of the settings, the file's own digest apart."""
    return [(part.name, part.outcome, part.seen) for part in judge(with_toml(text, **overrides))]


def test_the_whole_file_holds_and_is_written_alike() -> None:
    assert verdict(judge(with_toml(FULL)))[0] is PASS
    assert said(text(DOCUMENT)) == said(FULL)


def test_what_is_judged_is_not_named_among_the_others() -> None:
    named = next(seen for name, _, seen in said(FULL) if name == OTHERS)
    assert "enable_websocket_tunnel" in named
    for judged in (
        "version =",
        "compute_driver",
        "bind_address",
        "disable_tls",
        "mtls_auth",
        "grpc_endpoint",
        "socket_path",
    ):
        assert judged not in named


@pytest.mark.parametrize("place", list(leaves(DOCUMENT)), ids=lambda place: ".".join(map(str, place)))
def test_each_value_that_is_changed_or_taken_away_is_noticed(place: Place) -> None:
    def other(holder: Any, key: Any) -> None:
        value = holder[key]
        holder[key] = not value if isinstance(value, bool) else f"{value}x" if isinstance(value, str) else [value]

    def gone(holder: Any, key: Any) -> None:
        del holder[key]

    def long(holder: Any, key: Any) -> None:
        holder[key] = "x" * 300 + str(holder[key])

    answers = [said(FULL), *(said(changed(place, change)) for change in (other, gone, long))]
    assert all(one not in answers[:number] for number, one in enumerate(answers))


@pytest.mark.parametrize("place", list(tables(DOCUMENT)), ids=lambda place: ".".join(map(str, place)) or "top")
@pytest.mark.parametrize("value", [True, "x", {}, []], ids=repr)
def test_each_key_that_is_added_is_named(place: Place, value: object) -> None:
    def add(holder: Any, key: Any) -> None:
        holder[key] = value

    assert any("new-key" in seen for _, _, seen in said(changed((*place, "new-key"), add)))


@pytest.mark.parametrize(
    "name",
    [
        "OPENSHELL_LOG_LEVEL",
        "OPENSHELL_ENABLE_WEBSOCKET_TUNNEL",
        "OPENSHELL_LOCAL_TLS_DIR",
        "OPENSHELL_POLICY_VALIDATION_FAILURE_MODE",
        "OPENSHELL_SUPERVISOR_IMAGE",
        "OPENSHELL_NEVER_HEARD_OF",
        "OPENSHELL_BIND_ADDRESS",
        "OPENSHELL_OIDC_ISSUER",
        "OPENSHELL_GATEWAY_CONFIG",
        "DOCKER_HOST",
        "--log-level",
        "-v",
    ],
)
def test_each_override_is_noticed_and_its_value_too(name: str) -> None:
    answers = [said(FULL), said(FULL, **{name: "one"}), said(FULL, **{name: "two"})]
    assert all(one not in answers[:number] for number, one in enumerate(answers))


@pytest.mark.parametrize(
    ("line", "secret"),
    [
        ('[openshell.gateway.more]\nclient_secret = "hush-hush"', "hush-hush"),
        ('[openshell.gateway.more]\nproxy = "http://user:hush-hush@proxy:3128"', "hush-hush"),
        ('[openshell.gateway.more]\napi-token = "hush-hush"', "hush-hush"),
    ],
)
def test_what_may_be_a_secret_is_named_and_not_shown(line: str, secret: str) -> None:
    told = " ".join(seen for _, _, seen in said(f"{FULL}\n{line}"))
    assert "openshell.gateway.more." in told
    assert secret not in told


VALUES = st.one_of(st.booleans(), st.integers(-9, 9), st.floats(-9, 9), st.text(max_size=9), st.just([]), st.just({}))


@given(st.sampled_from([path for path, _ in REQUIRED]), VALUES)
def test_a_required_setting_holds_with_its_own_value_and_type_alone(path: tuple[str, ...], value: object) -> None:
    def put(holder: Any, key: Any) -> None:
        holder[key] = value

    held = {finding.name: finding.ok for finding in findings(gateway_file(changed(path, put)))}
    want = dict(REQUIRED)[path]
    assert held[".".join(path)] is (type(value) is type(want) and value == want)


def test_a_file_that_cannot_be_read_names_nothing_and_passes_nothing() -> None:
    for toml in (read("[", "/g.toml"), replace(read("", "/g.toml"), text=None, problem="EACCES")):
        parts = judge(replace(GOOD, files=replace(GOOD.files, toml=toml)))
        told = [part for part in parts if part.name.startswith(("gateway settings", "other settings"))]
        assert told
        assert {part.outcome for part in told} == {"UNKNOWN"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[openshell]", '["openshell"]'),
        ("[openshell.gateway]\n", "[ openshell . 'gateway' ]\n"),
        ("version = 2", '"version" = 2'),
        ("version = 2", "version = 0x2"),
        ("version = 2", "version = +2 # two"),
        ('compute_driver = "docker"', "compute_driver = 'docker'"),
        ('compute_driver = "docker"', 'compute_driver = """\ndocker"""'),
        ('compute_driver = "docker"', 'compute_driver = "\\u0064ocker"'),
        ("\n", "\r\n"),
    ],
)
def test_another_way_to_write_the_same_says_the_same(old: str, new: str) -> None:
    assert old in FULL
    assert said(FULL.replace(old, new)) == said(FULL)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[openshell]", "[OpenShell]"),
        ("[openshell.gateway]\n", "[[openshell.gateway]]\n"),
        ("version = 2", "version = 2.0"),
        ("version = 2", "version = 3"),
        ("version = 2", "version = [2]"),
        ("version = 2", "Version = 2"),
        ("compute_driver", "compute_dr\u0456ver"),
        ('"docker"', '"Docker"'),
        ("allow_driver_config = true", 'allow_driver_config = "true"'),
        ("allow_driver_config = true", "allow_driver_config = true\nallow_driver_config = true"),
        ("enabled = false", "enabled = 0"),
        ("[openshell.drivers.docker]\n", "[openshell.drivers.podman]\n"),
    ],
)
def test_what_only_looks_alike_never_passes(old: str, new: str) -> None:
    assert old in FULL
    assert verdict(judge(with_toml(FULL.replace(old, new))))[0] is not PASS
