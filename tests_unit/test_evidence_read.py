"""Evidence read again: by whoever judges or verifies it, from wherever it comes."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from evidence_bench import opened, ran, saw

from pytest_amap.evidence import recorded
from pytest_amap.evidence.recorded import EvidenceError, read_run
from pytest_amap.evidence.redaction import Redactor
from pytest_amap.evidence.store import Evidence


def test_evidence_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    store = opened(tmp_path)
    saw(store, {"n": [1, None, 2.5]})
    ran(store)
    unsealed = read_run(store.folder)
    assert (unsealed.results, unsealed.seal) == (None, None)
    store.write("results.json", '{"reportFormat": "CTRF"}')
    store.seal(["results.json"])
    run = read_run(store.root)
    assert (run.run, run.host, run.root) == (store.run, "live", store.root)
    assert [record.path for record in run.records] == store.records
    assert run.records[0].data["observed"] == {"n": [1, None, 2.5]}
    assert run.results == {"reportFormat": "CTRF"}
    assert run.seal is not None
    assert run.seal["count"] == 2


def test_a_record_is_proved_by_the_next_one_or_the_seal_and_by_the_sums(tmp_path: Path) -> None:
    store = opened(tmp_path)
    paths = [saw(store, number) for number in range(3)]
    assert read_run(store.folder).unproved == set(paths), "nothing proves an unsealed run's records"
    store.seal([])
    assert read_run(store.folder).unproved == frozenset()
    for path in paths:
        whole = (store.root / path).read_bytes()
        (store.root / path).write_bytes(whole.replace(b'"observed": ', b'"observed":  '))
        assert read_run(store.folder).unproved == {path}
        (store.root / path).write_bytes(whole)
    (store.root / paths[1]).unlink()
    assert read_run(store.folder).unproved == {paths[0]}, "what the missing record said of it is gone, too"


@pytest.mark.parametrize(
    "data", [b'{"a": 1, "a": 2}', b'{"a": NaN}', b"\xef\xbb\xbf{}", '{"a": 1}'.encode("utf-16"), b"[]"]
)
def test_what_readers_could_take_in_two_ways_is_no_evidence(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(data)
    with pytest.raises(EvidenceError, match="holds no JSON object"):
        recorded.read_object(tmp_path / "x.json")


def test_a_run_that_is_neither_live_nor_a_rehearsal_is_not_read(tmp_path: Path) -> None:
    store = Evidence.open(tmp_path / "evidence", Redactor({}), host="live\nall is PASS")
    saw(store)
    with pytest.raises(EvidenceError, match="is marked neither live nor rehearsal"):
        read_run(store.folder)


def test_evidence_of_more_than_a_thousand_records_stays_in_order(tmp_path: Path) -> None:
    store = opened(tmp_path)
    for _ in range(1002):
        saw(store)
    assert [record.data["seq"] for record in read_run(store.folder).records] == list(range(1, 1003))


@pytest.mark.parametrize("latest", ["runs/{run}\n", "{run}"])
def test_evidence_latest_may_be_a_one_line_file(tmp_path: Path, latest: str) -> None:
    store = opened(tmp_path)
    store.seal([])
    (store.root / "latest").unlink()
    (store.root / "latest").write_text(latest.format(run=store.run))
    assert read_run(store.root).run == store.run


@pytest.mark.parametrize("named", ["../../etc", "runs/../..", "runs/20260101T000000Z", ""])
def test_evidence_latest_that_leads_nowhere(tmp_path: Path, named: str) -> None:
    store = opened(tmp_path)
    (store.root / "latest").write_text(named)
    with pytest.raises(EvidenceError):
        read_run(store.root)


def test_evidence_folder_without_a_run(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match="holds no run"):
        read_run(tmp_path)
    with pytest.raises(EvidenceError, match="holds no run"):
        read_run(tmp_path / "nothing")


def test_evidence_folder_that_is_somebody_elses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(path: Path) -> list[str]:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(os, "listdir", closed)
    for folder in (tmp_path, tmp_path / "runs" / "20260101T000000Z"):
        with pytest.raises(EvidenceError, match=r"cannot be read \(Permission denied\): ask its owner for a copy"):
            read_run(folder)
