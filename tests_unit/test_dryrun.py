"""The dry run: what it prints, for whom, and that nothing is run or written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from plugin_bench import FAILS, Bench

from pytest_amap.session import dryrun

pytest_plugins = ["pytester"]

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def bench(pytester: pytest.Pytester) -> Bench:
    made = Bench(pytester)
    made.check("unknown_2", FAILS)
    made.check("pass_criterion_2", FAILS, "delegation")
    return made


def steps(result: pytest.RunResult) -> list[str]:
    """The step fixtures whose plan was printed, in order."""
    heads = [line for line in result.outlines if line.startswith("step ") and line.endswith(")")]
    return [line.rpartition("(")[2].rstrip(")") for line in heads]


def test_the_plan_is_of_the_selected_checks_and_their_steps(bench: Bench) -> None:
    whole, one = bench.run(), bench.run("-k", "unknown_2")
    assert "delegation" in steps(whole)
    assert steps(one) == [
        "prerequisites", "agent_image", "posture", "gateway", "prepared_host", "provider_profile", "sandboxes",
    ]  # fmt: skip
    whole.stdout.fnmatch_lines(["unknown_2: *", "pass_criterion_2: *"])
    one.stdout.no_fnmatch_line("pass_criterion_2: *")
    one.stdout.fnmatch_lines([dryrun.LAST])
    assert (whole.ret, one.ret) == (0, 0)


@pytest.mark.parametrize(
    "asked", [("-k", "unknown_2"), ("-m", "unknown"), ("tests_live",), ("tests_live/test_unknown_2.py",)]
)
def test_who_asks_for_the_live_checks_gets_the_plan(bench: Bench, asked: tuple[str, ...]) -> None:
    bench.run(*asked, path="").stdout.fnmatch_lines(["unknown_2: *", dryrun.LAST])


def test_who_does_not_ask_gets_one_line(bench: Bench) -> None:
    bench.unit_test("pass")
    result = bench.run(path="")
    result.stdout.fnmatch_lines(["2 live checks not run: 'pytest tests_live' prints their plan, --apply runs them"])
    result.stdout.no_fnmatch_line(dryrun.LAST)
    result.assert_outcomes(passed=1)


def test_a_step_alone_is_that_steps_plan(bench: Bench) -> None:
    step = (ROOT / "tests_live" / "l1" / "test_step.py").read_text()
    (bench.live / "test_step.py").write_text(step)
    assert steps(bench.run("--only-step", "1")) == ["agent_image"]


WATCHED = """
import os, sys

STARTS = ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.fork", "os.system", "socket.connect")
CHANGES = ("os.mkdir", "os.rename", "os.remove", "os.symlink", "os.link", "os.chmod", "os.rmdir")

def watch(event, args):
    writes = event == "open" and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) and args[0] != os.devnull
    starts = event in STARTS and args[0] != "uname"  # pytest-metadata asks for the processor
    if writes or starts or event in CHANGES:
        os.write(1, f"AUDIT {event} {args}\\n".encode())

import pytest
sys.addaudithook(watch)
sys.exit(pytest.main(["tests_live", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-s"]))
"""


def test_the_real_plan_runs_no_program_and_writes_nothing(tmp_path: Path) -> None:
    """Outside Python's and pytest's own caches: the interpreter itself reports each start and each write."""
    env = {
        "PATH": str(tmp_path / "empty"), "HOME": str(tmp_path / "user"), "AMAP_OPENSHELL_HOME": str(tmp_path / "home"),
        "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), "PYTHONDONTWRITEBYTECODE": "1",
        "CLAUDE_CODE_VERSION": "2.1.284",
    }  # fmt: skip
    ran = subprocess.run([sys.executable, "-c", WATCHED], cwd=ROOT, env=env, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert [line for line in ran.stdout.splitlines() if line.startswith("AUDIT")] == []
    assert ran.stdout.count("\nstep ") == 10
    assert dryrun.LAST in ran.stdout
    assert "+ TZ=UTC systemctl --user show " in ran.stdout, "a command is shown with the variables it is given"
    assert list(tmp_path.iterdir()) == []
