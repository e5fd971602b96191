"""Step 0's first half: one list of everything that is missing or wrong, and nothing made."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from posture_samples import gateway_toml

from pytest_amap.host import lock, survey
from pytest_amap.options import Options

SIBLINGS = Path(survey.__file__).parents[1] / "rehearsal" / "siblings"


@dataclass
class World:
    """A host where all is good, as a directory and an environment."""

    root: Path
    options: Options
    environ: dict[str, str] = field(default_factory=dict)

    @property
    def toml(self) -> Path:
        return self.root / "config" / "openshell" / "gateway.toml"

    def survey(self) -> list[str]:
        """Every problem as the person reads it; the locks are let go."""
        ground = survey.survey(self.options, self.environ)
        ground.release()
        return [str(problem) for problem in ground.problems]

    def everything(self) -> set[str]:
        return {str(path.relative_to(self.root)) for path in self.root.rglob("*")}


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    root = tmp_path.resolve()
    port = free_port()
    for name in ("openshell", "openshell-gateway", "docker", "ss", "sh"):
        program = root / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text("#!/bin/sh\nexit 1\n")
        program.chmod(0o755)
    environ = {
        "PATH": str(root / "bin"),
        "HOME": str(root),
        "XDG_CONFIG_HOME": str(root / "config"),
        "CLAUDE_CODE_VERSION": "2.1.284",
        "ANTHROPIC_API_KEY": "sk-ant-api03-0123456789abcdef",
        "AMAP_ROUTER_REPO": str(SIBLINGS / "amap-router-local"),
        "AMAP_CONNECTOR_REPO": str(SIBLINGS / "amap-connector-claude"),
        "AMAP_SPEC_DIR": str(SIBLINGS / "amap-spec"),
    }
    home = str(root / "home")
    made = World(root, Options(home=home, shown_home=home, port=port, repository=root / "checkout"), environ)
    made.toml.parent.mkdir(parents=True)
    made.toml.write_text(gateway_toml(port))
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    monkeypatch.setattr(os, "getgid", lambda: 1000)
    monkeypatch.setattr(survey, "landlock_abi", lambda: 6)
    return made


def test_a_good_host_has_no_problem_and_nothing_is_made(world: World) -> None:
    before = world.everything()
    assert world.survey() == []
    assert world.everything() == before


def unset(name: str) -> Callable[[World], object]:
    return lambda world: world.environ.pop(name)


def variable(name: str, value: str) -> Callable[[World], object]:
    return lambda world: world.environ.__setitem__(name, value)


def without(tool: str) -> Callable[[World], object]:
    return lambda world: (world.root / "bin" / tool).unlink()


def option(**changed: object) -> Callable[[World], object]:
    return lambda world: setattr(world, "options", replace(world.options, **changed))  # type: ignore[arg-type]


def gateway(old: str, new: str) -> Callable[[World], object]:
    return lambda world: world.toml.write_text(world.toml.read_text().replace(old, new))


def fleet(content: str) -> Callable[[World], object]:
    def write(world: World) -> None:
        (world.root / "fleet.json").write_text(content)
        option(fleet=str(world.root / "fleet.json"))(world)

    return write


def marked(kind: str) -> Callable[[World], object]:
    def write(world: World) -> None:
        (world.root / "home").mkdir()
        (world.root / "home" / survey.KIND).write_text(f"{kind}\n")

    return write


def recorded_for(members: str, content: str) -> Callable[[World], object]:
    """A home that has `members`, a fleet of alpha and beta; and another fleet by --fleet."""

    def write(world: World) -> None:
        (world.root / "home").mkdir()
        (world.root / "home" / "fleet.json").write_text(ONE_EDGE)
        (world.root / "home" / "membership.json").write_text(members)
        fleet(content)(world)

    return write


ONE_EDGE = (
    '{"workspace": "default", "fleet_domain": "openshell.test.internal", '
    '"task_graph": {"beta": ["alpha"]}, "task_deny": []}'
)
OTHER_EDGE = ONE_EDGE.replace("beta", "gamma")
BETA = '{"version": 1, "members": [{"workspace": "default", "name": "beta", "id": "895afaf8"}]}'
TWO_EDGES = (
    '{"workspace": "default", "fleet_domain": "openshell.test.internal", '
    '"task_graph": {"alpha": ["beta"], "beta": ["alpha"]}}'
)


@pytest.mark.parametrize(
    ("damage", "says", "remedy"),
    [
        (option(home=""), "AMAP_OPENSHELL_HOME is not set", "give --amap-home"),
        (unset("CLAUDE_CODE_VERSION"), "CLAUDE_CODE_VERSION is not set", "export the Claude Code version"),
        (variable("CLAUDE_CODE_VERSION", "latest"), "CLAUDE_CODE_VERSION is 'latest'", "one exact version"),
        (variable("AMAP_SPEC_DIR", "/nowhere"), "AMAP_SPEC_DIR is /nowhere", "set it to that checkout"),
        (unset("AMAP_ROUTER_REPO"), "no amap-router-local checkout", "set AMAP_ROUTER_REPO"),
        (option(home="relative", shown_home="relative"), "'relative' is not absolute", "; give the absolute path"),
        (option(home="/nowhere/a", shown_home="/nowhere/a"), "/nowhere, the parent of the home,", "make it first"),
        (marked("rehearsal"), "belongs to rehearsal runs, and this is a live run", "name another home"),
        (fleet("{"), "fleet.json", "mend the fleet file, or give --fleet"),
        (fleet(TWO_EDGES), "the fleet has 2 task edges", "one sender and one receiver"),
        (recorded_for(BETA, OTHER_EDGE), "members are recorded (beta)", "home/fleet.json to keep it"),
        (recorded_for("{}", ONE_EDGE), "membership.json must be an object", "mend the file"),
        (without("openshell"), "openshell is not on PATH", "install OpenShell"),
        (without("openshell-gateway"), "openshell-gateway is not on PATH", "put it on PATH"),
        (without("docker"), "docker is not on PATH", "install Docker"),
        (without("ss"), "ss is not on PATH", "install iproute2"),
        (unset("ANTHROPIC_API_KEY"), "ANTHROPIC_API_KEY is not set", "export a Console API key"),
        (variable("ANTHROPIC_API_KEY", "short"), "ANTHROPIC_API_KEY", "set ANTHROPIC_API_KEY to the real secret"),
        (lambda world: world.toml.unlink(), "gateway.toml is not there", "write it as step 2 says"),
        (gateway("enable_bind_mounts = true", ""), "enable_bind_mounts must be true", "restart the gateway"),
        (gateway("127.0.0.1:", "0.0.0.0:"), "bind_address must be a loopback address", "restart the gateway"),
    ],
)
def test_each_thing_that_is_wrong_is_one_problem_with_its_remedy(
    world: World, damage: Callable[[World], object], says: str, remedy: str
) -> None:
    damage(world)
    before = world.everything()
    [problem] = world.survey()
    assert says in problem
    assert remedy in problem
    assert world.everything() == before


def test_root_is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getgid", lambda: 0)
    assert [problem.partition(";")[0] for problem in world.survey()] == ["this runs as root"]


@pytest.mark.parametrize(
    ("abi", "release", "good"),
    [(3, "5.15.0", True), (2, "6.18.5", False), (0, "6.18.5", False), (None, "6.2.0", True), (None, "6.1.9", False)],
)
def test_the_landlock_abi_decides_and_the_release_only_where_it_is_unknown(
    world: World, monkeypatch: pytest.MonkeyPatch, abi: int | None, release: str, good: bool
) -> None:
    monkeypatch.setattr(survey, "landlock_abi", lambda: abi)
    monkeypatch.setattr("platform.release", lambda: release)
    assert (world.survey() == []) is good


def test_everything_that_is_wrong_is_told_at_once(world: World) -> None:
    world.environ.clear()
    world.options = Options(repository=world.options.repository, port=world.options.port)
    said = "\n".join(world.survey())
    for name in (
        "AMAP_OPENSHELL_HOME", "CLAUDE_CODE_VERSION", "AMAP_ROUTER_REPO", "AMAP_CONNECTOR_REPO", "AMAP_SPEC_DIR",
        "openshell is not on PATH", "docker is not on PATH", "ss is not on PATH", "ANTHROPIC_API_KEY", "gateway.toml",
    ):  # fmt: skip
        assert name in said


def test_a_second_run_on_the_same_gateway_is_told_who_holds_it(world: World) -> None:
    held = lock.endpoint(world.options.port)
    [problem] = world.survey()
    held.close()
    assert f"the gateway on port {world.options.port} is in use by pid {os.getpid()}, started 2" in problem
    assert world.survey() == []


def test_a_second_run_on_the_same_home_is_told_who_holds_it(world: World) -> None:
    (world.root / "home").mkdir()
    held = lock.HomeLock(world.root / "home", 4711)
    [problem] = world.survey()
    held.close()
    assert "home is in use by pid 4711, started 2" in problem
    assert world.survey() == []


def test_the_key_is_in_no_problem(world: World) -> None:
    world.environ["ANTHROPIC_API_KEY"] = "sk-ant-" + " " * 3
    world.environ["AMAP_SPEC_DIR"] = "/nowhere"
    assert world.environ["ANTHROPIC_API_KEY"] not in "\n".join(world.survey())
