"""Whatever is done to a sealed run, `amap verify` says so in one line each."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pytest_amap.catalogue import L1
from pytest_amap.evidence import ctrf, verify
from pytest_amap.evidence.redaction import Redactor
from pytest_amap.evidence.store import Evidence
from pytest_amap.report.statement import statement
from pytest_amap.results import CheckResult, RunResult, StepResult
from pytest_amap.verdicts import PASS, Part

REPORT = "REHEARSAL-REPORT.md"
FLIPS = 500


def record(store: Evidence, label: str, step: int = 8) -> str:
    return store.observation(step=step, check="unknown_2", label=label, source="s", observed={"n": label})


def result_of(store: Evidence) -> RunResult:
    checks = tuple(
        CheckResult(check, PASS, "seen", (Part("p", PASS, "a", "a", (store.records[0],)),), tuple(store.records[:2]))
        for check in L1.checks
    )
    return RunResult(
        suite=L1,
        host=store.host,
        run=store.run,
        started="2026-11-29T12:00:00.000Z",
        ended="2026-11-29T12:00:01.000Z",
        steps=(StepResult(0, "prerequisites", "done"),),
        checks=checks,
    )


def conclude(store: Evidence) -> RunResult:
    """The run's last record, and the results that say the same."""
    observed = ctrf.concluded(ctrf.results(replace(result_of(store), head="")))
    store.observation(step=9, check="", label=ctrf.CONCLUDED, source="s", observed=observed)
    return replace(result_of(store), records=store.count, head=store.close_chain())


def sealed(root: Path, host: str = "rehearsal", labels: str = "abcdef") -> Evidence:
    """A whole run, sealed as the plugin does it."""
    store = Evidence.open(root, Redactor({}), host=host)
    for step, label in enumerate(labels):
        record(store, label, step)
    run = conclude(store)
    store.write("results.json", json.dumps(ctrf.results(run), indent=1))
    told = "\n".join(f"Outcome: {check.outcome}" for check in run.checks)
    store.write(REPORT, f"# report\n\n{told}\n\nrun {run.run}, head {run.head}\n")
    store.write("report.html", f"<p>{run.head}</p>")
    names = ["results.json", REPORT, "report.html"]
    digests = {name: hashlib.sha256((store.folder / name).read_bytes()).hexdigest() for name in names}
    digests |= {f"../../{path}": hashlib.sha256((root / path).read_bytes()).hexdigest() for path in store.records}
    store.write("statement.json", json.dumps(statement(run, digests)))
    store.seal([*names, "statement.json"])
    return store


@pytest.fixture
def store(tmp_path: Path) -> Evidence:
    return sealed(tmp_path / "evidence")


def of_run(store: Evidence) -> list[Path]:
    return [store.root / path for path in store.records] + sorted(store.folder.iterdir())


TWICE = "a key twice"


def edit(path: Path, change: Callable[[dict[str, Any]], object] | str) -> None:
    document = json.loads(path.read_bytes())
    if callable(change):
        change(document)
    text = json.dumps(document, indent=1) + "\n"
    path.write_text(text if callable(change) else text.replace("{", '{"reportFormat": "another",', 1))


def follow(store: Evidence) -> None:
    """Statement and report made to say what the results say now, as a forger does who knows both."""
    found = json.loads((store.folder / "results.json").read_bytes())
    then = json.loads((store.folder / "statement.json").read_bytes())
    result = ctrf.read(found, L1)
    head = json.loads((store.folder / "seal.json").read_bytes())["head"]
    told = "\n".join(f"Outcome: {check.outcome}" for check in result.checks)
    (store.folder / REPORT).write_text(f"{told}\n{head}\n")
    names = [subject["name"] for subject in then["subject"]]
    digests = {name: hashlib.sha256((store.folder / name).read_bytes()).hexdigest() for name in names}
    (store.folder / "statement.json").write_text(json.dumps(statement(result, digests)))
    reseal(store)


def reseal(store: Evidence) -> None:
    """What a careful forger does: sums and seal made again over the forged files, the records left alone."""
    (store.folder / "SHA256SUMS").unlink()
    names = json.loads((store.folder / "seal.json").read_bytes())["files"]
    for name in names:
        names[name] = hashlib.sha256((store.folder / name).read_bytes()).hexdigest()
    edit(store.folder / "seal.json", lambda seal: seal.update(files=names))
    Evidence.open(store.root, Redactor({}), host=store.host)


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


FORGERIES: dict[str, tuple[str, Callable[[dict[str, Any]], object] | str, str]] = {
    "another outcome": ("results.json", lambda d: d["results"]["tests"][0].update(rawStatus="FAIL"), "FAIL and passed"),
    "a pass of a failed part": (
        "results.json",
        lambda d: d["results"]["tests"][0]["extra"]["parts"][0].update(outcome="UNKNOWN"),
        "its parts are not",
    ),
    "a count": ("results.json", lambda d: d["results"]["summary"].update(passed=13), "its summary counts 13"),
    "a head": ("results.json", lambda d: d["results"]["extra"].update(head="0" * 64), "expected head"),
    "a host": ("results.json", lambda d: d["results"]["extra"].update(host="live"), "expected host rehearsal"),
    "a run": ("results.json", lambda d: d["results"]["extra"].update(run="20200101T000000Z"), "expected run"),
    "a record": (
        "results.json",
        lambda d: d["results"]["tests"][3]["extra"].update(records=["step-8/none.json"]),
        "rests on step-8/none.json",
    ),
    "another shape": ("results.json", lambda d: d.clear(), "has not the shape"),
    "a subject": ("statement.json", lambda d: d["subject"][0]["digest"].update(sha256="0" * 64), "its subject"),
    "a subject less": ("statement.json", lambda d: d["subject"].pop(), "says nothing of"),
    "a passed test more": ("statement.json", lambda d: d["predicate"]["passedTests"].append("x"), "its passedTests"),
    "a failed test less": ("statement.json", lambda d: d["predicate"]["failedTests"].append("step 3 x"), "failedTests"),
    "a declaration": (
        "statement.json",
        lambda d: d["predicate"]["configuration"][0]["annotations"].update(declared=[{"what": "directory-"}]),
        "its declared",
    ),
    "an annotation less": (
        "statement.json",
        lambda d: d["predicate"]["configuration"][0]["annotations"].pop("interrupted"),
        "has not the shape",
    ),
    "a pass of nobody": (
        "results.json",
        lambda d: d["results"]["tests"][0]["extra"].update(selected=False),
        "selected",
    ),
    "a count of records": ("results.json", lambda d: d["results"]["extra"].update(records=9), "expected records 7"),
    "an attachment": (
        "results.json",
        lambda d: d["results"]["tests"][0]["attachments"][0].update(path="../../../../etc/passwd"),
        "what is attached",
    ),
    "a check less": (
        "statement.json",
        lambda d: d["predicate"]["configuration"][0]["annotations"]["checks"].pop(),
        "its checks",
    ),
    "a key twice": ("results.json", TWICE, "has not the shape"),
    "a number that is none": ("results.json", lambda d: d.update(x=float("nan")), "has not the shape"),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_verify_finds_a_forged_report_that_was_sealed_again(store: Evidence, forgery: str) -> None:
    name, change, words = FORGERIES[forgery]
    edit(store.folder / name, change)
    reseal(store)
    assert any(words in line for line in verify.problems(store.folder))


def test_the_forger_who_knows_every_file_is_taken_for_honest_where_nothing_changed(store: Evidence) -> None:
    follow(store)
    assert verify.problems(store.folder) == []


def outcome(document: dict[str, Any], raw: str, status: str) -> None:
    document["tests"][0].update(rawStatus=raw, status=status)
    document["summary"].update(passed=11, failed=int(status == "failed"), other=int(status == "other"))


FOLLOWED: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "an outcome": (lambda d: outcome(d, "FAIL", "failed"), "its checks are not"),
    "a reason": (lambda d: d["tests"][0].update(message="better"), "its checks are not"),
    "a part": (lambda d: d["tests"][0]["extra"]["parts"][0].update(seen="better"), "its checks are not"),
    "a fact": (lambda d: d["extra"]["facts"].update(kernel="6.8"), "its facts are not"),
    "a declaration": (lambda d: d["extra"]["declared"].append({"what": "x-", "reason": "y"}), "its declared are not"),
    "a step": (lambda d: d["extra"]["steps"][0].update(outcome="already"), "its steps are not"),
}


@pytest.mark.parametrize("forgery", FOLLOWED)
def test_verify_finds_results_that_the_run_did_not_conclude(store: Evidence, forgery: str) -> None:
    """Though every report was made to say the same, and the records and their head are as they were."""
    change, words = FOLLOWED[forgery]
    edit(store.folder / "results.json", lambda document: change(document["results"]))
    follow(store)
    assert any(words in line for line in verify.problems(store.folder))


def test_verify_finds_results_that_were_taken_away(store: Evidence) -> None:
    for name in ("results.json", "statement.json"):
        (store.folder / name).unlink()
    edit(
        store.folder / "seal.json",
        lambda seal: [seal["files"].pop(name) for name in ("results.json", "statement.json")],
    )
    reseal(store)
    assert verify.problems(store.folder) == ["results.json: is missing, and the records say that there were results"]


def test_verify_finds_a_report_of_other_outcomes(store: Evidence) -> None:
    path = store.folder / REPORT
    path.write_text(path.read_text().replace("Outcome: PASS", "Outcome: FAIL", 1))
    reseal(store)
    assert any("its outcomes are not those" in line for line in verify.problems(store.folder))


def test_verify_believes_no_run_that_calls_itself_abandoned(store: Evidence) -> None:
    """What a run that was cut off had written says the same as its records, too."""
    edit(store.folder / "results.json", lambda d: d["results"]["extra"].update(head="0" * 64))
    edit(store.folder / "seal.json", lambda seal: seal.update(state="abandoned"))
    follow(store)
    assert any("results.json: expected head" in line for line in verify.problems(store.folder))


def test_verify_finds_a_report_without_the_head(store: Evidence) -> None:
    (store.folder / REPORT).write_text("# all is well\n")
    reseal(store)
    assert any("does not show the head" in line for line in verify.problems(store.folder))


def test_verify_finds_a_rehearsal_made_live(store: Evidence) -> None:
    edit(store.folder / "seal.json", lambda seal: (seal.pop("rehearsal"), seal.update(host="live")))
    reseal(store)
    assert "seal.json: its host is not that of the records" in verify.problems(store.folder)


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


@pytest.mark.parametrize("junk", [b"", b"\xff\xfe", b"[1]", b"null", b"[" * 100_000, b'{"seq": "1"}', b"\x00" * 99])
def test_verify_of_junk_is_lines_not_tracebacks(store: Evidence, junk: bytes) -> None:
    for path in of_run(store):
        whole = path.read_bytes()
        path.write_bytes(junk)
        assert verify.problems(store.folder), path.name
        path.write_bytes(whole)


WAITING = 5
"""Seconds in which a pipe that nobody writes to must not have stopped us."""


@pytest.fixture
def impatient() -> Iterator[None]:
    def hung(number: int, frame: object) -> None:
        pytest.fail("it waits")

    before = signal.signal(signal.SIGALRM, hung)
    signal.alarm(WAITING)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("where", ["a record", "results.json", "seal.json", "SHA256SUMS", "latest"])
@pytest.mark.parametrize("what", ["a pipe", "an endless device", "a huge file", "a loop", "a folder"])
def test_verify_opens_nothing_that_is_no_file_of_ours(store: Evidence, where: str, what: str) -> None:
    places = {"a record": store.root / store.records[2], "latest": store.root / "latest"}
    place = places.get(where, store.folder / where)
    place.unlink()
    if what == "a pipe":
        os.mkfifo(place)
    elif what == "a folder":
        place.mkdir()
    elif what == "a huge file":
        with place.open("wb") as file:
            file.truncate(1 << 40)
    else:
        place.symlink_to("/dev/zero" if what == "an endless device" else place.name)
    found = verify.problems(store.root)
    assert found == [] if where == "latest" and what in ("a pipe", "a huge file", "a folder") else found


def test_verify_of_a_path_that_leads_to_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "loop").symlink_to("loop")
    assert verify.main([str(tmp_path / "loop")]) == 1
    assert "leads nowhere" in capsys.readouterr().out


@pytest.mark.parametrize("name", [b"x\nwhole: live run 1", b"\x1b]0;x\x07", b"\xff\xfe", "\u202ex".encode()])
@pytest.mark.parametrize("where", ["among the reports", "among the records"])
def test_verify_prints_a_hostile_name_as_one_harmless_line(
    store: Evidence, name: bytes, where: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = os.fsencode(store.folder) + b"/"
    if where == "among the records":
        folder = os.fsencode(store.root) + b"/step-1/" + store.run.encode() + b"-"
    Path(os.fsdecode(folder + name)).write_text("x")
    assert verify.main([str(store.root)]) == 1
    harmless(capsys.readouterr().out)


def test_verify_prints_hostile_fields_as_harmless_lines(store: Evidence, capsys: pytest.CaptureFixture[str]) -> None:
    evil = {"run": "\x1b[2J\nwhole: live run", "host": "\u202e", "seq": "\ud800", "label": "\r", "time": "\x9b1m"}
    edit(store.root / store.records[2], lambda data: data.update(evil))
    edit(store.folder / "seal.json", lambda seal: seal.update(host=["\x1b"], head={"\x07": 1}, count="\n", files=[]))
    assert verify.main([str(store.root)]) == 1
    harmless(capsys.readouterr().out)


def test_verify_knows_two_kinds_of_host(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = sealed(tmp_path / "evidence", host="\x1b[2Jlive")
    assert verify.main([str(store.root)]) == 1
    harmless(capsys.readouterr().out)


def harmless(printed: str) -> None:
    assert all(char == "\n" or (char.isprintable() and char.isascii()) for char in printed)
    assert not any(line.startswith("whole") for line in printed.splitlines())


def test_verify_follows_no_step_folder_that_is_a_symlink(store: Evidence, tmp_path: Path) -> None:
    (store.root / "step-1").rename(tmp_path / "elsewhere")
    (store.root / "step-1").symlink_to(tmp_path / "elsewhere")
    assert "step-1: is not a file of this run" in verify.problems(store.root)


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
