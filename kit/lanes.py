"""The lanes of a member, and the one table that says what a sandbox sees of the host."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kit.home import Home

INBOX, PEER, OUTBOX = "inbox", "peer", "outbox"
LANE_LEAVES: dict[str, tuple[str, ...]] = {
    INBOX: ("notices", "messages"),
    PEER: ("notices", "messages"),
    OUTBOX: ("results", "processed"),
}
LANES = tuple(LANE_LEAVES)

SANDBOX_ROOT = "/opt/amap"
PAYLOAD_TARGET = f"{SANDBOX_ROOT}/payload"
ROSTER_TARGET = f"{SANDBOX_ROOT}/roster"


@dataclass(frozen=True)
class Mount:
    """One bind: a host directory and where the sandbox sees it."""

    role: str
    source: Path
    target: str

    @property
    def read_only(self) -> bool:
        return is_read_only(self.role)


def is_read_only(role: str) -> bool:
    """Only the outbox is the agent's to write; the driver's mounts and the policy both ask here."""
    return role != OUTBOX


def lane_target(lane: str) -> str:
    """Where the sandbox sees the lane."""
    return f"{SANDBOX_ROOT}/lanes/{lane}"


def targets() -> dict[str, str]:
    """Role to sandbox path, in the order in which mounts and policy name them; the same for every member."""
    return {"payload": PAYLOAD_TARGET, "roster": ROSTER_TARGET, **{lane: lane_target(lane) for lane in LANES}}


def mounts(home: Home, name: str) -> tuple[Mount, ...]:
    """The five binds of member `name`, in table order."""
    sources = {"payload": home.payload, "roster": home.roster, **{lane: home.lane(name, lane) for lane in LANES}}
    return tuple(Mount(role, sources[role], target) for role, target in targets().items())


def directories(home: Home, name: str) -> tuple[Path, ...]:
    """Every directory of the member's lanes, each lane before its leaves.

    The leaves must be there before the first sandbox: OpenShell refuses a bind without a source, the connector's
    daemon exits without its notices and messages, and a router in discovery mode makes none of them.
    """
    lanes = ((home.lane(name, lane), leaves) for lane, leaves in LANE_LEAVES.items())
    return tuple(path for lane, leaves in lanes for path in (lane, *(lane / leaf for leaf in leaves)))
