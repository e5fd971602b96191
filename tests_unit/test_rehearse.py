"""Where a rehearsal's home is: what cannot be one is wrong usage in one sentence, before any world is made."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_amap.session import rehearse


def test_a_home_that_is_a_file_is_wrong_usage(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(pytest.UsageError, match="is no directory; name a new one, or the home of a rehearsal"):
        rehearse.named_home(str(file))
    assert rehearse.named_home(f"{tmp_path}/new/../home") == tmp_path / "home"


def test_a_directory_of_other_things_is_no_home(tmp_path: Path) -> None:
    """A home's mode is put right: done as root to a shared directory, that closes it to everybody else."""
    with pytest.raises(pytest.UsageError, match="/ holds other things"):
        rehearse.named_home("/")
    home = tmp_path / "home"
    home.mkdir()
    assert rehearse.named_home(str(home)) == home
    (home / "notes.txt").touch()
    with pytest.raises(pytest.UsageError, match="holds other things; name a new one"):
        rehearse.named_home(str(home))


@pytest.mark.parametrize("mark", [".amap-host", ".amap.lock", "fleet.json"])
def test_what_bears_a_homes_mark_is_a_home(tmp_path: Path, mark: str) -> None:
    (tmp_path / mark).touch()
    (tmp_path / "notes.txt").touch()
    assert rehearse.named_home(str(tmp_path)) == tmp_path


def test_a_state_directory_that_cannot_be_made_is_wrong_usage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with pytest.raises(pytest.UsageError, match=r"cannot be made \(Not a directory\); name a home with --amap-home"):
        rehearse.fresh_home()


@pytest.mark.parametrize("stated", ["", "relative/state"])
def test_a_state_directory_is_absolute_or_not_stated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stated: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", stated)
    assert rehearse.fresh_home() == tmp_path / ".local" / "state" / "pytest-amap" / "rehearsal-1"


def test_each_home_is_a_new_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    first = rehearse.fresh_home()
    Path(f"{first}.host").mkdir()
    assert rehearse.fresh_home() == first.with_name("rehearsal-2")
