"""Problems that people really hit, as inputs; docs/field-reports.md names what shows each of them."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from late_clock import AHEAD, LateClock
from posture_samples import HELP
from request_samples import ran
from scripted_lab import scripted_lab, write

from pytest_amap.commands import Command, Commands, Deadlines
from pytest_amap.failures import StepFailed, StepRefused
from pytest_amap.host import process, survey
from pytest_amap.host.lab import Member
from pytest_amap.observations import Ran
from pytest_amap.options import Options
from pytest_amap.parsers import Unreadable, cli
from pytest_amap.rehearsal import faults
from pytest_amap.steps import gateway, image, prerequisites, sandboxes

CHECKOUT = Path(__file__).resolve().parents[1]
DOCUMENT = CHECKOUT / "docs" / "field-reports.md"
IDENTITY = "5f0c1f0e-8a51-4a39-9c4a-5f1f6f6c2b11"
REFUSED = "Error:   × sandbox 'alpha' not found\n"


def run(*argv: str, timeout: float = 20) -> process.Finished:
    return process.run(argv, cwd="/", env=dict(os.environ), timeout=timeout)


def test_a02_a_child_never_waits_for_the_callers_stdin() -> None:
    program = (
        "from pytest_amap.host import process; import os;"
        "print(process.run(['cat'], cwd='/', env=dict(os.environ), timeout=20).timed_out)"
    )
    read, write_end = os.pipe()
    done = subprocess.run([sys.executable, "-c", program], stdin=read, capture_output=True, text=True, cwd=CHECKOUT)
    os.close(read)
    os.close(write_end)
    assert done.stdout == "False\n", done.stderr


def test_a46_a_grandchild_that_keeps_the_streams_open_keeps_nobody() -> None:
    begun = time.monotonic()
    ended = run("sh", "-c", "sleep 600 & echo partial")
    assert (ended.exit, ended.stdout) == (0, b"partial\n")
    assert time.monotonic() - begun < 10


def test_a46_at_the_deadline_the_whole_group_goes_and_partial_output_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "time", LateClock(tmp_path / "so-far"))
    ended = run("sh", "-c", f"echo partial; touch {tmp_path}/so-far; sleep 600 & sleep 600", timeout=50)
    assert (ended.exit, ended.timed_out, ended.stdout) == (None, True, b"partial\n")
    assert ended.seconds < AHEAD + 20


@pytest.mark.parametrize("words", [("stop", "alpha"), ("start", "alpha"), ("get", "alpha"), ("logs", "alpha")])
def test_a04_every_command_names_its_sandbox_and_its_workspace(words: tuple[str, str]) -> None:
    command = getattr(Commands(), words[0])(words[1])
    assert words[1] in command.argv
    assert command.argv[1:3] == ("--workspace", "default")


def test_a04_only_stdout_is_parsed_and_what_is_no_json_is_unreadable() -> None:
    told = json.dumps({"id": IDENTITY, "name": "alpha", "workspace": "default", "phase": "Ready"})
    noisy = ran(told, stderr="using last used sandbox: alpha\nlog buffer overflow\n")
    assert isinstance(cli.sandbox(noisy.stdout), cli.Sandbox)
    mixed = cli.sandbox(f"using last used sandbox: alpha\n{told[:-9]}")
    assert isinstance(mixed, Unreadable)
    assert "using last used" in mixed.why


def test_a05_a08_a48_what_a_child_gets_of_the_callers_environment() -> None:
    ambient = {
        "FORCE_COLOR": "1",
        "CLICOLOR_FORCE": "1",
        "RUST_LOG": "debug",
        "LANG": "de_DE.UTF-8",
        "LC_ALL": "de_DE.UTF-8",
        "OPENSHELL_GATEWAY": "other",
        "OPENSHELL_WORKSPACE": "other",
        "OPENSHELL_GATEWAY_ENDPOINT": "https://192.0.2.1",
        "ANTHROPIC_API_KEY": "made-up",
        "PATH": "/usr/bin",
    }
    child = process.child_environment(ambient)
    assert child == {"PATH": "/usr/bin", "LANG": "de_DE.UTF-8", **process.FIXED}
    assert child["LC_ALL"] == "C"
    assert child["NO_COLOR"] == "1"
    assert process.ambient_selectors(ambient) == (
        "OPENSHELL_GATEWAY",
        "OPENSHELL_GATEWAY_ENDPOINT",
        "OPENSHELL_WORKSPACE",
    )


def versions(tmp_path: Path, openshell: str, runtime: Ran | None = None) -> tuple[str, str]:
    def answer(command: Command) -> Ran:
        if "--help" in command.argv:
            return ran(HELP)
        if runtime is not None and command.label == "container runtime":
            return runtime
        return ran(openshell if command.argv[0] == "openshell" else "Docker version 29.8.1, build 0000000\n")

    lab, _ = scripted_lab(tmp_path, {"": answer})
    lab.run.kind = "live"
    return prerequisites.ask_versions(lab)


def test_a06_a_version_is_compared_by_number(tmp_path: Path) -> None:
    said = "A notice\n\x1b[1mopenshell\x1b[0m 0.1.10\n"
    assert versions(tmp_path, said)[0] == "openshell 0.1.10"


@pytest.mark.parametrize("said", ["openshell 0.1.2-dev.4+gabc1234", "openshell 0.1.1", "openshell 0.0.111"])
def test_a06_what_comes_before_the_release_is_too_old(tmp_path: Path, said: str) -> None:
    with pytest.raises(StepRefused, match=re.escape(said)):
        versions(tmp_path, f"{said}\n")


@pytest.mark.parametrize(
    "runtime",
    [
        ran("Client: Docker Engine - Community\n\nServer: linux/amd64/debian\n Podman Engine:\n  Version: 5.4.0\n"),
        ran("Client:       Podman Engine\nVersion:      5.4.0\n"),
        ran(stderr="Emulate Docker CLI using podman. Create /etc/containers/nodocker to quiet msg.\n"),
    ],
    ids=["DOCKER_HOST at Podman's socket", "podman itself", "podman-docker"],
)
def test_docker_is_not_podman_behind_that_name(tmp_path: Path, runtime: Ran) -> None:
    with pytest.raises(StepRefused, match="Podman"):
        versions(tmp_path, "openshell 0.1.2\n", runtime)


def test_a_runtime_that_does_not_answer_is_not_taken_for_docker(tmp_path: Path) -> None:
    with pytest.raises(StepFailed, match="Cannot connect"):
        versions(tmp_path, "openshell 0.1.2\n", ran(exit=1, stderr="Cannot connect to the Docker daemon"))


def test_a06_what_is_no_version_is_named(tmp_path: Path) -> None:
    with pytest.raises(StepFailed, match="m-dev"):
        versions(tmp_path, "openshell m-dev\n")


def test_a16_without_a_user_bus_nothing_is_said_of_the_service() -> None:
    said = "Failed to connect to user scope bus via local transport: $XDG_RUNTIME_DIR not defined"
    told = gateway.service(ran(exit=1, stderr=said))
    assert told.startswith("not measured")
    assert "XDG_RUNTIME_DIR" in told


def test_a16_a_service_that_can_be_asked_is_told_with_its_start() -> None:
    told = gateway.service(ran("ExecStart=\nActiveState=active\nActiveEnterTimestamp=Sun 2026-11-29 08:00:00 UTC\n"))
    assert told == "active since Sun 2026-11-29 08:00:00 UTC"


def test_a24_noise_of_the_builder_decides_nothing() -> None:
    wanted = {"org.example.version": "1"}
    described = json.dumps([{"Config": {"Labels": wanted}}])
    assert image.differences(ran(described, stderr="DEPRECATED: The legacy builder is deprecated\n"), wanted) == ""
    missing = image.differences(ran("[]\n", exit=1, stderr="Error: No such image: amap-openshell-agent\n"), wanted)
    assert "No such image" in missing


@pytest.mark.parametrize(
    "said",
    [
        pytest.param("ERROR: BuildKit is enabled but the buildx component is missing or broken.", id="A24"),
        pytest.param("groupadd: GID '20' already exists", id="A40"),
    ],
)
def test_a24_a40_a_failed_build_shows_its_last_lines(said: str) -> None:
    assert said in image.last_lines(ran(exit=1, stderr=f"#1 load\n#2 run\n{said}\n"))


def test_a40_an_older_image_of_the_same_tag_is_not_taken() -> None:
    older = ran(json.dumps([{"Config": {"Labels": {"org.example.run-as": "1000:1000"}}}]))
    assert "wanted 1000:20" in image.differences(older, {"org.example.run-as": "1000:20"})


@pytest.mark.parametrize("abi", [3, 7])
def test_a27_a28_the_abi_decides_and_no_file_is_asked(monkeypatch: pytest.MonkeyPatch, abi: int) -> None:
    monkeypatch.setattr(survey.platform, "release", lambda: "5.14.0-503.el9.x86_64")
    monkeypatch.setattr(survey, "landlock_abi", lambda: abi)
    ground = survey.Ground()
    survey.kernel(ground, Options(), {})
    assert ground.problems == []


@pytest.mark.parametrize(
    ("system", "release", "named"),
    [
        ("Linux", "5.14.0-503.el9.x86_64", "is below 6.2"),
        ("Linux", "generic", "saw 'generic'"),
        ("Darwin", "24.5.0", "saw Darwin 24.5.0"),
    ],
)
def test_a27_without_an_abi_a_release_that_will_not_do_is_named_as_not_measured(
    monkeypatch: pytest.MonkeyPatch, system: str, release: str, named: str
) -> None:
    monkeypatch.setattr(survey.platform, "system", lambda: system)
    monkeypatch.setattr(survey.platform, "release", lambda: release)
    monkeypatch.setattr(survey, "landlock_abi", lambda: None)
    ground = survey.Ground()
    survey.kernel(ground, Options(), {})
    assert named in str(ground.problems[0])
    assert "could not be measured" in str(ground.problems[0])


def alpha(tmp_path: Path, **answers: Ran | list[Ran]) -> Member:
    """Alpha, with an answer to each verb, or one after the other."""
    left = {verb: list(said) if isinstance(said, list) else [said] for verb, said in answers.items()}

    def answer(command: Command) -> Ran:
        told = left[command.argv[4] if command.argv[3] == "sandbox" else "list"]
        return told.pop(0) if len(told) > 1 else told[0]

    lab, _ = scripted_lab(tmp_path, {"": answer}, deadlines=Deadlines())
    write(lab.home.command("alpha"), "")
    lab.home.command("alpha").unlink()
    return Member(lab, "alpha")


EMPTY = ran('{"sandboxes": []}')


def test_a29_a_host_without_user_namespaces_is_named(tmp_path: Path) -> None:
    said = "Error:   × failed to start sandbox: write /proc/self/uid_map: Permission denied\n"
    member = alpha(tmp_path, create=ran(exit=1, stderr=said), get=ran(exit=1, stderr=REFUSED))
    with pytest.raises(StepFailed, match="apparmor_restrict_unprivileged_userns"):
        sandboxes.create(member.lab, member)


def shown(phase: str) -> Ran:
    return ran(json.dumps({"id": IDENTITY, "name": "alpha", "workspace": "default", "phase": phase}))


def test_a50_a_create_that_ran_out_of_time_is_looked_at_once(tmp_path: Path) -> None:
    late = Ran(("openshell",), None, "", "", "", "", timed_out=True)
    member = alpha(tmp_path, create=late, get=shown("Ready"))
    assert sandboxes.create(member.lab, member).id == IDENTITY
    verbs = [argv[4] for argv in member.lab.run.host.argvs]
    assert verbs == ["create", "get"]


@pytest.mark.parametrize("phase", ["Provisioning", "Error"])
def test_a50_a_create_that_ran_out_of_time_and_is_not_ready_fails(tmp_path: Path, phase: str) -> None:
    late = Ran(("openshell",), None, "", "", "", "", timed_out=True)
    member = alpha(tmp_path, create=late, get=shown(phase))
    with pytest.raises(StepFailed, match=phase):
        sandboxes.create(member.lab, member)


def test_a50_our_limit_is_longer_than_the_gateways_own() -> None:
    assert Deadlines().create > 300


def test_a51_a_recorded_sandbox_that_vanished_is_not_made_anew(tmp_path: Path) -> None:
    member = alpha(tmp_path, get=ran(exit=1, stderr=REFUSED), list=EMPTY)
    member.lab.run.facts["gateway_service"] = "active since Sun 2026-11-29 11:00:00 UTC"
    recorded = {"version": 1, "members": [{"name": "alpha", "id": IDENTITY, "workspace": "default"}]}
    write(member.lab.home.membership, recorded)
    with pytest.raises(StepFailed, match=r"recorded and is gone.*11:00:00 UTC"):
        sandboxes.look(member.lab, member)


def test_a51_one_that_was_never_recorded_is_simply_absent(tmp_path: Path) -> None:
    member = alpha(tmp_path, get=ran(exit=1, stderr=REFUSED), list=EMPTY)
    assert sandboxes.look(member.lab, member) is None


def test_a47_the_plugin_works_without_pytest_html() -> None:
    command = (
        sys.executable,
        "-m",
        "pytest",
        "tests_live",
        "--collect-only",
        "-q",
        "-p",
        "no:html",
        "-p",
        "no:cacheprovider",
    )
    done = subprocess.run(command, cwd=CHECKOUT, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def rows() -> dict[str, str]:
    found = re.findall(r"^\| (A\d\d) \| (.*) \|$", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)
    return dict(found)


def test_every_report_has_its_line() -> None:
    assert sorted(rows()) == [f"A{number:02}" for number in range(1, 54)]


@pytest.mark.parametrize("report", sorted(rows()))
def test_what_a_line_names_is_there(report: str) -> None:
    """Tests as `file.py::name`, faults as `--fault name`; a line with neither says why there is none."""
    line = rows()[report]
    tests = re.findall(r"`([\w./]+\.py)::(\w+)`", line)
    named = re.findall(r"`--fault ([\w-]+)`", line)
    assert tests or named or "no test:" in line
    assert set(named) <= set(faults.BY_NAME)
    for file, name in tests:
        nodes = list(ast.walk(ast.parse((CHECKOUT / file).read_text(encoding="utf-8"))))
        there = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
        there |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        assert name in there, f"{file}::{name}"
