"""Reading host files that an agent may have written: nothing is followed, nothing blocks, everything is bounded."""

from __future__ import annotations

import os
import re
import socket
from pathlib import Path

import pytest

from pytest_amap.host import files


def test_a_file_is_read_with_mode_owner_size_and_time(tmp_path: Path) -> None:
    path = tmp_path / "notice.json"
    path.write_bytes(b"text \xff")
    path.chmod(0o640)
    os.utime(path, (1_000_000_000, 1_000_000_000.5))
    read = files.read(str(path))
    assert (read.text, read.problem, read.mode, read.size) == ("text \ufffd", None, "640", 6)
    assert (read.uid, read.gid, read.mtime) == (os.getuid(), os.getgid(), "2001-09-09T01:46:40.500Z")


def test_a_symlink_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    read = files.read(str(tmp_path / "link"))
    assert (read.text, read.problem) == (None, "symlink")


@pytest.mark.timeout(10)
def test_a_fifo_a_socket_a_device_and_a_directory_are_not_opened_to_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A FIFO without a writer would block for ever."""
    monkeypatch.chdir(tmp_path)  # socket paths are short
    os.mkfifo("fifo")
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("socket")
        found = {name: files.read(name) for name in ("fifo", "socket", "/dev/zero", ".")}
    assert all(read.text is None for read in found.values())
    assert {name: read.problem for name, read in found.items()} == {
        "fifo": "not a regular file", "socket": "ENXIO", "/dev/zero": "not a regular file", ".": "not a regular file",
    }  # fmt: skip


def test_a_file_over_the_cap_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "big"
    path.write_bytes(b"x" * 11)
    assert files.read(str(path), cap=10).problem == "too large"
    assert files.read(str(path), cap=11).text == "x" * 11
    os.truncate(path, 1 << 40)  # sparse
    assert (files.read(str(path)).problem, files.read(str(path)).size) == ("too large", 1 << 40)


def test_a_file_that_grows_while_it_is_read_stays_bounded() -> None:
    """/proc files say that they are empty."""
    assert files.read("/proc/self/status").text
    assert files.read("/proc/self/status", cap=10).problem == "too large"


def test_a_hard_link_reads_as_the_file_that_it_is(tmp_path: Path) -> None:
    (tmp_path / "one").write_text("text")
    os.link(tmp_path / "one", tmp_path / "two")
    assert files.read(str(tmp_path / "two")).text == "text"
    assert files.look(str(tmp_path / "one")).inode == files.look(str(tmp_path / "two")).inode


@pytest.mark.parametrize(
    ("name", "problem"), [("missing", "ENOENT"), ("file/below", "ENOTDIR"), ("x" * 300, "ENAMETOOLONG")]
)
def test_what_cannot_be_opened_is_named_by_its_errno(tmp_path: Path, name: str, problem: str) -> None:
    (tmp_path / "file").write_text("")
    path = str(tmp_path / name)
    assert files.read(path).problem == problem
    assert files.listing(path).problem == problem
    assert files.look(path).kind == ("absent" if problem == "ENOENT" else "unreadable")


def test_a_listing_is_sorted_bounded_and_follows_no_symlink(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lane").mkdir()
    for name in ("b", "a", ".c"):
        (tmp_path / "lane" / name).touch()
    (tmp_path / "link").symlink_to("lane")
    assert files.listing(str(tmp_path / "lane")).names == (".c", "a", "b")
    assert files.listing(str(tmp_path / "link")) == files.Listing(str(tmp_path / "link"), (), "symlink")
    monkeypatch.setattr(files, "MOST_NAMES", 2)
    assert files.listing(str(tmp_path / "lane")) == files.Listing(str(tmp_path / "lane"), (), "too many")


def test_look_tells_what_stands_there(tmp_path: Path) -> None:
    (tmp_path / "file").touch(0o600)
    (tmp_path / "folder").mkdir(0o700)
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "fifo")
    found = {name: files.look(str(tmp_path / name)) for name in ("file", "folder", "link", "fifo", "nothing")}
    assert [stat.kind for stat in found.values()] == ["file", "directory", "symlink", "other", "absent"]
    assert (found["file"].mode, found["folder"].mode, found["file"].uid) == ("600", "700", os.getuid())


def test_a_stamp_is_utc_with_milliseconds() -> None:
    assert files.stamp(0) == "1970-01-01T00:00:00.000Z"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", files.stamp(1_795_967_537.97))
    assert files.stamp(1e300) == ""


@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
def test_a_path_that_no_file_can_have_is_told(name: str, tmp_path: Path) -> None:
    path = f"{tmp_path}/{name}"
    assert files.read(path).problem == files.listing(path).problem == files.look(path).problem == "EINVAL"


def test_a_folder_that_becomes_a_symlink_while_it_is_looked_at_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "lane").symlink_to("secret")
    monkeypatch.setattr(os, "lstat", lambda path: os.stat(tmp_path / "secret"))
    listing = files.listing(str(tmp_path / "lane"))
    assert (listing.names, listing.problem) in (((), "ENOTDIR"), ((), "ELOOP"))
