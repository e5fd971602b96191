"""The `amap` command: every word, its exit codes, and that looking changes nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from plugin_bench import Bench
from replay_bench import CHECKOUT, EXAMPLE, digests

from pytest_amap.catalogue import L1
from pytest_amap.cli import main as cli
from pytest_amap.evidence import recollect
from pytest_amap.evidence.recorded import read_run
from pytest_amap.report import markdown, places

pytest_plugins = ["pytester"]


def test_help_tells_each_word_in_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["--help"])
    assert ended.value.code == 0
    out = capsys.readouterr().out
    assert [line.split()[0] for line in out.splitlines() if line.startswith("  ") and "  " in line.strip()][
        -6:
    ] == list(cli.COMMANDS)


@pytest.mark.parametrize(
    "words", [[], ["foo"], ["verify"], ["report"], ["doctor", "x"], ["kit"], ["siblings", "--app"]]
)
def test_wrong_usage_is_2(words: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(words)
    assert ended.value.code == 2


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_word_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main([name, "--help"])
    assert ended.value.code == 0
    assert f"usage: amap {name}" in capsys.readouterr().out


def test_kit_is_the_kits_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["kit", "record", "--home", "relative", "alpha", "id"]) == 1
    assert capsys.readouterr().err.startswith("amap kit record: ")


def test_verify_of_the_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["verify", str(EXAMPLE)]) == 0
    assert capsys.readouterr().out.startswith("whole: REHEARSAL run ")


def test_report_is_todays_draft_of_the_recorded_results(capsys: pytest.CaptureFixture[str]) -> None:
    before = digests(EXAMPLE)
    assert cli.main(["report", str(EXAMPLE)]) == 0
    run = read_run(EXAMPLE)
    result = recollect.result_of(run, L1)
    assert result is not None
    out = capsys.readouterr().out
    assert out == markdown.draft(places.named(result, places.recorded(run.results or {})))
    assert out.startswith("# REHEARSAL-REPORT")
    assert digests(EXAMPLE) == before


def test_report_is_the_sealed_one_byte_for_byte(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where neither the paths of the run nor its environment are those of the reader."""
    monkeypatch.setenv("HOME", str(pytester.path / "operator"))
    bench = Bench(pytester)
    seen = f"check.settle([Part('where', PASS, {str(bench.home / 'roster')!r}, {str(pytester.path / 'operator')!r})])"
    bench.check("unknown_2", seen)
    assert bench.run("--apply").ret == 0
    sealed = (bench.runs[-1] / "POC-REPORT.md").read_text("utf-8")
    assert "Expected: $AMAP_OPENSHELL_HOME/roster. Seen: $HOME" in sealed
    monkeypatch.setenv("HOME", "/elsewhere")
    moved = shutil.copytree(bench.home / "evidence", pytester.path / "moved", symlinks=True)
    capsys.readouterr()
    assert cli.main(["report", str(moved)]) == 0
    assert capsys.readouterr().out == sealed


def test_report_of_results_that_were_changed_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = tmp_path / "evidence"
    shutil.copytree(EXAMPLE, root)
    path = root / (root / "latest").read_text().strip() / "results.json"
    path.write_text(path.read_text().replace("UNKNOWN", "PASS"))
    assert cli.main(["report", str(root)]) == 0
    told = capsys.readouterr().err
    assert told.startswith("amap report: drawn from evidence that is not as it was sealed: results.json: ")


def test_report_writes_a_new_file_and_no_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "report.md"
    assert cli.main(["report", str(EXAMPLE), "-o", str(target)]) == 0
    written = target.read_bytes()
    assert written.startswith(b"# REHEARSAL-REPORT")
    assert cli.main(["report", str(EXAMPLE), "-o", str(target)]) == 1
    assert target.read_bytes() == written
    assert cli.main(["report", str(EXAMPLE), "-o", str(tmp_path / "none" / "report.md")]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "is there already and is kept" in said.err
    assert "could not be written (No such file or directory)" in said.err


def test_report_writes_nothing_into_the_evidence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = shutil.copytree(EXAMPLE, tmp_path / "evidence")
    before = digests(root)
    for place in (root / "more.md", root / "step-8" / ".." / "more.md"):
        assert cli.main(["report", str(root), "-o", str(place)]) == 1
    assert "lies in the evidence, which is never changed" in capsys.readouterr().err
    assert digests(root) == before


@pytest.mark.parametrize("name", ["verify", "report"])
def test_no_evidence_is_one_line_and_1(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([name, str(tmp_path / "none")]) == 1
    said = capsys.readouterr()
    assert len((said.out + said.err).splitlines()) == 1


def test_report_of_a_run_that_was_cut_off(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = shutil.copytree(EXAMPLE, tmp_path / "evidence")
    (root / (root / "latest").read_text().strip() / "results.json").unlink()
    assert cli.main(["report", str(root)]) == 1
    assert "was cut off before it had results" in capsys.readouterr().err


FOREIGN = ("pytest", "_pytest", "pluggy", "yaml", "fcntl", "termios", "pwd", "grp", "resource", "ctypes")
ALONE = f"""
import sys
sys.path.insert(0, {str(CHECKOUT)!r})

class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {FOREIGN!r}:
            raise ImportError(name)

for name in {FOREIGN!r}:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Block())
from pytest_amap.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("name", ["verify", "report"])
def test_what_judges_evidence_needs_the_standard_library_alone(name: str) -> None:
    """A fresh interpreter without site-packages, which refuses what exists on Linux alone."""
    done = subprocess.run([sys.executable, "-I", "-S", "-c", ALONE, name, str(EXAMPLE)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_reader_that_has_enough_is_no_traceback() -> None:
    words = [sys.executable, "-m", "pytest_amap.cli.main", "report", str(EXAMPLE)]
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(words, cwd=CHECKOUT, stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_full_disk_is_one_line() -> None:
    words = [sys.executable, "-m", "pytest_amap.cli.main", "report", str(EXAMPLE)]
    with open("/dev/full", "w") as full:
        done = subprocess.run(words, cwd=CHECKOUT, stdout=full, stderr=subprocess.PIPE, text=True)
    told = "amap report: No space left on device; mend that and run it again\n"
    assert (done.returncode, done.stderr) == (1, told)


def test_a_closed_stdout_is_no_traceback() -> None:
    words = [sys.executable, "-m", "pytest_amap.cli.main", "verify", str(EXAMPLE)]
    done = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", *words], cwd=CHECKOUT, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_terminal_without_utf_8_is_no_traceback() -> None:
    words = [sys.executable, "-m", "pytest_amap.cli.main", "report", str(EXAMPLE)]
    environ = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(words, cwd=CHECKOUT, env=environ, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_interrupt_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def stop(argv: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("pytest_amap.evidence.verify.main", stop)
    assert cli.main(["verify", "x"]) == 1
    assert capsys.readouterr().err == "amap verify: interrupted\n"
