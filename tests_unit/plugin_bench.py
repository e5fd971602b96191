"""A made-up suite of live checks: the real plugin and catalogue, steps that do nothing, a host where all is good."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

STEPS = {
    "prerequisites": "",
    "agent_image": "prerequisites",
    "posture": "prerequisites",
    "gateway": "posture",
    "prepared_host": "gateway",
    "provider_profile": "prepared_host",
    "sandboxes": "agent_image, provider_profile",
    "membership": "sandboxes",
    "router": "membership",
    "delegation": "router",
}
"""Step fixture to the fixtures it asks for."""

GOOD_HOST = """
from pathlib import Path
import pytest
from kit.home import Home
from pytest_amap.host import survey

pytest_plugins = ["pytest_amap.plugin"]


def pytest_configure(config):
    patch = pytest.MonkeyPatch()
    patch.setattr(survey, "survey", lambda options, environ: survey.Ground(home=Home(Path(options.home))))
    patch.setattr("os.fsync", lambda descriptor: None)
    config.add_cleanup(patch.undo)
"""

HEAD = """
import os, signal, time
import pytest
from pytest_amap.failures import StepFailed, StepRefused
from pytest_amap.verdicts import FAIL, PASS, UNKNOWN, Part

def part(outcome):
    return Part("a question", outcome, "one thing", "another")
"""

QUICK = ("--disable-plugin-autoload", "--import-mode=importlib")
"""The plugin brings along what it needs; to look for more takes longer than a whole session of the bench. The made-up
checks bear the names of the real ones, which the session around may have imported."""

PASSES = "check.settle([part(PASS)])"
FAILS = "check.settle([part(PASS), part(FAIL)])"
IS_UNKNOWN = "check.settle([part(UNKNOWN)])"


class Bench:
    """One pytester directory with its home; `run` gives pytest's result, `results` what the run wrote."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.home = pytester.path / "home"
        self.live = pytester.mkdir("tests_live")
        pytester.makeini("[pytest]\ntestpaths = tests_unit tests_live\n")
        self.conftest()
        self.steps({})

    def conftest(self, hooks: str = "") -> None:
        """The root conftest: the good host, and further `hooks`."""
        self.pytester.makeconftest(GOOD_HOST + hooks)

    def steps(self, bodies: Mapping[str, str]) -> None:
        """Step fixtures that return their name, or do what `bodies` says."""
        fixtures = [
            f"@pytest.fixture(scope='session')\ndef {name}({needs}):\n    {bodies.get(name, f'return {name!r}')}\n"
            for name, needs in STEPS.items()
        ]
        (self.live / "conftest.py").write_text(HEAD + "\n".join(fixtures))

    def check(self, name: str, body: str, needs: str = "sandboxes", mark: str = "") -> None:
        """A live check of the catalogue with a body of our own."""
        lines = "\n    ".join(body.splitlines())
        (self.live / f"test_{name}.py").write_text(f"{HEAD}\n{mark}\ndef test_{name}(check, {needs}):\n    {lines}\n")

    def unit_test(self, body: str) -> None:
        """A unit test beside the live checks."""
        folder = self.pytester.path / "tests_unit"
        folder.mkdir(exist_ok=True)
        (folder / "test_small.py").write_text(f"import pytest\ndef test_small():\n    {body}\n")

    def run(self, *args: str, path: str = "tests_live") -> pytest.RunResult:
        """`pytest PATH ...` with a home of its own, in this process."""
        given = [path] if path else []
        return self.pytester.runpytest_inprocess(*given, *QUICK, *self.place, *args, no_reraise_ctrlc=True)

    def run_apart(self, *args: str) -> pytest.RunResult:
        """The same in a process of its own."""
        return self.pytester.runpytest_subprocess("tests_live", *QUICK, *self.place, *args, timeout=60)

    @property
    def place(self) -> tuple[str, ...]:
        return ("--amap-home", str(self.home))

    @property
    def runs(self) -> list[Path]:
        return sorted(self.home.glob("evidence/runs/*"))

    def results(self) -> dict[str, Any]:
        """results.json of the newest run."""
        return dict(json.loads((self.runs[-1] / "results.json").read_text())["results"])

    def wrote(self) -> bool:
        """Whether any run left a results.json."""
        return any((run / "results.json").is_file() for run in self.runs)

    def outcomes(self) -> dict[str, str]:
        """Outcome by check id, of what was selected."""
        return {t["name"]: t["rawStatus"] for t in self.results()["tests"] if t["extra"]["selected"]}

    def reason(self, check: str) -> str:
        return next(str(t["message"]) for t in self.results()["tests"] if t["name"] == check)

    def step(self, name: str) -> dict[str, Any]:
        """One step's row, `cleanup` and `report` among them."""
        return next(dict(row) for row in self.results()["extra"]["steps"] if row["name"] == name)
