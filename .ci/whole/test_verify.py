"""Whatever is done to a sealed run, `amap verify` says so in one line each."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sealed_run_bench import REPORT, conclude, edit, of_run, record, sealed

from pytest_amap.evidence import ctrf, verify
from pytest_amap.evidence.redaction import Redactor
from pytest_amap.evidence.store import Evidence

FLIPS = 500


@pytest.fixture
def store(tmp_path: Path) -> Evidence:
    return sealed(tmp_path / "evidence")


def test_verify_accepts_a_sealed_run(store: Evidence, capsys: pytest.CaptureFixture[str]) -> None:
    assert verify.problems(store.root) == verify.problems(store.folder) == verify.problems(store.root / "latest") == []
    assert verify.main([str(store.root)]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"whole: REHEARSAL run {store.run}, 7 records, head {store.head}")
    assert hashlib.sha256((store.folder / "seal.json").read_bytes()).hexdigest() in printed


def test_verify_accepts_a_copy_without_modes_and_with_a_one_line_latest(store: Evidence, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(store.root, copy, symlinks=True)
    (copy / "latest").unlink()
    (copy / "latest").write_text(f"runs/{store.run}\n")
    for path in copy.rglob("*"):
        path.chmod(0o755)
    assert verify.problems(copy) == []


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="no sha256sum on PATH")
def test_verify_agrees_with_sha256sum(store: Evidence) -> None:
    done = subprocess.run(
        ["sha256sum", "-c", "--strict", "SHA256SUMS"], cwd=store.folder, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == len(of_run(store)) - 1


def test_verify_finds_every_flipped_byte(store: Evidence) -> None:
    """Each file in turn, so that none is left out; the place in it and the bits are drawn from a printed seed."""
    seed = random.randrange(1 << 32)
    print("seed", seed)
    draw, files, missed = random.Random(seed), of_run(store), []
    for turn in range(FLIPS):
        path = files[turn % len(files)]
        whole = path.read_bytes()
        at, bits = draw.randrange(len(whole)), draw.randrange(1, 256)
        path.write_bytes(whole[:at] + bytes((whole[at] ^ bits,)) + whole[at + 1 :])
        if not verify.problems(store.folder):
            missed.append((path.name, at, bits))
        path.write_bytes(whole)
    assert missed == []
    assert verify.problems(store.folder) == []


@pytest.mark.parametrize("path", ["results.json", REPORT, "report.html", "statement.json", "seal.json", "SHA256SUMS"])
@pytest.mark.parametrize("how", ["removed", "emptied", "extended", "a symlink"])
def test_verify_finds_a_changed_report(store: Evidence, path: str, how: str) -> None:
    file = store.folder / path
    if how == "extended":
        file.write_bytes(file.read_bytes() + b"\n")
    elif how == "emptied":
        file.write_bytes(b"")
    else:
        file.rename(store.root / "aside")
        if how == "a symlink":
            file.symlink_to(store.root / "aside")
    assert any(path in line for line in verify.problems(store.folder))


@pytest.mark.parametrize("which", [0, 2, 5])
def test_verify_finds_a_removed_record(store: Evidence, which: int) -> None:
    (store.root / store.records[which]).unlink()
    assert verify.problems(store.folder)


@pytest.mark.parametrize("cut", [1, 3, 6])
def test_verify_finds_a_cut_tail(store: Evidence, cut: int) -> None:
    for path in store.records[-cut:]:
        (store.root / path).unlink()
    assert any("seal.json: expected count" in line for line in verify.problems(store.folder))


def test_verify_finds_an_inserted_record(store: Evidence) -> None:
    inserted = store.root / "step-8" / f"{store.run}-008-more.json"
    inserted.parent.mkdir()
    data = json.loads((store.root / store.records[-1]).read_bytes())
    inserted.write_text(json.dumps(data | {"seq": 8, "prev": store.head, "step": 8, "label": "more"}))
    lines = verify.problems(store.folder)
    assert not any(line.startswith("step-") for line in lines), "the record itself is well made"
    assert "seal.json: expected count 8, saw 7" in lines


def test_verify_finds_reordered_records(store: Evidence) -> None:
    first, second = (store.root / path for path in store.records[1:3])
    one, two = first.read_bytes(), second.read_bytes()
    first.write_bytes(two)
    second.write_bytes(one)
    lines = verify.problems(store.folder)
    assert any("expected record 2, saw 3" in line for line in lines)


def test_verify_finds_records_that_swapped_names(store: Evidence) -> None:
    first, second = (store.root / path for path in store.records[1:3])
    first.rename(store.root / "aside")
    second.rename(first)
    (store.root / "aside").rename(second)
    assert any("its own fields name it" in line for line in verify.problems(store.folder))


def test_verify_finds_a_record_in_another_step(store: Evidence) -> None:
    path = store.root / store.records[3]
    path.rename(store.root / "step-2" / path.name)
    assert verify.problems(store.folder)


def test_verify_finds_a_record_copied_from_another_run(store: Evidence) -> None:
    other = sealed(store.root)
    for mine, theirs in zip(store.records, other.records, strict=True):
        whole = (store.root / mine).read_bytes()
        (store.root / mine).write_bytes((store.root / theirs).read_bytes())
        assert any(f"belongs to run {other.run}" in line for line in verify.problems(store.folder))
        (store.root / mine).write_bytes(whole)
    assert verify.problems(store.folder) == verify.problems(other.folder) == []


def test_verify_finds_a_page_swapped_with_another_run(store: Evidence) -> None:
    other = sealed(store.root, labels="xyz")
    for name in ("report.html", REPORT, "results.json", "statement.json", "seal.json", "SHA256SUMS"):
        whole = (store.folder / name).read_bytes()
        (store.folder / name).write_bytes((other.folder / name).read_bytes())
        assert verify.problems(store.folder), name
        (store.folder / name).write_bytes(whole)


@pytest.mark.parametrize("name", ["extra.txt", ".hidden", "assets/style.css", "results (1).json"])
def test_verify_finds_an_unknown_file(store: Evidence, name: str) -> None:
    (store.folder / name).parent.mkdir(exist_ok=True)
    (store.folder / name).write_text("x")
    assert any(
        name.split("/")[0] in line and "not a file of this run" in line for line in verify.problems(store.folder)
    )


@pytest.mark.parametrize("name", ["{run}-notes.txt", "{run}-001-A.json", "{run}-002-b.json.bak"])
def test_verify_finds_an_unknown_file_among_the_records(store: Evidence, name: str) -> None:
    (store.root / "step-1" / name.format(run=store.run)).write_text("{}")
    assert any("not a file of this run" in line for line in verify.problems(store.folder))


def test_verify_of_an_unsealed_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = Evidence.open(tmp_path / "e", Redactor({}), host="live")
    assert verify.problems(store.root) == ["not sealed: 0 records, chain whole"]
    record(store, "a")
    record(store, "b")
    assert verify.problems(store.root) == verify.problems(store.folder) == ["not sealed: 2 records, chain whole"]
    assert verify.main([str(store.folder)]) == 1
    assert capsys.readouterr().out == "not sealed: 2 records, chain whole\n"
    (store.root / store.records[0]).write_text("{}")
    assert verify.problems(store.folder)[-1] == "not sealed: 2 records, chain broken"


def test_verify_of_an_abandoned_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    killed = Evidence.open(tmp_path / "e", Redactor({}), host="rehearsal")
    record(killed, "a")
    record(killed, "b")
    killed.write("results.json", json.dumps(ctrf.results(conclude(killed))))
    Evidence.open(tmp_path / "e", Redactor({}), host="rehearsal")
    assert verify.problems(killed.folder) == []
    assert verify.main([str(killed.folder)]) == 0
    out = capsys.readouterr().out
    assert "abandoned" in out
    assert "note: the run" in out
    (killed.root / killed.records[0]).unlink()
    assert verify.problems(killed.folder)


def test_verify_of_times_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moment = datetime(2026, 11, 29, 12, tzinfo=UTC)
    monkeypatch.setattr("pytest_amap.evidence.store.now", lambda: moment)
    store = Evidence.open(tmp_path / "e", Redactor({}), host="live")
    record(store, "a")
    moment -= timedelta(seconds=5)
    record(store, "b")
    store.seal([])
    assert verify.problems(store.folder) == [], "the record says that the clock was set back"
    edit(store.root / store.records[1], lambda data: data.pop("clock_set_back"))
    assert any("is before that of the record before it" in line for line in verify.problems(store.folder))


def test_verify_of_no_evidence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verify.main([str(tmp_path)]) == 1
    assert "holds no run" in capsys.readouterr().out


def test_verify_changes_nothing(store: Evidence) -> None:
    before = [(path, path.lstat().st_mtime_ns) for path in sorted(store.root.rglob("*"))]
    verify.problems(store.root)
    assert [(path, path.lstat().st_mtime_ns) for path in sorted(store.root.rglob("*"))] == before


FOREIGN = ("fcntl", "termios", "pwd", "grp", "resource", "pty", "tty", "ctypes", "pytest", "yaml", "_pytest", "pluggy")


def test_verify_needs_the_standard_library_alone(store: Evidence, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in a fresh interpreter that has no site-packages and refuses what exists on Linux alone."""
    code = (
        "import sys\n"
        f"for name in {FOREIGN!r}: sys.modules[name] = None\n"
        f"sys.path.insert(0, {os.fspath(Path(verify.__file__).parents[2])!r})\n"
        "from pytest_amap.evidence import verify\n"
        "sys.exit(verify.main(sys.argv[1:]))\n"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code, str(store.root)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("whole: ")
