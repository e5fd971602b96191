"""What a hostile or hurried operator gave the kit: each is refused with one printable sentence, and nothing changes."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from kit import cli, files, membership, names, prepare, profile, record, siblings
from kit.errors import Refused
from kit.files import Wanted
from kit.home import Home, check_home
from kit.names import RunAs

CALLER = RunAs(os.geteuid() or 1000, os.getegid() or 1000)


@pytest.fixture
def prepared(home: Home, connector: Path, fleet_file: Path) -> Home:
    made = prepare.plan(home, fleet_file, run_as=CALLER, caller=CALLER, image="image", connector=connector)
    files.apply(made)
    return home


@pytest.fixture
def operator(monkeypatch: pytest.MonkeyPatch, connector: Path) -> None:
    """The command line in this process, as an ordinary user."""
    monkeypatch.setenv("AMAP_CONNECTOR_REPO", str(connector))
    monkeypatch.setattr(cli, "_caller", lambda: CALLER)


def words(home: Path, fleet: Path, **more: str) -> list[str]:
    given = {"home": str(home), "fleet": str(fleet), "run-as": str(CALLER), "image": "image", **more}
    return ["prepare", *(f"--{name}={value}" for name, value in given.items()), "--apply"]


def refusal(capsys: pytest.CaptureFixture[str], argv: list[str]) -> str:
    assert cli.main(argv) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.rstrip("\n").isprintable()
    return err


@pytest.mark.usefixtures("operator")
@pytest.mark.parametrize(
    ("option", "value"), [("run-as", "9" * 5000 + ":1"), ("image", "-x"), ("image", "--rm"), ("run-as", "01:1")]
)
def test_options(home: Home, fleet_file: Path, option: str, value: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"--{option} is" in refusal(capsys, words(home.path, fleet_file, **{option: value}))
    assert not home.path.exists()


@pytest.mark.usefixtures("operator")
@pytest.mark.parametrize(
    "change",
    [
        {"version": 1.0},
        {"unk\nown": 1},
        {"\ud800": 1},
        {"\x1b[31mred": 1},
        {"task_deny": [["alpha", "betta"]]},
        {"task_graph": "ALL", "task_deny": [["alpha", "beta"]]},
    ],
)
def test_fleets(
    home: Home, fleet_file: Path, tmp_path: Path, change: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "mine.json"
    mine.write_text(json.dumps(json.loads(fleet_file.read_text()) | change))
    refusal(capsys, words(home.path, mine))
    assert not home.path.exists()


@pytest.mark.usefixtures("operator")
def test_a_fleet_whose_name_holds_a_line_break(home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert r"no\npe.json cannot be read" in refusal(capsys, words(home.path, tmp_path / "no\npe.json"))


@pytest.mark.usefixtures("operator")
def test_a_stranger_in_the_payload_is_told_in_one_printable_line(
    prepared: Home, fleet_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (prepared.payload / "a\nb").touch()
    (prepared.payload / os.fsdecode(b"\xff")).touch()
    assert cli.main(words(prepared.path, fleet_file)) == 0
    out = capsys.readouterr().out
    assert r"warning: unexpected payload/a\nb, which" in out
    assert r"warning: unexpected payload/\udcff, which" in out


@pytest.mark.parametrize("moved", ["instances", "instances/alpha", "instances/alpha/peer/notices", "fleet.json"])
def test_record_follows_no_symlink(prepared: Home, tmp_path: Path, moved: str) -> None:
    (prepared.path / moved).rename(tmp_path / "elsewhere")
    (prepared.path / moved).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Refused, match=r"symlink|no regular file"):
        record.plan(prepared, "alpha", "id-1")


def test_record_names_the_lanes_that_are_not_there(prepared: Home) -> None:
    (prepared.lane("alpha", "peer") / "notices").rmdir()
    with pytest.raises(Refused, match="these lanes are not there: instances/alpha/peer/notices; run prepare"):
        record.plan(prepared, "alpha", "id-1")


def test_membership_of_another_number_type() -> None:
    with pytest.raises(Refused, match="must hold version 1"):
        membership.parse(b'{"version": 1.0, "members": []}', "membership.json")


def test_the_root_directory_is_no_binary(repository: Path) -> None:
    template = profile.load(repository / "providers" / "amap-claude-code.json")
    with pytest.raises(Refused, match="--binary is '/'"):
        profile.render(template, ["/"])


@pytest.mark.parametrize("ports", [{"start": 1, "end": 65535}, "1-65535", 80, [443, {"start": 1}], [[1]], [443, 0]])
def test_no_way_to_write_further_ports_is_overlooked(repository: Path, ports: object) -> None:
    ours = profile.render(profile.load(repository / "providers" / "amap-claude-code.json"), ["/usr/bin/node"])
    theirs = {**ours, "endpoints": [{**ours["endpoints"][0], "ports": ports}]}
    assert profile.same(ours, theirs)


def test_a_home_in_a_checkout_beside_is_refused_though_a_variable_names_another(tmp_path: Path) -> None:
    for place in ("beside/amap-spec", "stated"):
        (tmp_path / place / "fixtures").mkdir(parents=True)
        (tmp_path / place / "fixtures" / "validate.py").touch()
    environ = {"AMAP_SPEC_DIR": str(tmp_path / "stated")}
    avoid = [one.path for one in siblings.found(environ, tmp_path / "beside" / "pytest-amap")]
    for place in ("beside/amap-spec", "stated"):
        with pytest.raises(Refused, match="overlap"):
            check_home(str(tmp_path / place / "home"), avoid)


@pytest.mark.usefixtures("operator")
def test_an_installed_kit_takes_the_current_directory_for_no_checkout(
    home: Home, fleet_file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cli, "__file__", str(tmp_path / "site-packages" / "kit" / "cli.py"))
    assert cli.main(words(home.path, fleet_file)) == 0
    home.providers.mkdir()
    monkeypatch.chdir(home.path)
    assert cli.main(["record", "--home", str(home.path), "alpha", "an-id"]) == 0


def test_a_umask_that_takes_all_takes_nothing(home: Home) -> None:
    umask = os.umask(0o777)
    try:
        files.apply(files.plan(home, [Wanted(home.path, 0o755), Wanted(home.path / "d", 0o700)]))
        assert os.umask(0o777) == 0o777
    finally:
        os.umask(umask)
    assert (home.path / "d").stat().st_mode & 0o777 == 0o700


def test_of_four_that_make_the_home_one_goes_on(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "umask", lambda mask: mask)  # one for the whole process, and these are threads
    wanted = [Wanted(home.path, 0o755), *(Wanted(home.path / f"d{number}", 0o755) for number in range(200))]
    plans, start, refused = [files.plan(home, wanted) for _ in range(4)], threading.Barrier(4), []

    def write(made: files.Plan) -> None:
        start.wait()
        try:
            files.apply(made)
        except Refused as reason:
            refused.append(str(reason))

    writers = [threading.Thread(target=write, args=(made,)) for made in plans]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len(refused) == 3
    assert set(refused) == {f"{home.path} was made by somebody else just now: run it again"}
    assert files.plan(home, wanted).done


def test_a_home_being_made_is_held(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def look(place: Home, item: files.Item) -> None:
        with pytest.raises(Refused, match="another amap kit"), files.locked(place):
            pass
        seen.append(item.name)

    monkeypatch.setattr(files, "_write", look)
    files.apply(files.plan(home, [Wanted(home.path, 0o755), Wanted(home.path / "d", 0o755)]))
    assert seen == ["d"]


@pytest.mark.usefixtures("operator")
def test_a_home_that_appears_after_the_lock_was_asked_is_not_written(
    home: Home, fleet_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    planned = prepare.plan

    def late(place: Home, *args: Any, **more: Any) -> files.Plan:
        place.path.mkdir()
        return planned(place, *args, **more)

    monkeypatch.setattr(prepare, "plan", late)
    assert "was made by somebody else just now" in refusal(capsys, words(home.path, fleet_file))
    assert not os.listdir(home.path)


def test_a_name_is_a_member_only_by_its_own_limit() -> None:
    assert names.check_member("a" * 19, "here") == "a" * 19
    with pytest.raises(Refused):
        names.check_member("a" * 20, "here")
