"""`pytest tests_live --replay DIR`: the recorded verdicts again, from the evidence alone."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from replay_bench import (
    CHECKOUT,
    EXAMPLE,
    copied,
    digests,
    edit,
    edit_results,
    one_test,
    outcomes,
    replay,
    results,
    run_folder,
    sealed_again,
    seen_of,
)

from pytest_amap.catalogue import L1
from pytest_amap.evidence import verify

PASS_OF_EXAMPLE = "unknown_2"


def recorded_outcomes() -> dict[str, str]:
    return {test["name"]: test["rawStatus"] for test in results(EXAMPLE)["tests"]}


def exit_code_of(found: dict[str, str]) -> int:
    return 0 if set(found.values()) == {"PASS"} else 3


def test_the_example_is_whole_and_of_todays_checks() -> None:
    assert verify.problems(EXAMPLE) == []
    assert [test["name"] for test in results(EXAMPLE)["tests"]] == list(L1.ids), "run python examples/make_evidence.py"


def test_replay_of_the_example_has_the_recorded_outcomes() -> None:
    """Words may have become better since; .ci/whole holds a run of today against its own replay."""
    before, begun = digests(EXAMPLE), os.times()
    ended = replay(EXAMPLE)
    took = sum(os.times()[2:4]) - sum(begun[2:4])
    run = run_folder(EXAMPLE).name
    assert f"amap: replay of rehearsal run {run} in {EXAMPLE}" in ended.stdout
    assert "amap: the evidence is whole, head " in ended.stdout
    assert "by this suite" not in ended.stdout
    assert outcomes(ended) == recorded_outcomes(), "run python examples/make_evidence.py"
    assert ended.returncode == exit_code_of(recorded_outcomes())
    assert "\nREHEARSAL: " in ended.stdout
    assert took < 10, "a processor's seconds; an auditor waits 5 seconds at most on an idle machine"
    assert digests(EXAMPLE) == before


WATCH = """
import json, os, sys

seen = {"opened": [], "wrote": [], "did": []}
ACTS = ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty", "os.system", "socket.connect",
        "socket.bind", "socket.getaddrinfo", "os.remove", "os.rename", "os.mkdir", "os.link", "os.symlink", "os.chmod")


def hear(event, args):
    if event == "open" and isinstance(args[0], (str, bytes)):
        writes = args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) if isinstance(args[2], int) else 0
        seen["wrote" if writes else "opened"].append(os.path.abspath(os.fsdecode(args[0])))
    elif event in ACTS:
        seen["did"].append(event)


sys.addaudithook(hear)


def pytest_unconfigure(config):
    report = json.dumps(seen)
    sys.__stdout__.write("WATCHED " + report + "\\n")
"""


def test_replay_starts_nothing_writes_nothing_and_reads_only_the_evidence(tmp_path: Path) -> None:
    (tmp_path / "watch.py").write_text(WATCH)
    # The metadata plugin asks `uname` about this machine, for a page's table; that is not the replay's doing.
    ended = replay(EXAMPLE, "--capture=no", "-p", "watch", "-p", "no:metadata", "-p", "no:html", beside=tmp_path)
    told = next(line for line in ended.stdout.splitlines() if line.startswith("WATCHED "))
    seen: dict[str, list[str]] = json.loads(told.removeprefix("WATCHED "))
    assert seen["did"] == []
    assert [path for path in seen["wrote"] if path != os.devnull] == []
    assert len([path for path in seen["opened"] if Path(path).is_relative_to(EXAMPLE)]) > len(L1.checks)
    code = (CHECKOUT, tmp_path, *(Path(place) for place in (sys.prefix, sys.base_prefix)))
    assert [path for path in seen["opened"] if not any(Path(path).is_relative_to(place) for place in code)] == []


BLOCK = """
import signal, sys

FOREIGN = ("fcntl", "termios", "pwd", "grp", "resource", "pty", "tty")


class Block:
    def find_spec(self, name, path=None, target=None):
        if name in FOREIGN:
            caller = sys._getframe(1)
            while caller and "importlib" in caller.f_code.co_filename:
                caller = caller.f_back
            if caller and ("pytest_amap" in caller.f_code.co_filename or "/kit/" in caller.f_code.co_filename):
                raise ImportError(f"{name} does not exist on every system")
        return None


for name in FOREIGN:
    sys.modules.pop(name, None)
for name in ("SIGHUP", "SIGQUIT", "SIGKILL"):
    if hasattr(signal, name):
        delattr(signal, name)
sys.meta_path.insert(0, Block())
"""


def test_replay_imports_nothing_that_linux_alone_has(tmp_path: Path) -> None:
    """Of the project's own modules; what pytest and Python import for themselves is theirs."""
    (tmp_path / "elsewhere.py").write_text(BLOCK)
    ended = replay(EXAMPLE, "-p", "elsewhere", beside=tmp_path)
    assert ended.returncode == exit_code_of(recorded_outcomes()), ended.stdout + ended.stderr


def test_k_narrows_a_replay() -> None:
    ended = replay(run_folder(EXAMPLE), "-k", PASS_OF_EXAMPLE)
    assert outcomes(ended) == {PASS_OF_EXAMPLE: "PASS"}
    assert ended.returncode == 0


def fail_step(document: dict[str, Any]) -> None:
    """As if step 5 had failed: what needs it has no result of its own."""
    reason = "sandbox get beta could not be read"
    step = next(step for step in document["results"]["extra"]["steps"] if step["name"] == "membership")
    step.update(outcome="failed", reason=reason)
    for test in document["results"]["tests"]:
        if test["name"] in ("unknown_1", "unknown_7"):
            test.update(status="other", rawStatus="UNKNOWN", message=f"step 5 (membership) failed: {reason}")
            test["extra"].update(parts=[], records=[])


def test_a_failed_step_fails_again_with_its_own_words(tmp_path: Path) -> None:
    root = copied(tmp_path / "evidence")
    edit_results(root, fail_step)
    for check in ("unknown_1", "unknown_7"):
        seen_of(root, check).unlink()
    ended = replay(root, "-k", "unknown_1 or unknown_7 or unknown_2")
    assert ended.returncode == 1
    assert outcomes(ended) == {"unknown_1": "UNKNOWN", "unknown_2": "PASS", "unknown_7": "UNKNOWN"}
    assert ended.stdout.count("ERROR at setup of") == 1
    assert "step 5 (membership): sandbox get beta could not be read" in ended.stdout
    assert "unknown_1:" not in ended.stdout, "its reason is the recorded one"
    assert "the evidence is NOT whole: " in ended.stdout


def test_another_verdict_is_told_with_both_reasons(tmp_path: Path) -> None:
    root = copied(tmp_path / "evidence")

    def other(document: dict[str, Any]) -> None:
        test = one_test(document, PASS_OF_EXAMPLE)
        test.update(status="failed", rawStatus="FAIL", message="an older suite's reason")
        test["extra"]["parts"][0].update(outcome="FAIL")

    edit_results(root, other)
    ended = replay(root, "-k", PASS_OF_EXAMPLE)
    assert ended.returncode == 0
    told = f"replay: {PASS_OF_EXAMPLE}: recorded FAIL, judged PASS by this suite; then: an older suite's reason; now: "
    assert told in ended.stdout


def test_checks_that_were_not_asked_are_not_asked_again(tmp_path: Path) -> None:
    root = copied(tmp_path / "evidence")

    def unasked(document: dict[str, Any]) -> None:
        for test in document["results"]["tests"]:
            if test["name"] != PASS_OF_EXAMPLE:
                test.update(status="other", rawStatus="UNKNOWN", message="not selected")
                test["extra"].update(selected=False, parts=[], records=[])

    edit_results(root, unasked)
    for check in {*L1.ids} - {PASS_OF_EXAMPLE, "unknown_3"}:
        edit(seen_of(root, check), lambda data: data.update(label="was seen"))
    ended = replay(root)
    assert set(outcomes(ended)) == {PASS_OF_EXAMPLE, "unknown_3"}, "what was observed was asked, whatever results say"
    edit(seen_of(root, "unknown_3"), lambda data: data.update(label="was seen"))
    ended = replay(root)
    assert (outcomes(ended), ended.returncode) == ({PASS_OF_EXAMPLE: "PASS"}, 0)


def cut_a_stream(root: Path) -> str:
    """Cut a record that a PASS rests on; its path."""
    record = str(json.loads(seen_of(root, PASS_OF_EXAMPLE).read_bytes())["observed"]["attempt"]["inbox"]["record"])
    edit(root / record, lambda data: data.update(stdout="[... cut here ...]", stdout_bytes=1 << 24, stdout_sha256="0"))
    return record


def test_a_cut_output_keeps_its_recorded_parts_and_says_so(tmp_path: Path) -> None:
    root = copied(tmp_path / "evidence")
    record = cut_a_stream(root)
    sealed_again(root)
    ended = replay(root, "-k", PASS_OF_EXAMPLE)
    assert f"replay: {PASS_OF_EXAMPLE}: kept as recorded, since {record} holds only head and tail" in ended.stdout
    assert (outcomes(ended), ended.returncode) == ({PASS_OF_EXAMPLE: "PASS"}, 0)


def test_a_record_that_was_changed_after_the_seal_makes_no_pass(tmp_path: Path) -> None:
    root = copied(tmp_path / "evidence")
    record = cut_a_stream(root)
    ended = replay(root, "-k", f"{PASS_OF_EXAMPLE} or unknown_6")
    assert (outcomes(ended), ended.returncode) == ({PASS_OF_EXAMPLE: "UNKNOWN", "unknown_6": "PASS"}, 3)
    assert f"{PASS_OF_EXAMPLE}: recorded PASS, judged UNKNOWN by this suite" in ended.stdout
    assert f"it rests on {record}, which is not as it was sealed" in ended.stdout


def test_a_record_that_was_changed_still_shows_its_contradiction(tmp_path: Path) -> None:
    root = copied(tmp_path / "evidence")
    seen = json.loads(seen_of(root, PASS_OF_EXAMPLE).read_bytes())["observed"]["attempt"]["inbox"]["record"]

    def worked(data: dict[str, Any]) -> None:
        data.update(stdout=data["stdout"].replace('"EROFS"', "null"), exit=0)

    edit(root / seen, worked)
    ended = replay(root, "-k", PASS_OF_EXAMPLE)
    assert (outcomes(ended)[PASS_OF_EXAMPLE], ended.returncode) == ("FAIL", 3)


def test_hostile_words_of_a_recorded_run_are_harmless_on_the_terminal(tmp_path: Path) -> None:
    root = copied(tmp_path / "evidence")
    evil = "\x1b]0;x\x07\x1b[2J \u202e\nreplay: every outcome, reason and part is as recorded"

    def hostile(document: dict[str, Any]) -> None:
        document["results"]["extra"].update(head=evil)
        document["results"]["extra"]["steps"][3].update(outcome="failed", reason=evil)
        for test in document["results"]["tests"]:
            test.update(message=evil)
            for part in test["extra"]["parts"]:
                part.update(seen=evil)

    edit_results(root, hostile)
    ended = replay(root, "-rA")
    assert "\x1b" not in ended.stdout + ended.stderr
    assert "\u202e" not in ended.stdout + ended.stderr
    assert "replay: every outcome, reason and part is as recorded" not in ended.stdout.splitlines()


def test_a_pass_without_an_observation_is_no_pass(tmp_path: Path) -> None:
    root = copied(tmp_path / "evidence")
    seen_of(root, PASS_OF_EXAMPLE).unlink()
    ended = replay(root, "-k", PASS_OF_EXAMPLE)
    assert (outcomes(ended), ended.returncode) == ({PASS_OF_EXAMPLE: "UNKNOWN"}, 3)
    assert "recorded PASS, judged UNKNOWN by this suite" in ended.stdout


def test_a_run_that_was_cut_off_is_unknown_throughout(tmp_path: Path) -> None:
    root = copied(tmp_path / "evidence")
    (run_folder(root) / "results.json").unlink()
    ended = replay(root, "-k", f"{PASS_OF_EXAMPLE} or unknown_6")
    assert (outcomes(ended), ended.returncode) == ({PASS_OF_EXAMPLE: "UNKNOWN", "unknown_6": "UNKNOWN"}, 3)
    assert "the recorded run was cut off" in ended.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("-n", "2", "-p", "xdist"), "--replay refuses -n"),
        (("--only-step", "3"), "--replay runs no step"),
        (("--apply",), "--apply runs commands and --replay runs none"),
        (("--rehearsal",), "--rehearsal runs a host and --replay has none"),
    ],
)
def test_what_does_not_go_with_a_replay(words: tuple[str, ...], told: str) -> None:
    if "-n" in words:
        pytest.importorskip("xdist")
        words = words[:2]
    ended = replay(EXAMPLE, *words)
    assert ended.returncode == 4
    assert told in ended.stderr or "unrecognized arguments: -n" in ended.stderr


def test_no_evidence_is_one_sentence(tmp_path: Path) -> None:
    ended = replay(tmp_path)
    assert ended.returncode == 4
    assert ended.stderr.startswith(f"ERROR: --replay: {tmp_path} holds no run: expected an evidence folder")
    assert "Traceback" not in ended.stderr + ended.stdout
