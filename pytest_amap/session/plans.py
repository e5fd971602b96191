"""Every step's and check's plan by name, with placeholders for what a dry run does not know."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from kit.home import Home
from kit.siblings import KINDS, Sibling
from pytest_amap.catalogue import L1
from pytest_amap.checks import unknown_6
from pytest_amap.commands import Planned
from pytest_amap.host import opening, survey
from pytest_amap.host.lab import Lab
from pytest_amap.host.run import Run
from pytest_amap.options import Options
from pytest_amap.steps import delegating, image, prepare, prerequisites, recording, routing, sandboxes

STEPS: dict[str, Callable[[Lab], Iterable[Planned]]] = {
    "prerequisites": prerequisites.plan,
    "agent_image": image.plan,
    "posture": unknown_6.plan,
    "gateway": lambda lab: (),
    "prepared_host": prepare.plan_host,
    "provider_profile": prepare.plan_profile,
    "sandboxes": sandboxes.plan,
    "membership": recording.plan,
    "router": routing.plan,
    "delegation": delegating.plan,
}
PLACEHOLDER = Path("/<AMAP_OPENSHELL_HOME>")


@dataclass(frozen=True)
class Book:
    """The plans of one session."""

    lab: Lab

    @classmethod
    def of(cls, options: Options) -> Book:
        """Look at what needs no program; whatever is missing becomes a placeholder."""
        run = Run(L1, options, ())
        ground = survey.Ground()
        for find in (survey.variables, survey.siblings, survey.home, survey.fleet):
            find(ground, options, os.environ)
        ground.home = ground.home or Home(PLACEHOLDER)
        for name, kind in KINDS.items():
            if name not in ground.siblings:
                ground.siblings[name] = Sibling(name, Path(f"/<{kind.directories[0]}>"), "beside")
        return cls(opening.lab_of(run, ground))

    def step(self, fixture: str) -> Iterable[Planned]:
        return STEPS[fixture](self.lab)

    def check(self, check: str) -> Iterable[Planned]:
        planned: Iterable[Planned] = importlib.import_module(f"pytest_amap.checks.{check}").plan(self.lab)
        return planned
