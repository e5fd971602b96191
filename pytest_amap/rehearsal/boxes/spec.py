"""What a box is made of. Mounts, Landlock rules and `docker inspect` all derive from this one description."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Mount:
    """A bind of a host path, or of a volume's directory (then `kind` is "volume" and `name` its name).

    A mount that is not `shown` stands in the kernel's table and not in the runtime's description.
    """

    source: str
    target: str
    read_only: bool
    kind: str = "bind"
    name: str = ""
    shown: bool = True


@dataclass(frozen=True)
class Rules:
    """The Landlock part: what a process may read, what it may change, and the rights that are handled."""

    read_only: tuple[str, ...]
    read_write: tuple[str, ...]
    handled: int
    compatibility: str = "hard_requirement"


@dataclass(frozen=True)
class Endpoint:
    """A host that may be reached on some ports, by some binaries and their descendants."""

    host: str
    ports: tuple[int, ...]
    policy: str
    binaries: tuple[str, ...]


@dataclass(frozen=True)
class Network:
    """Egress: the endpoints, how a denial looks (`dns`, `connect` or `proxy`), and whether denials are logged.

    `key_good` is whether the provider takes the API key.
    """

    endpoints: tuple[Endpoint, ...] = ()
    style: str = "dns"
    logged: bool = True
    key_good: bool = True


@dataclass(frozen=True)
class BoxSpec:
    """Everything the engine needs to start one box.

    `directory` is the box's own folder on the disk (persistent /sandbox and /tmp, log, channel); `control` the
    socket by which it is reached. `environment` is the main process's; `exec_environment` is what a command started
    later gets besides its own. `rules` is None for a box without Landlock, `network` None for one without egress.
    """

    name: str
    directory: str
    control: str
    uid: int
    gid: int
    image_root: str
    command: tuple[str, ...]
    workdir: str
    environment: dict[str, str]
    exec_environment: dict[str, str] = field(default_factory=dict)
    mounts: tuple[Mount, ...] = ()
    etc: dict[str, str] = field(default_factory=dict)
    terminal: bool = False
    workspace: bool = False
    writable_image: bool = False
    restart: str = "no"
    rules: Rules | None = None
    exec_confined: bool = True
    network: Network | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> BoxSpec:
        read = dict(fields)
        read["command"] = tuple(fields["command"])
        read["mounts"] = tuple(Mount(**mount) for mount in fields["mounts"])
        if fields["rules"]:
            rules = fields["rules"]
            read["rules"] = Rules(
                tuple(rules["read_only"]), tuple(rules["read_write"]), rules["handled"], rules["compatibility"]
            )
        if fields["network"]:
            network = dict(fields["network"])
            network["endpoints"] = tuple(
                Endpoint(item["host"], tuple(item["ports"]), item["policy"], tuple(item["binaries"]))
                for item in network["endpoints"]
            )
            read["network"] = Network(**network)
        return cls(**read)
