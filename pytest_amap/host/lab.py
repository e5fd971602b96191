"""What the steps and collectors share: the fleet's names, the builders, the doorway, and what steps found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from kit import lanes
from kit.fleet import Fleet
from kit.home import Home
from pytest_amap import probes
from pytest_amap.commands import Command, Commands
from pytest_amap.host import intents
from pytest_amap.observations import Ran
from pytest_amap.options import Options

if TYPE_CHECKING:
    from pytest_amap.host.host import Host
    from pytest_amap.host.run import Run
    from pytest_amap.host.survey import Ground

INBOX, PEER, OUTBOX = (lanes.lane_target(lane) for lane in ("inbox", "peer", "outbox"))
SUBMIT = f"{lanes.PAYLOAD_TARGET}/bin/inbox-submit"
LISTER = f"{lanes.PAYLOAD_TARGET}/openshell-sessions"
SETTINGS = f"{lanes.PAYLOAD_TARGET}/claude-settings.json"
SANDBOX_HOME = "/sandbox"


@dataclass
class Lab:
    """One L1 deployment while a run works on it. Reports read `run`; this is for doing."""

    options: Options
    ground: Ground
    commands: Commands
    run: Run
    ids: dict[str, str] = field(default_factory=dict)
    """Member to sandbox id, once step 4 or membership.json told it."""
    found: dict[str, Any] = field(default_factory=dict)

    label_flag: bool = False
    """Whether `sandbox create --help` lists --label."""

    def use_flags(self, *, exec_flags: tuple[str, ...], label: bool) -> None:
        """Go on with the flags that this OpenShell lists."""
        self.commands, self.label_flag = replace(self.commands, exec_flags=exec_flags), label

    @property
    def host(self) -> Host:
        assert self.run.host is not None, "a dry run has no host"
        return self.run.host

    @property
    def home(self) -> Home:
        assert self.ground.home is not None
        return self.ground.home

    @property
    def fleet(self) -> Fleet:
        assert self.ground.fleet is not None
        return self.ground.fleet

    @property
    def sender(self) -> Member:
        return Member(self, self.ground.sender)

    @property
    def receiver(self) -> Member:
        return Member(self, self.ground.receiver)

    def intents(self) -> dict[str, str]:
        """Sandboxes that this suite announced on disk before it made them: name to recorded id, "" before that."""
        return intents.read(self.home.evidence)

    @property
    def members(self) -> tuple[Member, ...]:
        return tuple(Member(self, name) for name in self.fleet.members)


@dataclass(frozen=True)
class Member:
    """One sandbox of the fleet, or a throwaway one, as steps and collectors speak to it."""

    lab: Lab
    name: str

    @property
    def address(self) -> str:
        return self.lab.fleet.address(self.name)

    @property
    def id(self) -> str:
        return self.lab.ids.get(self.name, "")

    def probing(self, argv: tuple[str, ...], label: str, env: Mapping[str, str] | None = None) -> Command:
        """The `sandbox exec` that runs one program inside."""
        return self.lab.commands.execute(self.name, argv, label=label, env=(env or {}).items())

    def probe(self, argv: tuple[str, ...], label: str) -> Ran:
        return self.lab.host.run(self.probing(argv, label))

    def submit(self, to: str, subject: str, body: str) -> Command:
        """A request planted with the connector's inbox-submit, its outbox named, since exec clears the environment."""
        argv = ("python3", SUBMIT, "submit", "--to", to, "--subject", subject, "--body", body)
        return self.probing(argv, f"submit from {self.name}: {subject}", {"OUTBOX_DIR": OUTBOX})

    def submit_result(self, request: str) -> Command:
        argv = ("python3", SUBMIT, "submit-result", request)
        return self.probing(argv, f"submit-result of {self.name}'s {request}", {"OUTBOX_DIR": OUTBOX})

    def sessions(self) -> Command:
        return self.probing(probes.sessions(LISTER, SANDBOX_HOME), f"sessions in {self.name}")
