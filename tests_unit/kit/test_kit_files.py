"""Plan and writer: words, modes, atomic replacement, refusals before the first write."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kit import files
from kit.errors import Refused
from kit.files import Wanted
from kit.home import Home


def wanted(home: Home, content: bytes = b"x") -> list[Wanted]:
    return [Wanted(home.path, 0o755), Wanted(home.path / "d", 0o700), Wanted(home.path / "d" / "f", 0o640, content)]


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o7777


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_modes_are_exact_whatever_the_umask(home: Home, umask: int) -> None:
    previous = os.umask(umask)
    try:
        files.apply(files.plan(home, wanted(home)))
    finally:
        os.umask(previous)
    assert [mode(want.path) for want in wanted(home)] == [0o755, 0o700, 0o640]


def test_the_words_of_a_dry_run_and_of_an_applied_plan(home: Home) -> None:
    made = files.plan(home, wanted(home))
    assert made.lines() == ["would create .", "would create d", "would create d/f"]
    assert made.lines(applied=True) == ["created .", "created d", "created d/f"]
    assert not made.done
    assert not home.path.exists()
    files.apply(made)
    again = files.plan(home, wanted(home))
    assert again.lines() == again.lines(applied=True) == ["present .", "present d", "present d/f"]
    assert again.done
    changed = files.plan(home, wanted(home, b"y"))
    assert changed.lines()[2] == "would update d/f"
    assert changed.lines(applied=True)[2] == "updated d/f"
    assert changed.changed() == ("d/f",)


def test_a_drifted_mode_is_put_right_and_a_rerun_changes_nothing(home: Home) -> None:
    files.apply(files.plan(home, wanted(home)))
    (home.path / "d").chmod(0o770)
    (home.path / "d" / "f").chmod(0o666)
    drifted = files.plan(home, wanted(home))
    assert drifted.lines() == ["present .", "would update d", "would update d/f"]
    assert drifted.changed() == ()
    files.apply(drifted)
    before = (home.path / "d" / "f").stat()
    files.apply(files.plan(home, wanted(home)))
    after = (home.path / "d" / "f").stat()
    assert (before.st_ino, before.st_mtime_ns, before.st_mode) == (after.st_ino, after.st_mtime_ns, after.st_mode)
    assert (mode(home.path / "d"), mode(home.path / "d" / "f")) == (0o700, 0o640)


def test_a_narrowed_home_stays_and_one_others_may_write_is_closed(home: Home) -> None:
    home.path.mkdir()
    home.path.chmod(0o700)
    assert files.plan(home, wanted(home)).lines()[0] == "present ."
    home.path.chmod(0o500)
    files.apply(files.plan(home, wanted(home)))
    assert mode(home.path) == 0o700
    home.path.chmod(0o775)
    made = files.plan(home, wanted(home))
    assert made.lines()[0] == "would update ."
    files.apply(made)
    assert mode(home.path) == 0o755


def test_every_obstacle_is_named_and_nothing_is_written(home: Home, tmp_path: Path) -> None:
    home.path.mkdir()
    (home.path / "d").symlink_to(tmp_path)
    (home.path / "e").mkdir()
    (home.path / "g").touch()
    with pytest.raises(Refused) as caught:
        files.plan(
            home, [*wanted(home), Wanted(home.path / "e", 0o644, b""), Wanted(home.path / "g", 0o755), *wanted(home)]
        )
    message = str(caught.value)
    assert "d is a symlink" in message
    assert "e is no regular file" in message
    assert "g is no directory" in message
    assert sorted(os.listdir(home.path)) == ["d", "e", "g"]


def test_another_owner_is_refused(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    files.apply(files.plan(home, wanted(home)))
    monkeypatch.setattr(os, "geteuid", lambda: home.path.stat().st_uid + 1)
    with pytest.raises(Refused, match="belongs to uid"):
        files.plan(home, wanted(home))


def test_a_symlink_that_comes_between_plan_and_write_is_not_followed(home: Home, tmp_path: Path) -> None:
    files.apply(files.plan(home, wanted(home)))
    made = files.plan(home, wanted(home, b"new"))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (home.path / "d").rename(home.path / "old")
    (home.path / "d").symlink_to(elsewhere)
    with pytest.raises(Refused, match="d/f could not be written"):
        files.apply(made)
    assert not any(elsewhere.iterdir())


def test_a_failed_replacement_keeps_the_old_file_and_leaves_no_rest(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.apply(files.plan(home, wanted(home)))

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(Refused, match="No space left"):
        files.apply(files.plan(home, wanted(home, b"new")))
    assert (home.path / "d" / "f").read_bytes() == b"x"
    assert os.listdir(home.path / "d") == ["f"]


def test_two_writers_do_not_meet(home: Home) -> None:
    home.path.mkdir()
    with files.locked(home), pytest.raises(Refused, match="another amap kit"), files.locked(home):
        pass
    with files.locked(home):
        pass
