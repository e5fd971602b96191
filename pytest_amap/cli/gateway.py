"""`amap gateway`: the fragment that gateway.toml needs, what it holds, and the exact merge. Changes nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from kit.gateway import FRAGMENT
from pytest_amap.checks import unknown_6
from pytest_amap.cli import gateway_merge, looking, settings
from pytest_amap.host import posture_files
from pytest_amap.host.posture_files import GatewayFiles
from pytest_amap.host.service_files import Manager
from pytest_amap.options import Options
from pytest_amap.parsers import gateway_toml, units
from pytest_amap.session.plans import Book

RESTART = "systemctl --user restart openshell-gateway"
MERGED = {".".join(path) for path, _ in gateway_toml.REQUIRED}
"""The findings that the merge puts right."""


def main(argv: Sequence[str] | None = None) -> int:
    """Print fragment, findings and merge; 0 when the files hold the whole posture, else 1."""
    parser = settings.parser("gateway", "What gateway.toml must hold, what it holds, and the merge. Changes nothing.")
    return settings.act(tell, parser.parse_args(argv).override_ini)


def tell(options: Options) -> int:
    """Fragment, findings and merge themselves."""
    unit, manager = service(options)
    found = posture_files.locate(os.environ, unit, manager, options.gateway)
    wrong = [finding.name for finding in found.findings(options.port, options.host_alias) if not finding.ok]
    for line in [*findings(found, options), *fragment(), *merge(found, wrong)]:
        print(line)
    return 1 if wrong or found.hidden else 0


def service(options: Options) -> tuple[units.Unit | None, Manager | None]:
    """The gateway's systemd unit and its manager's environment; None where there is none, or no user bus."""
    commands, host = unknown_6.commands(Book.of(options).lab, ""), looking.host(options)
    return unknown_6.service(host.look(commands["unit"]), host.look(commands["manager"]))


def findings(found: GatewayFiles, options: Options) -> Iterator[str]:
    state = {"ENOENT": "not there", None: "read"}.get(found.toml.problem, str(found.toml.problem))
    yield f"file: {found.toml.path} ({found.how}; {state})"
    for finding in found.findings(options.port, options.host_alias):
        told = f"{finding.name}: {finding.seen}"
        yield f"  ok     {told}" if finding.ok else f"  WRONG  {told}; must be {finding.expected}"
    yield from (f"  other  {setting}" for setting in found.others())
    yield from (f"  WRONG  {why}; what overrides the file is not known" for why in found.hidden)


def fragment() -> Iterator[str]:
    yield from ("", "fragment:", *(f"  {line}" for line in FRAGMENT.splitlines()))


def merge(found: GatewayFiles, wrong: list[str]) -> Iterator[str]:
    """The change of the file itself; nothing else that is wrong is undone by it, an open address least of all."""
    yield ""
    if found.toml.problem not in (None, "ENOENT"):
        yield f"merge: none, since {found.toml.path} could not be read ({found.toml.problem}); mend that first"
        return
    try:
        change = gateway_merge.diff(found.toml.text or "", found.toml.path)
    except gateway_merge.ByHand as problem:
        yield f"merge: none; {problem}"
        return
    left = bool(found.hidden) or not set(wrong) <= MERGED
    if change:
        yield from ("merge (nothing was changed; do it by hand, then restart the gateway):", *change.splitlines())
        if left:
            yield "before the restart: mend the other lines marked WRONG by hand"
        yield f"restart: {RESTART}"
    elif left:
        yield "merge: the required settings are there; mend the lines marked WRONG by hand"
    else:
        yield "merge: nothing to change"
