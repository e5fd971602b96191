"""The gateway's posture: listeners, gateway.toml, its service and what overrides the file."""

from __future__ import annotations

import pytest
from posture_samples import TOML

from pytest_amap.parsers import Unreadable, addresses, environment_files, units
from pytest_amap.parsers.gateway_settings import Finding, State
from pytest_amap.parsers.gateway_toml import GatewayFile, findings, gateway_file
from pytest_amap.parsers.listeners import is_loopback, listeners

RIGHT = TOML.replace("mounts =", "mounts  =")


def row(address: str, glue: str = "LISTEN 0      128") -> str:
    return f"{glue}    {address}    0.0.0.0:*\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(row("127.0.0.1:17670"), ("127.0.0.1",), id="plain"),
        pytest.param(row("127.0.0.1:17670", "LISTEN0      128"), ("127.0.0.1",), id="A17-glued-columns"),
        pytest.param(row("127.0.0.1:17670") + row("172.18.0.1:17670"), ("127.0.0.1", "172.18.0.1"), id="A18-bridge"),
        pytest.param(row("0.0.0.0:17670"), ("0.0.0.0",), id="A12-everywhere"),
        pytest.param("LISTEN 0 4096 *:17670 *:*", ("*",), id="star"),
        pytest.param("LISTEN 0 128 *%eth0:17670 *:*", ("*%eth0",), id="star-on-a-device"),
        pytest.param("LISTEN 0 4096 [::]:17670 [::]:*", ("::",), id="ipv6-everywhere"),
        pytest.param("LISTEN 0 4096 [::1]:17670 [::]:*", ("::1",), id="ipv6-loopback"),
        pytest.param("LISTEN 0 4096 [::ffff:127.0.0.1]:17670 *:*", ("::ffff:127.0.0.1",), id="mapped"),
        pytest.param("LISTEN 0 4096 [fe80::1]%eth0:17670 [::]:*", ("fe80::1%eth0",), id="zone-behind-brackets"),
        pytest.param("LISTEN 0 4096 127.0.0.1%lo:17670 0.0.0.0:*", ("127.0.0.1%lo",), id="zone"),
        pytest.param(
            row("127.0.0.1:17670").rstrip() + ' users:(("x",pid=1,fd=2))', ("127.0.0.1",), id="process-column"
        ),
        pytest.param(row("127.0.0.1:117670") + row("127.0.0.1:1767"), (), id="other-ports"),
        pytest.param(row("127.0.0.1:17670") + row("[fe80::1]%veth1@if2:80"), ("127.0.0.1",), id="another-port"),
        pytest.param("", (), id="none"),
        pytest.param("State Recv-Q Send-Q Local Address:Port Peer Address:Port\n", (), id="heading"),
    ],
)
def test_listeners(text: str, expected: tuple[str, ...]) -> None:
    found = listeners(text, 17670)
    assert found.addresses == expected
    assert len(found.unparsed) == text.count(":117670")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("LISTEN0 128127.0.0.1:17670 0.0.0.0:*", id="A17-queue-glued-to-address"),
        pytest.param("LISTEN 0 128 127.0.0.1:176700.0.0.0:*", id="A17-port-glued-to-peer"),
        pytest.param("LISTEN 0 128 localhost:17670 0.0.0.0:*", id="a-name"),
        pytest.param("LISTEN 0 128 127.0.0.1:17670", id="cut"),
        pytest.param("ESTAB 0 0 127.0.0.1:17670 127.0.0.1:4000", id="another-state"),
        pytest.param("ss: command failed", id="an-error"),
        pytest.param("LISTEN 0 128 999.0.0.1:17670 0.0.0.0:*", id="no-address"),
    ],
)
def test_a_row_that_cannot_be_read_is_kept(text: str) -> None:
    found = listeners(text, 17670)
    assert found.addresses == ()
    assert found.unparsed == (text,)


@pytest.mark.parametrize(
    ("address", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.8.0.9", True),
        ("::1", True),
        ("[::1]", True),
        ("::ffff:127.0.0.1", True),
        ("127.0.0.1%lo", True),
        ("0.0.0.0", False),
        ("*", False),
        ("::", False),
        ("::ffff:10.0.0.1", False),
        ("172.18.0.1", False),
        ("127.0.0.1.evil.example", False),
        ("127.0.0.01", False),
        ("2130706433", False),
        ("localhost", False),
        ("", False),
    ],
)
def test_loopback(address: str, loopback: bool) -> None:
    assert is_loopback(address) is loopback


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("https://127.0.0.1:17670", "127.0.0.1", 17670),
        ("https://127.0.0.1:17670/", "127.0.0.1", 17670),
        ("https://[::1]:17670/x?y", "::1", 17670),
        ("https://[::1]", "::1", 443),
        ("http://localhost", "localhost", 80),
    ],
)
def test_urls(text: str, host: str, port: int) -> None:
    found = addresses.url(text)
    assert found == addresses.Endpoint(host, port)
    assert isinstance(found, addresses.Endpoint)
    assert found.loopback


@pytest.mark.parametrize(
    "text",
    [
        "https://127.0.0.1:17670@evil.example/",
        "https://127.0.0.1:99999",
        "127.0.0.1:17670",
        "https://",
        "https://a b:1",
        "",
    ],
)
def test_what_is_no_url(text: str) -> None:
    assert isinstance(addresses.url(text), Unreadable)


def judged(text: str, overrides: dict[str, str] | None = None) -> dict[str, Finding]:
    return {found.name: found for found in findings(gateway_file(text), overrides)}


def broken(text: str, overrides: dict[str, str] | None = None) -> dict[str, State]:
    return {name: found.state for name, found in judged(text, overrides).items() if not found.ok}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(RIGHT, id="the-runbooks"),
        pytest.param('# bind_address = "0.0.0.0:17670"\n# no oidc here\n' + RIGHT, id="A10-comments"),
        pytest.param(RIGHT.replace('"docker"', '"docker"\nserver_sans = ["oidc.lan"]'), id="A10-a-string"),
        pytest.param(RIGHT.replace("\n", "\r\n"), id="crlf"),
        pytest.param(RIGHT.replace('"docker"', '"docker"\nbind_address = "127.0.0.1:17670"'), id="loopback-named"),
        pytest.param(RIGHT.replace('"docker"', '"docker"\nbind_address = "[::1]:17670"'), id="loopback-ipv6"),
        pytest.param(
            RIGHT.replace('"docker"', '"docker"\nhealth_bind_address = "127.0.0.1:9000"'), id="health-on-loopback"
        ),
        pytest.param(
            "openshell.version=2\nopenshell.gateway.compute_driver='docker'\nopenshell.drivers.docker={allow_driver_config"
            "=true,enable_bind_mounts=true,resource_admission={enabled=false}}",
            id="dotted-and-inline",
        ),
    ],
)
def test_a_right_file(text: str) -> None:
    assert broken(text) == {}


@pytest.mark.parametrize(
    ("old", "new", "name", "state"),
    [
        ("version = 2", "version = 1", "openshell.version", State.WRONG),
        ("version = 2", 'version = "2"', "openshell.version", State.WRONG),
        ("version = 2", "version = true", "openshell.version", State.WRONG),
        ("version = 2", "version = 2.0", "openshell.version", State.WRONG),
        ("version = 2", "", "openshell.version", State.ABSENT),
        ('compute_driver = "docker"', "", "openshell.gateway.compute_driver", State.ABSENT),
        ('compute_driver = "docker"', 'compute_drivers = ["docker"]', "openshell.gateway.compute_driver", State.ABSENT),
        ('"docker"', '"podman"', "openshell.gateway.compute_driver", State.WRONG),
        ('"docker"', '["docker"]', "openshell.gateway.compute_driver", State.WRONG),
        ("config = true", "config = 1", "openshell.drivers.docker.allow_driver_config", State.WRONG),
        ("config = true", 'config = "true"', "openshell.drivers.docker.allow_driver_config", State.WRONG),
        ("mounts  = true", "mounts = false", "openshell.drivers.docker.enable_bind_mounts", State.WRONG),
        ("enabled = false", "enabled = true", "openshell.drivers.docker.resource_admission.enabled", State.WRONG),
        ("enabled = false", "", "openshell.drivers.docker.resource_admission.enabled", State.ABSENT),
    ],
)
def test_each_setting_that_is_not_right_is_noticed(old: str, new: str, name: str, state: State) -> None:
    assert old in RIGHT
    assert broken(RIGHT.replace(old, new)) == {name: state}


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ('bind_address = "0.0.0.0:17670"', "openshell.gateway.bind_address"),
        ('bind_address = "127.0.0.1:17671"', "openshell.gateway.bind_address"),
        ('bind_address = "[::]:17670"', "openshell.gateway.bind_address"),
        ('bind_address = "127.0.0.1"', "openshell.gateway.bind_address"),
        ("bind_address = 17670", "openshell.gateway.bind_address"),
        ('health_bind_address = "0.0.0.0:9000"', "openshell.gateway.health_bind_address"),
        ('metrics_bind_address = "10.0.0.1:9000"', "openshell.gateway.metrics_bind_address"),
        ('oidc = { issuer = "https://a.example" }', "oidc"),
        ('oidc.issuer = "https://a.example"', "oidc"),
        ("[openshell.gateway.oidc]", "oidc"),
        ("auth.allow_unauthenticated_users = true", "allow_unauthenticated_users"),
        ("auth = { allow_unauthenticated_users = 1 }", "allow_unauthenticated_users"),
        ("disable_tls = true", "disable_tls"),
    ],
)
def test_what_opens_the_gateway_is_noticed(line: str, name: str) -> None:
    assert broken(RIGHT.replace('"docker"\n', f'"docker"\n{line}\n')) == {name: State.WRONG}


@pytest.mark.parametrize(
    ("text", "name", "place"),
    [
        pytest.param(
            RIGHT.replace("enable_bind_mounts  = true\n", "").replace(
                "enabled = false", "enabled = false\nenable_bind_mounts = true"
            ),
            "openshell.drivers.docker.enable_bind_mounts",
            "openshell.drivers.docker.resource_admission.enable_bind_mounts",
            id="A11-after-the-next-table",
        ),
        pytest.param(
            RIGHT.replace('compute_driver = "docker"\n', "").replace(
                "version = 2", 'version = 2\ncompute_driver = "docker"'
            ),
            "openshell.gateway.compute_driver",
            "openshell.compute_driver",
            id="A11-one-table-up",
        ),
        pytest.param(
            RIGHT.replace("docker.resource", "podman.resource"),
            "openshell.drivers.docker.resource_admission.enabled",
            "openshell.drivers.podman.resource_admission.enabled",
            id="A11-another-driver",
        ),
    ],
)
def test_a_setting_under_the_wrong_table_is_absent_and_named(text: str, name: str, place: str) -> None:
    found = judged(text)[name]
    assert (found.state, found.ok) == (State.ABSENT, False)
    assert place in found.seen


@pytest.mark.parametrize(
    ("old", "new", "name", "place"),
    [
        ("[openshell.gateway]", '["openshell.gateway"]', "openshell.gateway.compute_driver", '"openshell.gateway".'),
        ("[openshell]\nversion", '"openshell.version"', "openshell.version", '"openshell.version"'),
    ],
)
def test_a_quoted_key_is_another_path_and_named_as_such(old: str, new: str, name: str, place: str) -> None:
    assert old in RIGHT
    found = judged(RIGHT.replace(old, new, 1))[name]
    assert (found.state, found.ok) == (State.ABSENT, False)
    assert f"but as {place}" in found.seen


def test_a_mark_that_nobody_sees_is_named() -> None:
    found = gateway_file(f"\ufeff{RIGHT}")
    assert isinstance(found, Unreadable)
    assert "byte order mark" in found.why


def test_no_file_is_absent_and_a_broken_one_unreadable() -> None:
    assert set(broken("").values()) == {State.ABSENT}
    assert len(broken("")) == 5
    for text in ("[openshell", "a = 1\na = 2", "x = " + "[" * 5000, "x" * 100_000, "\x00", ".".join("a" * 30) + " = 1"):
        assert isinstance(gateway_file(text), Unreadable)
        assert set(broken(text).values()) == {State.UNREADABLE}


@pytest.mark.parametrize(
    ("overrides", "wrong"),
    [
        pytest.param({"OPENSHELL_BIND_ADDRESS": "0.0.0.0:17670"}, True, id="A12-clean-file-open-environment"),
        pytest.param({"OPENSHELL_BIND_ADDRESS": "127.0.0.1:17670"}, False, id="A12-loopback"),
        pytest.param({"--bind-address": "0.0.0.0:17670"}, True, id="A12-flag"),
        pytest.param({"OPENSHELL_METRICS_BIND_ADDRESS": "127.0.0.1:9000"}, False, id="metrics"),
        pytest.param({"OPENSHELL_OIDC_ISSUER": "https://a.example"}, True, id="oidc"),
        pytest.param({"--disable-tls": "true"}, True, id="flag-without-value"),
        pytest.param({"OPENSHELL_DISABLE_TLS": "false"}, False, id="off"),
        pytest.param({"OPENSHELL_COMPUTE_DRIVER": "podman"}, True, id="driver"),
        pytest.param({"OPENSHELL_SERVER_PORT": "8080"}, True, id="port"),
        pytest.param({"OPENSHELL_LOCAL_TLS_DIR": "/x", "PATH": "/bin"}, False, id="harmless"),
    ],
)
def test_overrides(overrides: dict[str, str], wrong: bool) -> None:
    assert broken(RIGHT, overrides) == (dict.fromkeys(overrides, State.WRONG) if wrong else {})


def test_overrides_are_judged_beside_an_unreadable_file() -> None:
    assert broken("[", {"--bind-address": "0.0.0.0:1"})["--bind-address"] is State.WRONG


SHOWN = """\
ExecStart={ path=/usr/bin/openshell-gateway ; argv[]=/usr/bin/openshell-gateway --config /srv/g.toml --disable-tls ; \
ignore_errors=no ; start_time=[n/a] ; pid=12 ; code=(null) ; status=0/0 }
Environment=OPENSHELL_LOCAL_TLS_DIR=/home/u/tls "GREETING=a b"
EnvironmentFiles=/home/u/.config/openshell/gateway.env (ignore_errors=yes)
EnvironmentFiles=/etc/my env (ignore_errors=no)
DropInPaths=/home/u/.config/systemd/user/openshell-gateway.service.d/override.conf
ActiveState=active
ActiveEnterTimestamp=Mon 2026-09-28 10:00:00 UTC
"""


def test_a_unit() -> None:
    found = units.unit(SHOWN)
    assert isinstance(found, units.Unit)
    assert found.argv == ("/usr/bin/openshell-gateway", "--config", "/srv/g.toml", "--disable-tls")
    assert found.environment == {"OPENSHELL_LOCAL_TLS_DIR": "/home/u/tls", "GREETING": "a b"}
    assert found.environment_files == ("/home/u/.config/openshell/gateway.env", "/etc/my env")
    assert found.drop_ins == ("/home/u/.config/systemd/user/openshell-gateway.service.d/override.conf",)
    assert (found.state, found.active_since) == ("active", "Mon 2026-09-28 10:00:00 UTC")
    assert units.flags(found.argv) == {"--config": "/srv/g.toml", "--disable-tls": "true"}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="A16-no-bus"),
        pytest.param("Unit not found", id="other-words"),
        pytest.param(SHOWN.replace("argv[]", "argv"), id="no-argv"),
        pytest.param(SHOWN.replace('"GREETING', "GREETING"), id="odd-quotes"),
        pytest.param(SHOWN.replace(" (ignore_errors=no)", ""), id="odd-file"),
        pytest.param(SHOWN + SHOWN.split("\n")[0], id="two-commands"),
    ],
)
def test_a_unit_that_cannot_be_read(text: str) -> None:
    assert isinstance(units.unit(text), Unreadable)


def test_a_service_that_is_not_there_has_no_argv() -> None:
    found = units.unit("Environment=\nDropInPaths=\nActiveState=inactive\nActiveEnterTimestamp=\n")
    assert found == units.Unit((), {}, (), (), "inactive", "")


def test_no_bus_is_told_from_other_failures() -> None:
    said = "Failed to connect to user scope bus via local transport: $DBUS_SESSION_BUS_ADDRESS and $XDG_RUNTIME_DIR not"
    assert units.without_bus(said)
    assert not units.without_bus("Unit openshell-gateway.service could not be found.")


def test_an_environment_file() -> None:
    text = """\
# OPENSHELL_BIND_ADDRESS=0.0.0.0:1
; another comment
OPENSHELL_BIND_ADDRESS=127.0.0.1:17670
export  OPENSHELL_OIDC_ISSUER='https://a.example'
QUOTED="a b"
LONG=one\\
two
OPENSHELL_BIND_ADDRESS=0.0.0.0:17670
not an assignment
OPEN="x
"""
    found = environment_files.environment_file(text)
    assert isinstance(found, environment_files.EnvironmentFile)
    assert found.values == {
        "OPENSHELL_BIND_ADDRESS": "0.0.0.0:17670",
        "QUOTED": "a b",
        "LONG": "onetwo",
    }
    assert found.unparsed == ("export  OPENSHELL_OIDC_ISSUER='https://a.example'", "not an assignment", 'OPEN="x')


@pytest.mark.parametrize(
    ("argv", "environment", "path"),
    [
        (["g", "--config", "/a"], {"OPENSHELL_GATEWAY_CONFIG": "/b"}, "/a"),
        (["g", "--config=/a"], {}, "/a"),
        (["g"], {"OPENSHELL_GATEWAY_CONFIG": "/b"}, "/b"),
        (["g"], {"OPENSHELL_GATEWAY_CONFIG": ""}, None),
    ],
)
def test_which_file_the_gateway_uses(argv: list[str], environment: dict[str, str], path: str | None) -> None:
    assert units.config_file(argv, environment) == path


def test_a_right_file_is_a_gateway_file() -> None:
    assert isinstance(gateway_file(RIGHT), GatewayFile)
