"""Images and containers of the rehearsal host, by the `docker` stand-in, in a world."""

from __future__ import annotations

import json
from typing import Any

import pytest
import world_bench

folder = world_bench.folder

PROGRAM = f"""
{world_bench.FLEET}
def build(**arguments):
    words = [word for name, value in arguments.items() for word in ("--build-arg", name + "=" + value)]
    return run("docker", "build", *words, "-t", "agent-image", "/run/amap/pytest-amap/image")
good = dict(CLAUDE_CODE_VERSION="2.1.284", SANDBOX_UID="1000", SANDBOX_GID="1000")
seen["good"] = build(**good)
seen["refused"] = {{
    "no version": build(**{{**good, "CLAUDE_CODE_VERSION": ""}}),
    "a tag": build(**{{**good, "CLAUDE_CODE_VERSION": "latest"}}),
    "root": build(**{{**good, "SANDBOX_UID": "0"}}),
    "a name": build(**{{**good, "SANDBOX_GID": "staff"}}),
}}
seen["labels"] = run("docker", "image", "inspect", "--format", "{{{{json .Config.Labels}}}}", "agent-image")
seen["none"] = run("docker", "image", "inspect", "none")
look = 'readlink -f "$(command -v claude)"; claude --version; node --version; id -u; pwd; ls /'
seen["look"] = run("docker", "run", "--rm", "--network", "none", "--entrypoint", "sh", "agent-image", "-c", look)
seen["code"] = run("docker", "run", "--rm", "--entrypoint", "sh", "agent-image", "-c", "exit 9")
seen["no image"] = run("docker", "run", "--rm", "none")
(home / "out").mkdir()
program = "echo to stdout; echo to stderr >&2; id -u > " + str(home / "out" / "uid") + "; touch /usr/x; sleep 300"
start = ("docker", "run", "-d", "--restart", "unless-stopped", "--name", "box", "--network", "none",
         "--user", "1000:1000", "-v", str(home) + ":" + str(home) + ":ro",
         "-v", str(home / "out") + ":" + str(home / "out") + ":rw", "--entrypoint", "sh", "agent-image", "-c")
seen["start"] = run(*start, program)
seen["again"] = run(*start, program)
seen["crash"] = run("docker", "run", "-d", "--restart", "unless-stopped", "--name", "crash", "--entrypoint", "sh",
                    "agent-image", "-c", "echo down >&2; exit 4")
until(lambda: "to stderr" in run("docker", "logs", "box")["err"])
seen["uid"] = (home / "out" / "uid").read_text()
seen["logs"] = run("docker", "logs", "--tail", "50", "box")
state = "{{{{.State.Restarting}}}} {{{{.State.ExitCode}}}} {{{{.RestartCount}}}}"
def crashed():
    seen["crashed"] = run("docker", "inspect", "--format", state, "crash")
    return seen["crashed"]["out"].startswith("true 4 ") and run("docker", "logs", "crash")["err"].count("down") > 1
until(crashed)
seen["crash logs"] = run("docker", "logs", "crash")
seen["inspect"] = run("docker", "inspect", "box")
seen["running"] = run("docker", "ps", "-a", "--filter", "name=^box$", "--format", "{{{{.Names}}}} {{{{.State}}}}")
create("alpha", "sleep", "300")
create("alpha2", "sleep", "300")
identity = json.loads(run("openshell", "sandbox", "get", "alpha", "-o", "json")["out"])["id"]
by_id = "label=openshell.ai/sandbox-id=" + identity
seen["of alpha"] = run("docker", "ps", "-aq", "--filter", by_id)
seen["workload"] = run("docker", "ps", "-q", "--filter", by_id, "--filter", "label=openshell.ai/isolation-role=sandbox")
seen["by name"] = run("docker", "ps", "-q", "--filter", "name=alpha")
seen["described"] = run("docker", "inspect", seen["workload"]["out"].strip())
seen["missing"] = run("docker", "inspect", "none")
run("openshell", "sandbox", "stop", "alpha")
seen["after stop"] = run("docker", "ps", "-a", "--filter", by_id, "--format", "{{{{.State}}}}")
seen["rm"] = run("docker", "rm", "-f", "crash")
"""


@pytest.fixture(scope="module")
def seen(folder: Any) -> dict[str, Any]:
    return world_bench.observe(folder, PROGRAM)


def test_the_projects_own_recipe_builds(seen: dict[str, Any]) -> None:
    assert seen["good"]["code"] == 0, seen["good"]["err"]
    labels = json.loads(seen["labels"]["out"])
    assert labels["amap-openshell.claude-code-version"] == "2.1.284"
    assert labels["amap-openshell.run-as"] == "1000:1000"


@pytest.mark.parametrize("case", ["no version", "a tag", "root", "a name"])
def test_the_recipes_own_checks_stop_the_build(seen: dict[str, Any], case: str) -> None:
    assert seen["refused"][case]["code"] == 1
    assert "--build-arg" in seen["refused"][case]["err"]
    assert "failed to solve" in seen["refused"][case]["err"]


def test_a_container_really_has_the_images_files(seen: dict[str, Any]) -> None:
    lines = seen["look"]["out"].splitlines()
    assert lines[:5] == [
        "/usr/local/lib/node_modules/@anthropic-ai/claude-code/bin/claude.exe",
        "2.1.284 (Claude Code)",
        "v22.23.5",
        "1000",
        "/sandbox",
    ]
    assert "home" not in lines, "nothing of the host but its /usr"


def test_exit_codes(seen: dict[str, Any]) -> None:
    assert seen["code"]["code"] == 9
    assert seen["no image"]["code"] == 125
    assert seen["again"]["code"] == 125
    assert 'The container name "/box" is already in use' in seen["again"]["err"]
    assert (seen["none"]["code"], seen["none"]["out"].strip()) == (1, "[]")
    assert seen["missing"]["code"] == 1


def test_a_container_runs_as_its_user_with_its_mounts(seen: dict[str, Any]) -> None:
    assert seen["uid"].strip() == "1000"
    found = json.loads(seen["inspect"]["out"])[0]
    assert found["Id"] == seen["start"]["out"].strip()
    assert (found["Config"]["User"], found["HostConfig"]["NetworkMode"]) == ("1000:1000", "none")
    assert found["HostConfig"]["RestartPolicy"]["Name"] == "unless-stopped"
    assert [(item["Destination"], item["RW"]) for item in found["Mounts"]] == [
        ("/run/amap/home", False),
        ("/run/amap/home/out", True),
    ]
    assert seen["running"]["out"] == "box running\n"


def test_logs_keep_the_streams_apart(seen: dict[str, Any]) -> None:
    assert seen["logs"]["out"] == "to stdout\n"
    assert "to stderr" in seen["logs"]["err"]
    assert "Read-only file system" in seen["logs"]["err"]


def test_a_container_that_ends_is_started_again(seen: dict[str, Any]) -> None:
    restarting, code, count = seen["crashed"]["out"].split()
    assert (restarting, code) == ("true", "4")
    assert int(count) >= 1
    assert seen["crash logs"]["err"].count("down") >= 2
    assert seen["rm"]["code"] == 0


def test_a_sandbox_has_two_containers_and_a_name_filter_is_not_enough(seen: dict[str, Any]) -> None:
    assert len(seen["of alpha"]["out"].split()) == 2
    assert len(seen["workload"]["out"].split()) == 1
    assert len(seen["by name"]["out"].split()) == 4


def test_a_workload_shows_what_was_really_mounted(seen: dict[str, Any]) -> None:
    found = json.loads(seen["described"]["out"])[0]
    binds = {item["Destination"]: (item["Source"], item["RW"]) for item in found["Mounts"] if item["Type"] == "bind"}
    assert binds == {
        "/opt/amap/lanes/inbox": ("/run/amap/home/inbox", False),
        "/opt/amap/lanes/peer": ("/run/amap/home/peer", False),
        "/opt/amap/lanes/outbox": ("/run/amap/home/outbox", True),
    }
    volumes = [item for item in found["Mounts"] if item["Type"] == "volume"]
    assert [(item["Destination"], item["RW"]) for item in volumes] == [("/.openshell/channel", True)]
    assert found["Config"]["User"] == "1000:1000"
    assert found["Config"]["Labels"]["openshell.ai/isolation-role"] == "sandbox"


def test_a_stopped_sandbox_keeps_its_workload_alone(seen: dict[str, Any]) -> None:
    assert seen["after stop"]["out"].split() == ["exited"]


AFTER_A_BOOT = """
until(lambda: run("docker", "logs", "box")["out"].count("to stdout") > 1)
seen["logs"] = run("docker", "logs", "box")
seen["states"] = run("docker", "ps", "-a", "--format", "{{.Names}} {{.State}}")
"""


def test_unless_stopped_comes_back_after_a_boot(folder: Any, seen: dict[str, Any]) -> None:
    after = world_bench.observe(folder, AFTER_A_BOOT)
    assert after["logs"]["out"] == "to stdout\n" * 2
    assert "box running" in after["states"]["out"].splitlines()
