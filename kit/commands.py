"""The create command of a member: an argument vector, and the one-line file that holds it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence

from kit import lanes
from kit.errors import Refused
from kit.fleet import Fleet
from kit.home import PROFILE_ID, Home

PROGRAM = "openshell"
UNATTENDED = ("--detach", "--tty", "--auto-providers")
MAIN = (
    f"{lanes.PAYLOAD_TARGET}/amap-main",
    "--mcp-config",
    f"{lanes.PAYLOAD_TARGET}/mcp-servers.json",
    "--append-system-prompt-file",
    f"{lanes.PAYLOAD_TARGET}/INBOX-POLICY.md",
    "--settings",
    f"{lanes.PAYLOAD_TARGET}/claude-settings.json",
    "--dangerously-skip-permissions",
)


def create_argv(fleet: Fleet, name: str, *, home: Home, image: str, restart_policy: bool = False) -> list[str]:
    """`openshell sandbox create` for member `name`.

    The global --workspace stands first, so that no OPENSHELL_WORKSPACE moves the command. No key is in it: the
    provider is made from ANTHROPIC_API_KEY in the creating shell. `restart_policy` needs an OpenShell whose create
    lists --restart-policy (not 0.1.2).
    """
    return [
        *(PROGRAM, "--workspace", fleet.workspace, "sandbox", "create"),
        *("--name", name, "--from", image),
        *("--provider", PROFILE_ID, "--auto-providers"),
        *("--policy", str(home.policy(name))),
        *("--driver-config-json", driver_config(home, name)),
        *(word for key, value in environment(fleet, name).items() for word in ("--env", f"{key}={value}")),
        *(("--restart-policy", "on-failure") if restart_policy else ()),
        *("--detach", "--tty"),
        "--",
        *MAIN,
    ]


def environment(fleet: Fleet, name: str) -> dict[str, str]:
    """What the payload needs to know of its own member; inbox-submit reads the last two."""
    return {
        "AMAP_INBOX_DIR": lanes.lane_target(lanes.INBOX),
        "AMAP_PEER_DIR": lanes.lane_target(lanes.PEER),
        "AMAP_OUTBOX_DIR": lanes.lane_target(lanes.OUTBOX),
        "AMAP_SELF_ADDRESS": fleet.address(name),
        "AMAP_SELF": fleet.address(name),
        "AMAP_ROSTER_DIR": lanes.ROSTER_TARGET,
    }


def driver_config(home: Home, name: str) -> str:
    """The Docker driver's mounts as compact JSON; read_only always explicit (OpenShell's default is true)."""
    rows = [
        {"type": "bind", "source": str(mount.source), "target": mount.target, "read_only": mount.read_only}
        for mount in lanes.mounts(home, name)
    ]
    return json.dumps({"docker": {"mounts": rows}}, separators=(",", ":"), sort_keys=True)


def render(argv: Sequence[str]) -> str:
    """The create file: exactly one line, run as `sh FILE`."""
    if any("\n" in word for word in argv):
        raise Refused("a word of the create command holds a line break: name home, image and fleet without one")
    return shlex.join(argv) + "\n"


def parse(text: str) -> list[str]:
    """The argument vector in a create file; Refused unless it is one whole, unattended `openshell` command."""
    remedy = "render it again with prepare --apply"
    if text.count("\n") != 1 or not text.endswith("\n"):
        raise Refused(f"the create file must hold exactly one line: {remedy}")
    try:
        argv = shlex.split(text)
    except ValueError as error:
        raise Refused(f"the create file cannot be split into words ({error}): {remedy}") from error
    if not argv or argv[0] != PROGRAM:
        raise Refused(f"the create file does not start with {PROGRAM}: {remedy}")
    options = _options(argv)
    missing = [flag for flag in UNATTENDED if options.count(flag) != 1]
    if missing:
        raise Refused(f"the create file does not carry {', '.join(missing)} once, so it would ask or attach: {remedy}")
    return argv


def with_changes(argv: Sequence[str], *, name: str, policy: str, main: Sequence[str]) -> list[str]:
    """`argv` with another --name, --policy and main process; everything else, the mounts too, stays."""
    options = _options(argv)
    for flag, value in (("--name", name), ("--policy", policy)):
        if options.count(flag) != 1:
            raise Refused(f"the create command holds {flag} {options.count(flag)} times: render it again with prepare")
        options[options.index(flag) + 1] = value
    return [*options, "--", *main]


def _options(argv: Sequence[str]) -> list[str]:
    """What stands before the main process."""
    words = list(argv)
    if words.count("--") != 1:
        raise Refused(f'the create command holds "--" {words.count("--")} times: render it again with prepare')
    return words[: words.index("--")]
