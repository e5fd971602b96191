"""The store: records whole, once, chained, redacted, bounded; runs that were cut off; disks that refuse."""

from __future__ import annotations

import errno
import os
import stat
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from evidence_bench import KEY, NOON, load, opened, ran, saw

from pytest_amap.evidence import chain, writeonce
from pytest_amap.evidence.recorded import EvidenceError, read_run
from pytest_amap.evidence.redaction import Redactor


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[datetime]:
    """The time of the store, which a test may set."""
    moment = [NOON]
    monkeypatch.setattr("pytest_amap.evidence.store.now", lambda: moment[0])
    return moment


def test_evidence_records_are_chained_and_complete(tmp_path: Path, clock: list[datetime]) -> None:
    store = opened(tmp_path)
    first = ran(store, stdout="ok\n", stderr="warned")
    second = saw(store, {"names": ["a"]})
    assert first == "step-8/20261129T120000Z-001-write-probe.json"
    assert second == "step-8/20261129T120000Z-002-seen.json"
    assert load(store, first) == {
        "kind": "command",
        "run": "20261129T120000Z",
        "host": "live",
        "seq": 1,
        "prev": "0" * 64,
        "step": 8,
        "check": "unknown_2",
        "label": "Write probe!",
        "time": "2026-11-29T12:00:00.250Z",
        "argv": ["openshell", "x"],
        "cwd": "/checkout",
        "started": "2026-11-29T12:00:00.000Z",
        "ended": "2026-11-29T12:00:01.000Z",
        "seconds": 1.0,
        "exit": 0,
        "timed_out": False,
        "stdout": "ok\n",
        "stderr": "warned",
    }
    assert load(store, second)["prev"] == chain.digest((store.root / first).read_bytes())
    assert load(store, second)["observed"] == {"names": ["a"]}
    assert store.records == [first, second]
    assert store.head == chain.digest((store.root / second).read_bytes())
    assert store.close_chain() == store.close_chain() == store.head


def test_evidence_of_a_rehearsal_says_so_in_every_file(tmp_path: Path) -> None:
    store = opened(tmp_path, "rehearsal")
    record = saw(store)
    store.seal([])
    assert load(store, record)["rehearsal"] is True
    assert load(store, f"runs/{store.run}/seal.json")["rehearsal"] is True
    assert read_run(store.folder).host == "rehearsal"


def test_evidence_holds_no_secret_anywhere(tmp_path: Path) -> None:
    store = opened(tmp_path)
    path = ran(
        store,
        label=f"with {KEY}",
        argv=["tool", "--env", f"K={KEY}"],
        cwd=f"/tmp/{KEY}",
        stdout=f"{KEY[:12]}\n  │ {KEY[12:]}",
        stderr=KEY.encode().hex(),
    )
    saw(store, {KEY: [KEY, {"deep": (KEY,)}]})
    store.write("note.md", f"see {KEY}")
    store.seal(["note.md"])
    hidden = Redactor({"KEY": KEY})
    files = [file for file in store.root.rglob("*") if file.is_file()]
    assert len(files) == 5
    assert [file.name for file in files if hidden.leaks(file.read_bytes()) or hidden.leaks(file.name.encode())] == []
    record = load(store, path)
    assert (record["stdout"], record["stderr"]) == ("[REDACTED:KEY]", "[REDACTED:KEY]")
    assert record["argv"] == ["tool", "--env", "K=[REDACTED:KEY]"]


@pytest.mark.parametrize("umask", [0o000, 0o077, 0o777])
def test_evidence_modes_do_not_depend_on_the_umask(tmp_path: Path, umask: int) -> None:
    (tmp_path / "evidence").mkdir(mode=0o755)
    before = os.umask(umask)
    try:
        store = opened(tmp_path)
        saw(store)
        store.write("results.json", "{}")
        store.seal(["results.json"])
    finally:
        os.umask(before)
    for path in [store.root, *store.root.rglob("*")]:
        if not path.is_symlink():
            assert stat.S_IMODE(path.lstat().st_mode) == (0o700 if path.is_dir() else 0o600), path


@pytest.mark.parametrize(
    ("output", "begins", "ends"),
    [
        ("a" * (2 << 20), "aaa", "aaa"),
        ("é" * (1 << 20), "é", "é"),
        ("first\n" + "\ufffd\x00" * (1 << 20) + "\nlast", "first\n\ufffd", "\nlast"),
    ],
    ids=["one line", "two-byte letters", "was no UTF-8"],
)
def test_evidence_keeps_head_tail_and_digest_of_long_output(
    tmp_path: Path, output: str, begins: str, ends: str
) -> None:
    store = opened(tmp_path)
    record = load(store, ran(store, stdout=output))
    assert record["stdout_bytes"] == len(output.encode())
    assert record["stdout_sha256"] == chain.digest(output.encode())
    assert record["stdout"].startswith(begins)
    assert record["stdout"].endswith(ends)
    assert "bytes left out" in record["stdout"]
    assert len(record["stdout"].encode()) < chain.CAP + 200
    assert "stderr_bytes" not in record


def test_evidence_hides_a_secret_before_it_cuts_and_digests(tmp_path: Path) -> None:
    store = opened(tmp_path)
    cut = chain.CAP // 2
    record = load(store, ran(store, stdout="x" * (cut - 10) + KEY + "y" * cut * 2))
    assert KEY[:8] not in record["stdout"]
    hidden = "x" * (cut - 10) + "[REDACTED:KEY]" + "y" * cut * 2
    assert record["stdout_sha256"] == chain.digest(hidden.encode())


def test_evidence_keeps_odd_text(tmp_path: Path) -> None:
    store = opened(tmp_path)
    odd = 'nul \0, bell \a, quote ", back\\slash, \u2502, lone \udc80, astral \U0001f600'
    assert load(store, saw(store, odd))["observed"] == odd
    assert load(store, saw(store, "plain │ box"))["observed"] == "plain │ box"
    assert b"plain \xe2\x94\x82 box" in (store.root / store.records[1]).read_bytes()


def test_evidence_writes_a_file_once(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.write("results.json", "{}")
    with pytest.raises(EvidenceError, match="never overwritten"):
        store.write("results.json", "[]")
    assert (store.folder / "results.json").read_text() == "{}"
    store.seal(["results.json"])
    with pytest.raises(EvidenceError, match="sealed"):
        store.write("late.txt", "x")
    with pytest.raises(EvidenceError, match="closed"):
        saw(store)
    assert not list(store.root.rglob("*.part"))


def test_evidence_refuses_a_name_that_is_taken(tmp_path: Path, clock: list[datetime]) -> None:
    store = opened(tmp_path)
    saw(store)
    (store.root / "step-8/20261129T120000Z-002-seen.json").write_text("foreign")
    with pytest.raises(EvidenceError, match="there already"):
        saw(store)
    assert store.count == 1
    assert (store.root / "step-8/20261129T120000Z-002-seen.json").read_text() == "foreign"
    assert saw(store, label="other").endswith("-002-other.json")


def test_evidence_of_runs_of_one_second_has_names_of_its_own(tmp_path: Path, clock: list[datetime]) -> None:
    stores = [opened(tmp_path) for _ in range(3)]
    assert [store.run for store in stores] == ["20261129T120000Z", "20261129T120000Z-2", "20261129T120000Z-3"]


def test_evidence_survives_a_clock_that_is_set_back(tmp_path: Path, clock: list[datetime]) -> None:
    store = opened(tmp_path)
    first = saw(store)
    clock[0] = NOON - timedelta(hours=3)
    second, third = saw(store), saw(store)
    assert [load(store, path)["seq"] for path in (first, second, third)] == [1, 2, 3]
    assert [load(store, path).get("clock_set_back") for path in (first, second, third)] == [None, True, None]


def test_evidence_of_several_threads_is_one_chain(tmp_path: Path) -> None:
    store = opened(tmp_path)
    threads = [threading.Thread(target=lambda: [saw(store) for _ in range(10)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    records = [load(store, path) for path in store.records]
    assert [record["seq"] for record in records] == list(range(1, 41))
    digests = [chain.digest((store.root / path).read_bytes()) for path in store.records]
    assert [record["prev"] for record in records] == [chain.FIRST, *digests[:-1]]


@pytest.mark.parametrize("moment", ["link", "fsync", "unlink", "open"])
def test_evidence_goes_on_after_an_interrupt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    store = opened(tmp_path)
    saw(store)
    real: Callable[..., Any] = getattr(os, moment)

    def interrupted(*args: Any, **keywords: Any) -> Any:
        monkeypatch.setattr(os, moment, real)
        result = real(*args, **keywords)
        if isinstance(result, int):
            os.close(result)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, moment, interrupted)
    with pytest.raises(KeyboardInterrupt):
        saw(store)
    saw(store)
    records = [load(store, path) for path in store.records]
    assert len(records) == len(list(store.root.glob("step-8/*.json")))
    assert [record["seq"] for record in records] == list(range(1, len(records) + 1))
    assert records[-1]["prev"] == chain.digest((store.root / store.records[-2]).read_bytes())


def test_evidence_of_a_cut_off_run_is_sealed_as_abandoned(tmp_path: Path) -> None:
    killed = opened(tmp_path, "rehearsal")
    head = [saw(killed), saw(killed)] and killed.head
    (killed.folder / "report.html").write_text("half a page")
    (killed.folder / ".results.json.1-ab.part").write_text("{")
    (killed.root / f"step-8/.{killed.run}-003-seen.json.1-ab.part").write_text("{")
    store = opened(tmp_path)
    assert store.abandoned == (killed.run,)
    seal = load(store, f"runs/{killed.run}/seal.json")
    assert (seal["state"], seal["count"], seal["head"], seal["host"]) == ("abandoned", 2, head, "rehearsal")
    assert list(seal["files"]) == ["report.html"]
    assert not list(store.root.rglob("*.part"))
    assert opened(tmp_path).abandoned == (store.run,)


def test_evidence_leaves_a_sealed_run_alone(tmp_path: Path) -> None:
    store = opened(tmp_path)
    saw(store)
    store.seal([])
    before = {path: path.read_bytes() for path in store.root.rglob("*") if path.is_file()}
    (store.folder / "seal.json").unlink()
    assert opened(tmp_path).abandoned == ()
    assert not (store.folder / "seal.json").exists()
    assert all(path.read_bytes() == data for path, data in before.items() if path.exists())


def test_evidence_of_an_interrupted_seal_gets_its_sums(tmp_path: Path) -> None:
    store = opened(tmp_path)
    saw(store)
    store.write("results.json", "{}")
    store.seal(["results.json"])
    sums = (store.folder / "SHA256SUMS").read_bytes()
    (store.folder / "SHA256SUMS").unlink()
    assert opened(tmp_path).abandoned == ()
    assert (store.folder / "SHA256SUMS").read_bytes() == sums


def test_evidence_of_a_damaged_run_does_not_stop_the_next(tmp_path: Path) -> None:
    killed = opened(tmp_path)
    (killed.root / saw(killed)).write_text("no JSON")
    (killed.folder / "assets").mkdir()
    assert opened(tmp_path).abandoned == (killed.run,)


def test_evidence_latest_names_the_sealed_run(tmp_path: Path) -> None:
    first = opened(tmp_path)
    first.seal([])
    second = opened(tmp_path)
    assert os.readlink(first.root / "latest") == f"runs/{first.run}"
    second.seal([])
    assert os.readlink(first.root / "latest") == f"runs/{second.run}"
    assert read_run(first.root).run == second.run


@pytest.mark.parametrize("place", ["evidence", "evidence/step-8", "evidence/runs"])
def test_evidence_follows_no_symlink(tmp_path: Path, place: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    if place != "evidence":
        (tmp_path / "evidence").mkdir()
    (tmp_path / place).symlink_to(elsewhere)
    with pytest.raises(EvidenceError, match="symlink"):
        saw(opened(tmp_path))
    assert list(elsewhere.iterdir()) == []


def test_evidence_folder_replaced_by_a_symlink_in_the_middle(tmp_path: Path) -> None:
    store = opened(tmp_path)
    saw(store)
    store.root.rename(tmp_path / "moved")
    (tmp_path / "else").mkdir()
    store.root.symlink_to(tmp_path / "else")
    with pytest.raises(EvidenceError, match="symlink"):
        saw(store)
    assert list((tmp_path / "else").iterdir()) == []


def test_evidence_folder_that_vanished(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.root.rename(tmp_path / "moved")
    with pytest.raises(EvidenceError, match="vanished"):
        saw(store)


@pytest.mark.parametrize(
    ("number", "words"), [(errno.ENOSPC, "disk space"), (errno.EROFS, "writable"), (errno.EIO, "check the disk")]
)
def test_evidence_error_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, words: str
) -> None:
    store = opened(tmp_path)
    saw(store)

    def refused(*_: Any, **__: Any) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as broken:
        broken.setattr(writeonce.os, "link", refused)
        with pytest.raises(EvidenceError, match=words) as error:
            saw(store)
    assert "\n" not in str(error.value)
    assert not list(store.root.rglob("*.part"))
    assert saw(store).split("-")[2] == "002"


def test_the_mode_of_a_folder_that_was_there_is_left_alone(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    writeonce.create(tmp_path, ".", "mark", b"live\n")
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755
