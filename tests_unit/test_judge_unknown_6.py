"""Unknown 6: what makes the gateway's posture PASS, FAIL and UNKNOWN; each setting mutated alone."""

from __future__ import annotations

import json
from dataclasses import replace

import judge_tables
import pytest
from container_samples import box
from posture_samples import GOOD, INFO, KEY, LISTENS, STATUS, TOML, UNIT, but, listing, with_toml
from request_samples import ran, read, unread

from pytest_amap.checks.gateway_files import OTHERS
from pytest_amap.checks.unknown_6 import PAGES, STATEMENT, Seen, judge
from pytest_amap.failures import StepRefused
from pytest_amap.observations import Ran
from pytest_amap.steps import gateway as gateway_step
from pytest_amap.verdicts import FAIL, UNKNOWN, verdict

ALPHA, BETA = box("alpha", "id-1"), box("beta", "id-2")
REFUSED = "Error:   × transport error\n  ╰─▶ Connection refused (os error 111)\n"
USAGE = ran(exit=2, stderr="error: unrecognized subcommand 'config'\n\nUsage: openshell-gateway [OPTIONS]\n")
NO_BUS = ran(exit=1, stderr="Failed to connect to bus: $DBUS_SESSION_BUS_ADDRESS and $XDG_RUNTIME_DIR not defined\n")


def listens(*addresses: str) -> Seen:
    return but(listeners=ran("".join(LISTENS.replace("127.0.0.1:17670", one) for one in addresses)))


def pages(*answers: Ran) -> Seen:
    return but(sandboxes=answers)


def toml(old: str, new: str) -> Seen:
    assert old in TOML
    return with_toml(TOML.replace(old, new))


def changed_at(time: str, unit: str = UNIT) -> Seen:
    """GOOD, its gateway started at 11:00:00 UTC."""
    return but(unit=ran(unit), files=replace(GOOD.files, toml=replace(GOOD.files.toml, mtime=time)))


def docker(line: str) -> Seen:
    return toml("[openshell.drivers.docker]\n", f"[openshell.drivers.docker]\n{line}\n")


def status(text: str, exit: int = 0) -> Seen:
    return but(status=ran(text, exit=exit))


STARTED, NEWER = "Sun 2026-11-29 11:00:00 UTC", "2026-11-29T11:00:01.000Z"
AT_HOME = ("https://127.0.0.1:17670", "https://host.openshell.internal:17670", "https://[::1]:17670/")
ELSEWHERE = (
    "https://gateway.example:17670",
    "https://172.17.0.1:17670",
    "https://host.openshell.internal:17671",
    "https://host.openshell.internal",
    "http://host.openshell.internal:17670",
    "https://host.openshell.internal.example:17670",
    "https://host.openshell.internal:17670@gateway.example:17670",
    "host.openshell.internal:17670",
)
HOLDS = {
    "as it should be": GOOD,
    "no sandbox at all yet": pages(listing()),
    "A04 an older envelope": pages(ran(json.dumps([ALPHA, BETA]))),
    "a member whose creation was announced": but(members={"alpha": "id-1", "beta": ""}, intents={"beta": ""}),
    "a probe that was announced": but(
        intents={"amap-l1-probe": "id-9"}, sandboxes=(listing(ALPHA, BETA, box("amap-l1-probe", "id-9")),)
    ),
    "two pages": pages(listing(ALPHA, token="t"), listing(BETA)),
    "a loopback address is stated": toml('"docker"', '"docker"\nbind_address = "127.0.0.1:17670"'),
    "IPv6 loopback": listens("127.0.0.1:17670", "[::1]:17670"),
    "other ports listen everywhere": listens("127.0.0.1:17670", "0.0.0.0:22"),
    "A17 ss glues its columns": but(listeners=ran(LISTENS.replace("LISTEN 0", "LISTEN0"))),
    "A05 the status is coloured": status(STATUS.replace("Connected", "\x1b[32mConnected\x1b[39m")),
    "A10 comments and strings": with_toml(TOML + "# bind_address = '0.0.0.0:17670'\n[x]\nsans = ['oidc.lan']\n"),
    "A16 no user bus": but(unit=NO_BUS),
    "no systemctl": but(unit=ran(exit=None, stderr="systemctl: No such file or directory")),
    "certificates elsewhere": with_toml(TOML, OPENSHELL_TLS_CERT="/srv/tls.crt", OPENSHELL_TLS_CLIENT_CA="/srv/ca.crt"),
    "a switch for something else": with_toml(TOML, OPENSHELL_LOG_LEVEL="debug"),
    "client certificates are stated": with_toml(TOML + "[openshell.gateway.mtls_auth]\nenabled = true\n"),
    **{f"supervisors report to {url}": docker(f'grpc_endpoint = "{url}"') for url in AT_HOME},
    "this deployment's own alias": replace(docker('grpc_endpoint = "https://h:17670"'), alias="h"),
    "another driver's endpoint": with_toml(TOML + f"[openshell.drivers.podman]\ngrpc_endpoint = '{ELSEWHERE[0]}'\n"),
    "a rootless Docker's socket": docker('socket_path = "/run/user/1000/docker.sock"'),
    "a file of the second of the start": changed_at("2026-11-29T11:00:00.900Z"),
    "a newer file of a service that does not run": changed_at(NEWER, UNIT.replace("=active", "=inactive")),
    "the driver's own name for itself": but(
        info=ran(INFO.replace('"docker"', '"docker", "capabilities": {"driver_name": "Docker engine"}'))
    ),
    **{
        f"certificates are asked for: {mode}": status(
            STATUS.replace("  Version", f"  Authentication: {mode}\n  Version")
        )
        for mode in ("mTLS (gateway)", "Mutual TLS", "Client certificate", "Required (gateway)")
    },
    "the driver's name in capitals": but(info=ran(INFO.replace("docker", "Docker"))),
    "required labels of an admission that is off": with_toml(TOML + "required_labels = ['a']\n"),
    "A08 an ambient gateway is not passed on": but(ambient=("OPENSHELL_GATEWAY",)),
}
SETTINGS = {
    "version = 2": ("", "version = 1", 'version = "2"'),
    'compute_driver = "docker"': ("", 'compute_driver = "podman"', 'compute_drivers = ["docker"]'),
    "allow_driver_config = true": ("", "allow_driver_config = false", 'allow_driver_config = "true"'),
    "enable_bind_mounts = true": ("", "enable_bind_mounts = false", "enable_bind_mounts = 1"),
    "enabled = false": ("", "enabled = true", "enabled = 0"),
}
OIDC = {
    "table": "[openshell.gateway.oidc]\nissuer = 'https://i'\n",
    "inline table": "[openshell.more]\noidc = {issuer = 'https://i'}\n",
    "dotted key": "[openshell.other]\noidc.issuer = 'https://i'\n",
}
BROKEN = {
    **{f"A15 {old} becomes {new!r}": toml(old, new) for old, news in SETTINGS.items() for new in news},
    **{f"OIDC as a {name}": with_toml(TOML + text) for name, text in OIDC.items()},
    "A11 a setting in another table": with_toml(
        TOML.replace("enable_bind_mounts = true\n", "") + "enable_bind_mounts = true\n"
    ),
    "no gateway.toml": but(files=replace(GOOD.files, toml=unread())),
    "an address in the file": toml('"docker"', '"docker"\nbind_address = "0.0.0.0:17670"'),
    "another port in the file": toml('"docker"', '"docker"\nbind_address = "127.0.0.1:17671"'),
    "an open health port": toml('"docker"', '"docker"\nhealth_bind_address = "0.0.0.0:9000"'),
    "unauthenticated users": with_toml(TOML + "[openshell.gateway.auth]\nallow_unauthenticated_users = true\n"),
    "no TLS": toml('"docker"', '"docker"\ndisable_tls = true'),
    "A12 the environment opens the port": with_toml(TOML, OPENSHELL_BIND_ADDRESS="0.0.0.0:17670"),
    "a flag opens the port": with_toml(TOML, **{"--bind-address": "[::]:17670"}),
    "a flag moves the port": with_toml(TOML, **{"--port": "8080"}),
    "no client certificates": with_toml(TOML + "[openshell.gateway.mtls_auth]\nenabled = false\n"),
    "client certificates are no table": with_toml(
        TOML.replace("[openshell.drivers.docker]", "mtls_auth = false\n[openshell.drivers.docker]")
    ),
    "no client certificates, by the environment": with_toml(TOML, OPENSHELL_MTLS_AUTH_ENABLED="false"),
    "no client certificates, by a flag": with_toml(TOML, **{"--disable-mtls-auth": "true"}),
    **{f"supervisors report to {url}": docker(f'grpc_endpoint = "{url}"') for url in ELSEWHERE},
    "supervisors report elsewhere, by the environment": with_toml(TOML, OPENSHELL_GRPC_ENDPOINT=ELSEWHERE[0]),
    "another alias than this deployment's": replace(
        docker(f'grpc_endpoint = "{AT_HOME[1]}"'), alias="host.ryno.internal"
    ),
    "Podman's socket behind the Docker driver": docker('socket_path = "/run/user/1000/podman/podman.sock"'),
    "the environment selects Podman": with_toml(TOML, OPENSHELL_COMPUTE_DRIVER="podman"),
    "the environment forbids binds": with_toml(TOML, OPENSHELL_DOCKER_ENABLE_BIND_MOUNTS="false"),
    "A18 the Docker bridge": listens("127.0.0.1:17670", "172.18.0.1:17670"),
    "A12 everywhere": listens("0.0.0.0:17670"),
    "everywhere, as a star": listens("*:17670"),
    "everywhere, IPv6": listens("127.0.0.1:17670", "[::]:17670"),
    "a link-local address": listens("127.0.0.1:17670", "[fe80::1%eth0]:17670"),
    "A18 beside a row that cannot be read": but(
        listeners=ran(LISTENS.replace("127.0.0.1", "172.18.0.1") + "LISTEN ? :17670\n")
    ),
    "A14 preflight is content, and nobody listens": listens("127.0.0.1:22"),
    "A13 preflight refuses": but(preflight=ran(exit=1, stderr="unknown field `enable_bind_mounts`")),
    "A14 preflight is content, and the daemon is not there": but(status=ran(exit=1, stderr=REFUSED)),
    "not connected": status(STATUS.replace("Connected", "Disconnected")),
    "no gateway is configured, with exit 0": status("Gateway Status\n\n  No gateway configured\n"),
    "connected elsewhere": status(STATUS.replace("127.0.0.1", "192.0.2.7")),
    "A08 connected to another port": status(STATUS.replace("17670", "17671")),
    "another driver": but(info=ran(INFO.replace("docker", "podman"))),
    "another driver under Docker's name": but(
        info=ran(INFO.replace('"docker"', '"docker", "capabilities": {"driver_name": "podman"}'))
    ),
    "another driver that bears Docker's name, too": but(
        info=ran(INFO.replace('"docker"', '"docker", "capabilities": {"driver_name": "podman-docker"}'))
    ),
    "nobody is asked who calls": status(
        STATUS.replace("  Version", "  Authentication: Not required (gateway)\n  Version")
    ),
    "callers are asked for a token": status(STATUS.replace("  Version", "  Authentication: OIDC (gateway)\n  Version")),
    **{
        f"nobody is asked who calls: {mode}": status(
            STATUS.replace("  Version", f"  Authentication: {mode}\n  Version")
        )
        for mode in ("not_required", "None", "Disabled (gateway)", "mTLS or OIDC")
    },
    "by plain http": status(STATUS.replace("https://", "http://")),
    "a second driver": but(info=ran(json.dumps({"compute_drivers": [{"name": "docker"}, {"name": "podman"}]}))),
    "a foreign sandbox": pages(listing(ALPHA, BETA, box("gamma", "id-3"))),
    "a foreign sandbox in another workspace": pages(listing(ALPHA, BETA, box("alpha", "id-1", "other"))),
    "a foreign sandbox on the second page": pages(listing(ALPHA, token="t"), listing(box("gamma", "id-3"))),
    "a foreign sandbox, and a page that cannot be read": pages(listing(box("gamma", "id-3"), token="t"), ran("{")),
    "a member's name under another id": pages(listing(box("alpha", "id-9"), BETA)),
    "a member that nobody recorded or announced": but(members={"alpha": "", "beta": "id-2"}),
    "A36 a probe's name under another id": but(
        intents={"amap-l1-probe": "id-9"}, sandboxes=(listing(box("amap-l1-probe", "id-8")),)
    ),
    "a key its group can read": but(keys=(KEY, replace(KEY, mode="640"))),
    "a key others can read": but(keys=(replace(KEY, mode="604"),)),
    "somebody else's key": but(keys=(replace(KEY, uid=0),)),
}
OPEN = {
    "gateway.toml is no TOML": (with_toml("[openshell"), "TOML"),
    "gateway.toml cannot be read": (but(files=replace(GOOD.files, toml=unread("EACCES"))), "EACCES"),
    "gateway.env cannot be read": (but(files=replace(GOOD.files, unread=("gateway.env: EACCES",))), "gateway.env"),
    "a drop-in cannot be decided": (but(files=replace(GOOD.files, undecided=("x.conf: EACCES",))), "x.conf"),
    "a wrong file that may not be the gateway's": (
        but(files=replace(with_toml("").files, undecided=("x.conf: EACCES",))),
        "may win over it unseen",
    ),
    "a file that was changed after the start": (changed_at(NEWER), "restart it"),
    "a start in a zone that letters do not tell": (changed_at(NEWER, UNIT.replace("UTC", "CST")), "CST"),
    "a service that runs since no time": (changed_at(NEWER, UNIT.replace(STARTED, "")), "no time"),
    "an environment file that was changed after the start": (
        but(files=replace(GOOD.files, environment=replace(read("", "/gateway.env"), mtime=NEWER))),
        "gateway.env is of",
    ),
    "an override of nothing": (with_toml(TOML, OPENSHELL_BIND_ADDRESS=""), "set to nothing"),
    "a switch of authentication that is not known": (with_toml(TOML, **{"--disable-gateway-auth": "true"}), "callers"),
    "a switch of TLS that is not known": (with_toml(TOML, OPENSHELL_TLS_ENABLED="false"), "callers"),
    "an endpoint of nothing": (docker('grpc_endpoint = ""'), "set to nothing"),
    "the service's Docker may be Podman": (with_toml(TOML, DOCKER_HOST="unix:///run/podman/podman.sock"), "heeds it"),
    "preflight cannot be run": (but(preflight=ran(exit=None, stderr="openshell-gateway: not found")), "not found"),
    "preflight ends with 127": (but(preflight=ran(exit=127)), "exit 127"),
    "a gateway that knows no preflight": (but(preflight=USAGE), "unrecognized"),
    "status does not end": (but(status=replace(ran(exit=None), timed_out=True)), "no answer in time"),
    "status cannot be run": (but(status=ran(exit=126)), "exit 126"),
    "status is killed": (but(status=ran(exit=-9)), "exit -9"),
    "status panics": (but(status=ran(exit=101, stderr="thread 'main' panicked at x")), "panicked"),
    "status is content, and ends with exit 1": (status(STATUS, exit=1), "with exit 1"),
    "callers are told in a way that is not known": (
        status(STATUS.replace("  Version", "  Authentication: Edge\n  Version")),
        "Edge",
    ),
    "preflight is killed": (but(preflight=ran(exit=137, stderr="Killed")), "Killed"),
    "A07 a status of another layout": (status("Gateway is up\n"), "Status"),
    "A07 a status word that is not known": (status(STATUS.replace("Connected", "Warming")), "Warming"),
    "a server that is no address": (status(STATUS.replace("https://127.0.0.1:17670", "local")), "local"),
    "ss fails": (but(listeners=ran(exit=1, stderr="Cannot open netlink socket")), "netlink"),
    "ss is not there": (but(listeners=ran(exit=None, stderr="ss: not found")), "not found"),
    "A17 ss glues more": (but(listeners=ran("LISTEN0 128127.0.0.1:17670 0.0.0.0:*\n")), "could not be read"),
    "ss says nothing, while the CLI is connected": (but(listeners=ran("")), "no row at all"),
    "info fails": (but(info=ran(exit=1, stderr="Error:   × permission denied")), "permission denied"),
    "info of an older release": (but(info=ran('{"gateway": "openshell"}')), "compute drivers"),
    "the listing fails": (pages(ran(exit=1, stderr=REFUSED)), "transport error"),
    "the listing is no JSON": (pages(ran("NAME PHASE\n")), "JSON"),
    "the second page fails": (pages(listing(ALPHA, token="t"), ran(exit=1, stderr="gone")), "gone"),
    "pages without an end": (pages(*[listing(ALPHA, token="t")] * PAGES), "more than"),
    "no key is found": (but(keys=()), "no key file"),
    "a key that cannot be looked at": (but(keys=(KEY, replace(KEY, kind="unreadable", problem="EACCES"))), "EACCES"),
    "a link in a key's place": (but(keys=(replace(KEY, kind="symlink"),)), "symlink"),
    "the statement is missing": (but(accepted=""), "not stated"),
}


test_pass, test_fail, test_unknown = judge_tables.tests_of(judge, HOLDS, BROKEN, OPEN)


def test_every_part_has_been_seen_to_fail_or_not_to_know() -> None:
    names = {part.name for part in judge(GOOD)}
    assert judge_tables.turned(judge, OPEN, UNKNOWN) >= names
    assert names - judge_tables.turned(judge, BROKEN, FAIL) == {"what overrides the gateway's file", OTHERS, STATEMENT}


@pytest.mark.parametrize(
    ("seen", "said"),
    [
        (listens("127.0.0.1:17670", "172.18.0.1:17670"), "172.18.0.1"),
        (with_toml(TOML, OPENSHELL_BIND_ADDRESS="0.0.0.0:17670"), "OPENSHELL_BIND_ADDRESS"),
        (status("No gateway configured\n"), "openshell gateway add https://127.0.0.1:17670"),
        (status("No gateway configured\n"), "systemctl --user restart openshell-gateway"),
        (pages(listing(box("gamma", "id-3", "other"))), "other/gamma"),
        (but(preflight=ran(exit=1, stderr="unknown field `x`")), "unknown field"),
    ],
)
def test_a_failure_names_what_to_look_at(seen: Seen, said: str) -> None:
    assert said in verdict(judge(seen))[1]


def test_what_is_only_noted_stands_in_the_parts() -> None:
    said = " ".join(part.seen for part in judge(but(ambient=("OPENSHELL_GATEWAY",), unit=NO_BUS)))
    assert "OPENSHELL_GATEWAY not passed on" in said
    assert "XDG_RUNTIME_DIR" in said
    assert "stated, not measured" in said


def gate(seen: Seen) -> Seen:
    return gateway_step.gateway.__wrapped__(seen)


def test_the_gate_lets_a_sound_posture_through_and_the_statement_does_not_gate() -> None:
    assert gate(GOOD) is GOOD
    assert gate(but(accepted="")).accepted == ""


@pytest.mark.parametrize("seen", [*BROKEN.values(), *(seen for seen, _ in OPEN.values() if seen.accepted)])
def test_the_gate_refuses_whatever_is_not_shown_to_hold(seen: Seen) -> None:
    with pytest.raises(StepRefused, match="refusing to go on"):
        gate(seen)
