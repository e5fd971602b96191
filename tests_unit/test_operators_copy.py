"""The operator's copy is replaced only while nobody has touched it; --only-step 9 keeps to the same rule."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from report_sample import only, rehearsal_of, run_of

from pytest_amap.catalogue import L1
from pytest_amap.evidence import ctrf
from pytest_amap.evidence.recorded import EvidenceError
from pytest_amap.host import lock
from pytest_amap.options import Options
from pytest_amap.report import markdown
from pytest_amap.results import RunResult
from pytest_amap.session import operators_copy
from pytest_amap.session.redraw import redraw

NAME, RUN = "POC-REPORT.md", "20261129T120000Z"


def sealed(root: Path, text: bytes, run: str = RUN) -> None:
    folder = root / "runs" / run
    folder.mkdir(parents=True)
    (folder / NAME).write_bytes(text)


def test_it_is_written_where_nothing_is(tmp_path: Path) -> None:
    assert operators_copy.replace(tmp_path, NAME, b"draft")
    assert (tmp_path / NAME).read_bytes() == b"draft"
    assert (tmp_path / NAME).stat().st_mode & 0o777 == 0o600


def test_a_sealed_draft_is_replaced(tmp_path: Path) -> None:
    sealed(tmp_path, b"old draft")
    (tmp_path / NAME).write_bytes(b"old draft")
    assert operators_copy.replace(tmp_path, NAME, b"new draft")
    assert (tmp_path / NAME).read_bytes() == b"new draft"


def test_a_text_that_was_drawn_again_and_put_there_is_still_ours(tmp_path: Path) -> None:
    for text in (b"drawn", b"drawn again", b"and again"):
        assert operators_copy.replace(tmp_path, NAME, text)
    assert (tmp_path / NAME).read_bytes() == b"and again"


def test_one_byte_of_a_person_keeps_it(tmp_path: Path) -> None:
    operators_copy.replace(tmp_path, NAME, b"draft")
    (tmp_path / NAME).write_bytes(b"draft.")
    assert operators_copy.edited(tmp_path, NAME)
    assert not operators_copy.replace(tmp_path, NAME, b"new")
    assert (tmp_path / NAME).read_bytes() == b"draft."


@pytest.mark.parametrize("kind", ["symlink", "dangling", "folder"])
def test_what_is_no_plain_file_is_kept(tmp_path: Path, kind: str) -> None:
    other, copy = tmp_path / "other", tmp_path / NAME
    other.write_bytes(b"draft")
    sealed(tmp_path, b"draft")
    copy.mkdir() if kind == "folder" else copy.symlink_to(other if kind == "symlink" else tmp_path / "nowhere")
    assert not operators_copy.replace(tmp_path, NAME, b"new")
    assert other.read_bytes() == b"draft"


def home_with(tmp_path: Path, *runs: RunResult) -> Options:
    home = tmp_path / "home"
    for run in runs:
        folder = home / "evidence" / "runs" / run.run
        folder.mkdir(parents=True)
        (folder / "results.json").write_text(json.dumps(ctrf.results(run)))
        name = "POC-REPORT.md" if run.host == "live" else "REHEARSAL-REPORT.md"
        (folder / name).write_text(markdown.draft(run))
    home.mkdir(exist_ok=True)
    return Options(home=os.fspath(home), repository=tmp_path / "checkout", pid=os.getpid())


def drawn(options: Options) -> list[str]:
    return list(redraw(options))


def said(lines: Iterable[str]) -> str:
    return " | ".join(lines)


def test_step_9_brings_the_copy_up_to_date(tmp_path: Path) -> None:
    run = run_of()
    options = home_with(tmp_path, run)
    assert "is its sealed draft" in said(drawn(options))
    assert (Path(options.home) / "evidence" / NAME).read_text() == markdown.draft(run)
    assert "holds it now" in said(drawn(options))


def test_step_9_takes_the_newest_run_with_results_and_keeps_what_was_edited(tmp_path: Path) -> None:
    options = home_with(tmp_path, run_of(), run_of(run="20261129T130000Z", records=3))
    (Path(options.home) / "evidence" / "runs" / "20261129T140000Z").mkdir()
    (Path(options.home) / "evidence" / NAME).write_text("mine")
    told = said(drawn(options))
    assert "20261129T130000Z" in told
    assert "was edited and is kept" in told
    assert (Path(options.home) / "evidence" / NAME).read_text() == "mine"


@pytest.mark.parametrize(
    ("run", "why"),
    [(rehearsal_of(), "a rehearsal has no operator's copy"), (only("unknown_2"), "did not ask every check")],
    ids=["rehearsal", "a part"],
)
def test_step_9_writes_no_copy_of_less_than_a_live_run_of_everything(tmp_path: Path, run: RunResult, why: str) -> None:
    options = home_with(tmp_path, run)
    assert why in said(drawn(options))
    assert not (Path(options.home) / "evidence" / NAME).exists()


def test_step_9_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match="AMAP_OPENSHELL_HOME is not set"):
        drawn(Options())
    with pytest.raises(EvidenceError, match="holds no run with results"):
        drawn(home_with(tmp_path))


def test_step_9_waits_for_nobody(tmp_path: Path) -> None:
    options = home_with(tmp_path, replace(run_of(), suite=L1))
    held = lock.HomeLock(Path(options.home), 4711)
    try:
        with pytest.raises(EvidenceError, match="in use by pid 4711"):
            drawn(options)
    finally:
        held.close()
