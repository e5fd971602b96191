"""What a session was asked to do, in one frozen object."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pytest_amap.commands import Deadlines
from pytest_amap.parsers.gateway_settings import ALIAS, PORT
from pytest_amap.results import Declared

HOME, REPOSITORY = "AMAP_OPENSHELL_HOME", "AMAP_REPOSITORY"
SHOWN_HOME, SHOWN_PID = "AMAP_SHOWN_HOME", "AMAP_SHOWN_PID"


@dataclass(frozen=True)
class Options:
    """What this session was asked to do. CLI beats environment beats ini."""

    apply: bool = False
    rehearsal: bool = False
    faults: tuple[str, ...] = ()
    replay: Path | None = None
    from_step: int | None = None
    only_step: int | None = None
    home: str = ""
    """AMAP_OPENSHELL_HOME as commands and records see it; "" when nobody named one."""
    shown_home: str = ""
    """The same place as the person knows it."""
    fleet: str = ""
    declared: tuple[Declared, ...] = ()
    openshell: str = "openshell"
    gateway: str = "openshell-gateway"
    docker: str = "docker"
    image: str = "amap-openshell-agent"
    port: int = PORT
    label_prefix: str = "openshell.ai"
    host_alias: str = ALIAS
    restart_policy: bool = False
    posture_accepted: str = ""
    pid: int = 0
    """This run's process as the person knows it: in a rehearsal the one outside its world."""
    secrets: tuple[str, ...] = ()
    """Names of further environment variables whose values must never be written."""
    deadlines: Deadlines = field(default_factory=Deadlines)
    repository: Path = Path()
    """The checkout as commands see it: their working directory."""

    def acts_on(self, step: int) -> bool:
        """Whether a step may act; one outside the selection is looked at, never done."""
        if self.only_step is not None:
            return step == self.only_step
        return self.from_step is None or step >= self.from_step

    def shown(self, text: str) -> str:
        """`text` with the home as the person knows it."""
        return text.replace(self.home, self.shown_home) if self.home and self.shown_home else text
