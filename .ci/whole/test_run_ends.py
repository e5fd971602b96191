"""However a run ends, its folder is whole; and a secret in a file that it was asked to write fails it."""

from __future__ import annotations

import json

import pytest
from plugin_bench import FAILS, IS_UNKNOWN, PASSES, Bench

from pytest_amap.evidence import verify

pytest_plugins = ["pytester"]

KEY = "sk-canary-7Zq9Of2AWm2xLk4vT8bRf6YhPd3"
STOP = "os.kill(os.getpid(), signal.SIGTERM)"


@pytest.fixture
def bench(pytester: pytest.Pytester) -> Bench:
    return Bench(pytester)


@pytest.mark.parametrize("body", [PASSES, FAILS, IS_UNKNOWN, "raise OSError('\\udcff \\x1b[2J')", STOP])
@pytest.mark.parametrize("sandboxes", ["return 'sandboxes'", "raise StepFailed('no')", "yield 's'\n    raise OSError"])
def test_a_run_is_whole_and_its_head_stands_for_what_it_concluded(bench: Bench, body: str, sandboxes: str) -> None:
    bench.check("unknown_2", body)
    bench.steps({"sandboxes": sandboxes})
    bench.run("--apply")
    assert verify.problems(bench.runs[-1]) == []
    (last,) = bench.home.glob("evidence/step-9/*-concluded.json")
    found = json.loads(last.read_bytes())["observed"]["checks"]
    assert {check["name"]: check["rawStatus"] for check in found if check["selected"]} == bench.outcomes()


@pytest.mark.parametrize(
    ("option", "writes"),
    [
        ("--junitxml", "open(session.config.option.xmlpath, 'a').write({key!r})"),
        ("--log-file", "open(session.config.option.log_file, 'a').write({key!r})"),
        ("--debug", "session.config.trace({key!r})"),
    ],
    ids=["junitxml", "log-file", "debug"],
)
def test_a_secret_in_a_file_that_was_asked_for_fails_the_run(
    bench: Bench, option: str, writes: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    asked = bench.pytester.path / "asked.txt"
    bench.conftest(
        f"\n@pytest.hookimpl(trylast=True)\ndef pytest_sessionfinish(session):\n    {writes.format(key=KEY)}\n"
    )
    bench.check("unknown_2", PASSES)
    assert bench.run("--apply", f"{option}={asked}").ret == 1
    assert bench.step("report")["outcome"] == "failed"
    assert bench.step("report")["reason"].startswith(
        "a secret stands in a written file: ANTHROPIC_API_KEY in asked.txt"
    )
    assert not any(KEY.encode() in path.read_bytes() for path in bench.home.rglob("*") if path.is_file())
