"""Step 3's first half: everything the host needs before the first sandbox."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from kit import commands, files, fleet, gateway, lanes, membership, names, payload_files, policy, router
from kit.errors import Refused
from kit.files import Plan, Wanted, directory, document
from kit.fleet import Fleet
from kit.home import Home
from kit.membership import Member
from kit.names import RunAs

# Paths that a packaged gateway does not see: its unit has a private /tmp.
_PRIVATE = (Path("/tmp"), Path("/var/tmp"))


def plan(
    home: Home,
    fleet_file: Path,
    *,
    run_as: RunAs,
    caller: RunAs,
    image: str,
    connector: Path,
    examples: Path | None = None,
    restart_policy: bool = False,
) -> Plan:
    """What `prepare` writes into `home`, in report order.

    `caller` is this process's uid and gid: what it creates the sandboxes' one account must own. `connector` is the
    checkout the payload comes from. A fleet file below `examples` never replaces an installed one.
    """
    names.check_caller(caller)
    if run_as != caller:
        raise Refused(
            f"--run-as is {run_as}, and this process is {caller}: run it as the account the sandboxes will use"
        )
    names.check_image(image)
    members = membership.load(home.membership) or ()
    recorded = [member.name for member in members]
    wanted_fleet = fleet_to_install(home, fleet_file, members, examples=examples)
    payload = payload_files.files(home, connector)
    made = files.plan(
        home,
        (
            *_directories(home, wanted_fleet),
            *payload,
            payload_files.manifest(home, payload),
            Wanted(home.fleet, 0o644, wanted_fleet.raw),
            *_member_files(home, wanted_fleet, run_as, image, restart_policy),
            document(home.gateway_fragment, gateway.FRAGMENT),
        ),
    )
    notes = (
        *(f"warning: {warning}" for warning in wanted_fleet.warnings),
        *(f"warning: unexpected {stranger}: remove it" for stranger in _strangers(made)),
        *(f"note: {text}" for text in _stale(made, recorded)),
        *(f"note: {text}" for text in _router_left(home, wanted_fleet, recorded)),
        *_private_place(home),
    )
    return Plan(home, made.items, notes)


def fleet_to_install(home: Home, source: Path, members: Collection[Member], *, examples: Path | None) -> Fleet:
    """The fleet at `source`, or the installed one where an example says the same.

    A conflict with the installed one, or with the recorded `members`, is Refused.
    """
    wanted = _over_installed(home, source, [member.name for member in members], examples)
    membership.check_within(members, wanted)
    return wanted


def _over_installed(home: Home, source: Path, recorded: list[str], examples: Path | None) -> Fleet:
    new = fleet.load(source)
    if not home.fleet.is_file():
        return new
    installed = fleet.load(home.fleet)
    is_example = examples is not None and source.resolve().is_relative_to(examples.resolve())
    if installed == new:
        return installed if is_example else new
    if is_example:
        raise Refused(
            f"{home.fleet} is installed and differs from the example {source}: give --fleet {home.fleet} to keep it, "
            "or a fleet file of your own to replace it"
        )
    if recorded:
        raise Refused(
            f"{source} differs from {home.fleet}, for which members are recorded ({', '.join(recorded)}): give --fleet "
            f"{home.fleet} to keep it, or delete those sandboxes, {membership.ANEW}"
        )
    return new


def _directories(home: Home, wanted: Fleet) -> Iterator[Wanted]:
    yield directory(home.path)
    yield from payload_files.directories(home)
    yield from map(directory, (home.roster, home.policies, home.commands))
    for name in wanted.members:
        for path in (home.instances, home.instances / name, *lanes.directories(home, name)):
            yield directory(path, 0o700)


def _member_files(home: Home, wanted: Fleet, run_as: RunAs, image: str, restart_policy: bool) -> Iterator[Wanted]:
    for name in wanted.members:
        argv = commands.create_argv(wanted, name, home=home, image=image, restart_policy=restart_policy)
        yield document(home.policy(name), policy.render(run_as))
        yield document(home.command(name), commands.render(argv))


def _strangers(made: Plan) -> Iterator[str]:
    """What the kit did not put where it would be taken for the kit's; it deletes nothing."""
    home, known = made.home, {item.wanted.path for item in made.items}
    for folder, why in (
        (home.payload, "which every sandbox sees"),
        (home.policies, "which is no member's"),
        (home.commands, "which creates no member"),
    ):
        for path in sorted(set(folder.rglob("*")) - known):
            yield f"{path.relative_to(home.path)}, {why}"


def _stale(made: Plan, recorded: list[str]) -> Iterator[str]:
    """What a recorded sandbox, which was created from the old files, does not take over by itself."""
    changed = {made.home.path / name for name in made.changed()}
    for name in recorded:
        stale = [path for path in (made.home.policy(name), made.home.command(name)) if path in changed]
        if stale:
            listed = " and ".join(str(path.relative_to(made.home.path)) for path in stale)
            yield f"{name} is recorded and was created from another {listed}: re-create that sandbox, {membership.ANEW}"
    if recorded and any(path.is_relative_to(made.home.payload) for path in changed):
        yield "the payload changes under running sandboxes: stop and start each, so that its session uses the new files"


def _router_left(home: Home, wanted: Fleet, recorded: list[str]) -> Iterator[str]:
    """`record` alone writes what the router reads, so an installed fleet.json that was edited does not reach it."""
    left = files.plan(home, router.files(home, wanted)).changed() if recorded else ()
    if left:
        listed = " and ".join(left)
        yield f"fleet.json asks for another {listed}: record a member again, and start the router anew"


def _private_place(home: Home) -> Iterator[str]:
    if any(home.path.is_relative_to(private) for private in _PRIVATE):
        yield f"warning: a packaged gateway has a private /tmp and does not see {home.path}: choose a home elsewhere"
