"""Where a home may lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from kit.errors import Refused
from kit.home import check_home, check_home_exists


def test_an_unborn_and_an_empty_home_pass(tmp_path: Path) -> None:
    unborn = tmp_path / "home"
    assert check_home(str(unborn)).path == unborn
    with pytest.raises(Refused, match="run prepare --apply first"):
        check_home_exists(str(unborn))
    unborn.mkdir()
    assert check_home_exists(str(unborn)).path == unborn


@pytest.mark.parametrize(
    "text",
    [
        "",
        "home",
        "./home",
        "/",
        "//srv/amap",
        "/srv/amap/",
        "/srv//amap",
        "/srv/./amap",
        "/srv/../amap",
        "/srv/a:b",
        "/srv/a b",
        "/srv/a\nb",
        "/srv/a\xa0b",
        "/srv/a\x7f",
    ],
)
def test_a_path_in_another_form_is_refused(text: str) -> None:
    with pytest.raises(Refused, match="the home"):
        check_home(text)


def test_the_parent_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="parent of the home"):
        check_home(str(tmp_path / "none" / "home"))


def test_a_file_and_a_symlink_are_no_home(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(Refused, match="no directory"):
        check_home(str(tmp_path / "file"))
    with pytest.raises(Refused, match="is a symlink"):
        check_home(str(tmp_path / "link"))
    with pytest.raises(Refused, match="through a symlink"):
        check_home(str(tmp_path / "link" / "home"))


def test_a_home_in_or_around_a_checkout_is_refused(tmp_path: Path) -> None:
    checkout = tmp_path / "work" / "checkout"
    checkout.mkdir(parents=True)
    for overlapping in (checkout, checkout / "home", checkout.parent):
        with pytest.raises(Refused, match="overlap"):
            check_home(str(overlapping), [checkout])
    assert check_home(str(tmp_path / "work" / "checkout2"), [checkout])


def test_a_checkout_behind_a_symlink_overlaps_too(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    (tmp_path / "alias").symlink_to(checkout)
    with pytest.raises(Refused, match="overlap"):
        check_home(str(checkout / "home"), [tmp_path / "alias"])


def test_nobody_is_sent_through_a_symlink_into_a_checkout(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    (tmp_path / "alias").symlink_to(checkout)
    for home in (tmp_path / "alias", tmp_path / "alias" / "home"):
        with pytest.raises(Refused, match="overlap"):
            check_home(str(home), [checkout])


def test_the_accounts_own_folder_is_no_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The router's container may read all of the home, and the gateway's keys lie in that folder."""
    own = tmp_path / "people" / "me"
    own.mkdir(parents=True)
    (tmp_path / "alias").symlink_to(own)
    for named in (own, tmp_path / "alias"):
        monkeypatch.setenv("HOME", str(named))
        for home in (own, own.parent):
            with pytest.raises(Refused, match="this account's own folder"):
                check_home(str(home))
        assert check_home(str(own / "amap"))
