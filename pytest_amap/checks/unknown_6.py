"""Unknown 6: the accepted gateway posture. Step 2's gate judges the same observations."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_amap.checks import gateway_files
from pytest_amap.commands import Command, Look, Planned, unrecorded
from pytest_amap.host import gateway_keys, posture_files, service_files
from pytest_amap.host.process import ambient_selectors
from pytest_amap.judging import decided, listed, unknown
from pytest_amap.observations import Ran, Stat
from pytest_amap.parsers import Unreadable, addresses, cli, gateway_settings, gateway_toml, listeners, units
from pytest_amap.verdicts import PASS, Part

if TYPE_CHECKING:
    from pytest_amap.host.lab import Lab

STATEMENT = "the operator states what files cannot show"
PAGES = 50
_ANYONE = re.compile(r"not required|\boidc\b|^(?:none|disabled|off)\b")
"""An authentication mode by which anybody may call, or somebody with a token."""
_CERTIFICATE = re.compile(r"tls\b|certificate|^required\b")


@dataclass(frozen=True)
class Seen:
    """Step 2's observations. `members` maps each fleet member to its recorded id, "" while there is none;
    `intents` maps each sandbox whose creation this suite announced on disk to its recorded id or ""."""

    files: posture_files.GatewayFiles
    unit: Ran
    preflight: Ran
    status: Ran
    info: Ran
    listeners: Ran
    sandboxes: tuple[Ran, ...]
    keys: tuple[Stat, ...]
    uid: int
    port: int
    workspace: str
    members: dict[str, str]
    intents: dict[str, str]
    ambient: tuple[str, ...] = ()
    accepted: str = ""
    alias: str = gateway_settings.ALIAS
    manager: Ran | None = None


def commands(lab: Lab, toml: str) -> dict[str, Command]:
    seconds = lab.options.deadlines.command
    systemctl = ("systemctl", "--user")
    show = (*systemctl, "show", service_files.SERVICE, "-p", ",".join(units.PROPERTIES))
    return {
        "unit": replace(unrecorded("the gateway's service", show, seconds), env=(("TZ", "UTC"),)),
        "manager": unrecorded("what every service is started with", (*systemctl, "show-environment"), seconds),
        "preflight": unrecorded("preflight", (lab.commands.gateway, "config", "preflight", "--path", toml), seconds),
        "status": lab.commands.plain("status", label="gateway status"),
        "info": lab.commands.plain("gateway", "info", "-o", "json", label="gateway info"),
        "listeners": unrecorded("listeners", ("ss", "-ltnH"), seconds),
    }


def page(lab: Lab, token: str = "") -> Command:
    words = ("sandbox", "list", "--all-workspaces", "-o", "json", *(("--page-token", token) if token else ()))
    return lab.commands.plain(*words, label="sandboxes in every workspace")


def plan(lab: Lab) -> Iterable[Planned]:
    toml = "<the gateway file>"
    planned = commands(lab, toml)
    yield planned.pop("unit")
    yield planned.pop("manager")
    yield Look("<its unit, drop-ins and environment.d>", "the gateway's service", "without a user bus")
    yield Look(toml, "the gateway's configuration")
    yield Look("<its folder>/gateway.env", "the gateway's environment")
    yield from planned.values()
    yield page(lab)
    yield page(lab, "<page token>").only("while the gateway names a next page")


def collect(lab: Lab) -> Seen:
    """Look, and judge nothing; nothing is changed."""
    host = lab.host
    ask = commands(lab, "")
    unit, manager = host.run(ask["unit"]), host.look(ask["manager"])
    files = posture_files.locate(host.environ, *service(unit, manager), lab.options.gateway)
    files = replace(
        files,
        toml=host.keep(host.hidden(files.toml), "gateway.toml"),
        environment=host.keep(host.hidden(files.environment), "gateway.env") if files.environment else None,
    )
    ask = commands(lab, files.toml.path)
    return Seen(
        files=files,
        unit=unit,
        manager=host.keep(replace(manager, stdout=units.withheld(manager.stdout)), ask["manager"].label),
        preflight=host.run(ask["preflight"]),
        status=host.run(ask["status"]),
        info=host.run(ask["info"]),
        listeners=host.run(ask["listeners"]),
        sandboxes=pages(lab),
        keys=tuple(
            host.stat(path, "credentials")
            for path in gateway_keys.paths(
                host.environ, files.overrides, gateway_toml.key_files(files.file, files.overrides)
            )
        ),
        uid=os.getuid(),
        port=lab.options.port,
        workspace=lab.fleet.workspace,
        members={name: lab.ids.get(name, "") for name in lab.fleet.members},
        intents=dict(lab.intents()),
        ambient=ambient_selectors(host.environ),
        accepted=lab.options.posture_accepted,
        alias=lab.options.host_alias,
    )


def service(unit: Ran, manager: Ran) -> tuple[units.Unit | None, service_files.Manager | None]:
    """What systemd says of the service; nothing where it could not be asked, and then files tell."""
    read = units.unit(unit.stdout) if unit.ok else None
    if not isinstance(read, units.Unit):
        return None, None
    found = units.manager_environment(manager.stdout) if manager.ok else Unreadable(manager.said)
    if isinstance(found, Unreadable):
        return read, service_files.Manager({}, (f"the user manager's environment is not known: {found.why}",))
    return read, service_files.Manager(found)


def pages(lab: Lab) -> tuple[Ran, ...]:
    """The listing of all sandboxes, page by page."""
    read = [lab.host.run(page(lab))]
    while (token := next_page(read[-1])) and len(read) < PAGES:
        read.append(lab.host.run(page(lab, token)))
    return tuple(read)


def next_page(ran: Ran) -> str:
    found = cli.sandbox_list_json(ran.stdout) if ran.ok else None
    return found.next_page_token if isinstance(found, cli.SandboxList) else ""


def judge(seen: Seen) -> list[Part]:
    return [
        *gateway_files.judge(seen),
        *live(seen),
        others(seen),
        credentials(seen),
        statement(seen),
    ]


def live(seen: Seen) -> Iterable[Part]:
    yield preflight(seen.preflight)
    yield connected(seen)
    yield listener(seen)
    info = cli.gateway_info(seen.info.stdout) if seen.info.ok else Unreadable(seen.info.said)
    name, want = "the gateway's compute driver", "docker alone"
    if isinstance(info, Unreadable):
        yield unknown(name, want, info, seen.info.record)
    else:
        drivers = {driver.casefold() for driver in info.drivers}
        yield decided(name, drivers == {"docker"}, want, listed(info.drivers), seen.info.record)


def preflight(ran: Ran) -> Part:
    name, want = "the gateway's own preflight", "exit 0"
    if not_asked(ran):
        return unknown(name, want, ran.said, ran.record)
    return decided(name, ran.exit == 0, want, ran.said if ran.exit else "exit 0", ran.record)


def not_asked(ran: Ran) -> bool:
    """The program did not run to its own end, or does not know the question; 101 is how a Rust program panics."""
    return (
        ran.exit is None
        or ran.exit in (101, 126, 127)
        or not 0 <= ran.exit <= 128
        or (ran.exit == 2 and "Usage:" in ran.stderr)
    )


def connected(seen: Seen) -> Part:
    """Exit 0 proves nothing here: it is also 0 where no gateway is configured."""
    name, want = "the CLI is connected to this gateway", f"connected to 127.0.0.1:{seen.port}"
    if not_asked(seen.status):
        return unknown(name, want, seen.status.said, seen.status.record)
    status = cli.status(seen.status.stdout)
    if isinstance(status, Unreadable):
        if seen.status.exit == 0:
            return unknown(name, want, status, seen.status.record)
        return decided(name, False, want, seen.status.said, seen.status.record)
    if not status.configured:
        remedy = (
            f"no active gateway: run 'openshell gateway add https://127.0.0.1:{seen.port} --local --name openshell' "
            "and, if it does not run, 'systemctl --user restart openshell-gateway'"
        )
        return decided(name, False, want, remedy, seen.status.record)
    server = addresses.url(status.server)
    if isinstance(server, Unreadable):
        return unknown(name, want, server, seen.status.record)
    return reached(seen, status, server, name, want)


def reached(seen: Seen, status: cli.Status, server: addresses.Endpoint, name: str, want: str) -> Part:
    """Nothing but a client certificate may tell who calls; a mode that is not named at all is the files' question."""
    record, mode = seen.status.record, status.authentication
    plain = status.server.startswith("http://")
    said = f"{'connected' if status.connected else 'not connected'} to {server}{' by plain http' if plain else ''}"
    said += f"; authentication: {mode}" if mode else ""
    said += f"; ambient {listed(seen.ambient)} not passed on" if seen.ambient else ""
    if not (status.connected and server.loopback and server.port == seen.port):
        return decided(name, False, want, said, record)
    told = re.sub(r"[\W_]+", " ", mode.casefold())
    if plain or _ANYONE.search(told):
        return decided(name, False, f"{want} by a client certificate", said, record)
    if seen.status.exit or (mode and not _CERTIFICATE.search(told)):
        exit_code = f", with exit {seen.status.exit}" if seen.status.exit else ""
        return unknown(name, f"{want} by a client certificate", f"{said}{exit_code}", record)
    return decided(name, True, want, said, record)


def listener(seen: Seen) -> Part:
    name, want = f"port {seen.port} listens on loopback and nowhere else", "loopback addresses only"
    if not seen.listeners.ok:
        return unknown(name, want, seen.listeners.said, seen.listeners.record)
    found = listeners.listeners(seen.listeners.stdout, seen.port)
    outside = [address for address in found.addresses if not addresses.is_loopback(address)]
    if outside:
        return decided(name, False, want, listed(outside), seen.listeners.record)
    if found.unparsed:
        return unknown(name, want, f"rows that could not be read: {listed(found.unparsed)}", seen.listeners.record)
    if not seen.listeners.stdout.strip() and connected(seen).outcome is PASS:
        return unknown(name, want, "no row at all, while the CLI is connected there", seen.listeners.record)
    return decided(name, bool(found.addresses), want, listed(found.addresses, "no listener"), seen.listeners.record)


def others(seen: Seen) -> Part:
    """Every sandbox in every workspace is a recorded member, or one whose creation this suite announced on disk."""
    name, want = "no other sandbox runs on this gateway", "fleet members only, over all workspaces"
    records = tuple(ran.record for ran in seen.sandboxes)
    pages = [cli.sandbox_list_json(ran.stdout) if ran.ok else Unreadable(ran.said) for ran in seen.sandboxes]
    boxes = [box for page in pages if not isinstance(page, Unreadable) for box in page.sandboxes]
    if strangers := [why for box in boxes if (why := stranger(box, seen))]:
        return decided(name, False, want, listed(strangers), *records)
    for page in pages:
        if isinstance(page, Unreadable):
            return unknown(name, want, page, *records)
    if next_page(seen.sandboxes[-1]):
        return unknown(name, want, f"more than {PAGES} pages", *records)
    return decided(name, True, want, "fleet members only", *records)


def stranger(box: cli.Sandbox, seen: Seen) -> str:
    recorded = seen.members.get(box.name, "") or seen.intents.get(box.name, "")
    if box.workspace == seen.workspace and recorded == box.id:
        return ""
    if box.workspace == seen.workspace and box.name in seen.intents and not recorded:
        return ""
    why = (
        f"id {box.id}, recorded {recorded}"
        if recorded
        else f"id {box.id}, not recorded and not announced by this suite"
    )
    return f"{box.workspace}/{box.name} ({why})"


def credentials(seen: Seen) -> Part:
    name = "the gateway's credentials are this user's alone"
    want = f"keys of uid {seen.uid}, closed to group and others"
    records = tuple(stat.record for stat in seen.keys)
    plain = [key for key in seen.keys if key.kind == "file"]
    if wrong := [
        f"{os.path.basename(key.path)} is {key.uid} {key.mode}" for key in plain if not private(key, seen.uid)
    ]:
        return decided(name, False, want, listed(wrong), *records)
    kinds = {"directory": "a folder that cannot be listed"}
    if odd := [
        f"{os.path.basename(key.path)}: {key.problem or kinds.get(key.kind, key.kind)}"
        for key in seen.keys
        if key.kind != "file"
    ]:
        return unknown(name, want, listed(odd), *records)
    if not plain:
        return unknown(name, want, "no key file was found", *records)
    return decided(name, True, want, f"{len(plain)} key files, all private", *records)


def private(stat: Stat, uid: int) -> bool:
    return stat.uid == uid and not int(stat.mode, 8) & 0o077


def statement(seen: Seen) -> Part:
    """Never measured: a dedicated host and no copy of the credentials are the operator's word."""
    want = "amap_posture_accepted, or AMAP_POSTURE_ACCEPTED: a dedicated gateway, no copy of its credentials"
    if not seen.accepted:
        return unknown(STATEMENT, want, "not stated")
    return decided(STATEMENT, True, want, f"stated, not measured: {seen.accepted}")
