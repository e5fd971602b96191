"""Evidence that was made to hang, to crash or to deceive who verifies it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from sealed_run_bench import edit, of_run, sealed

from pytest_amap.evidence import verify
from pytest_amap.evidence.store import Evidence


@pytest.fixture
def store(tmp_path: Path) -> Evidence:
    return sealed(tmp_path / "evidence")


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
