"""What stops the kit on its way, a blow, a full disk, a closed folder: nothing is torn, and the next run ends it."""

from __future__ import annotations

import os
import runpy
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from kit_bench import GID, REPOSITORY, UID, Stage, Terminal, operator_prefix, tree

from kit import cli, files


@pytest.fixture
def terminal(tmp_path: Path, connector: Path) -> Terminal:
    return Terminal(tmp_path, connector)


def drafts(home: Path) -> list[Path]:
    return [path for path in home.rglob(".*") if path.name.endswith(".tmp")]


def killed_at(stage: Stage, call: str, time: int) -> None:
    """`prepare --apply` in a child that dies by SIGKILL in the given call of an os function."""
    child = os.fork()
    if child:
        assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
        return
    real, left = getattr(os, call), iter(range(time, 0, -1))

    def last(*args: object, **more: object) -> object:
        if next(left) == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*args, **more)

    setattr(files.os, call, last)
    cli.main([*stage.words("prepare"), "--apply"])
    os._exit(0)


@pytest.mark.parametrize(
    ("call", "time"), [("mkdir", 1), ("mkdir", 9), ("fchmod", 1), ("fchmod", 40), ("replace", 1), ("replace", 14)]
)
def test_a_killed_writer_leaves_nothing_that_the_next_one_does_not_end(stage: Stage, call: str, time: int) -> None:
    whole = {name: row[0] for name, row in tree(stage.home).items()}
    stage.home.rename(stage.folder / "before")
    killed_at(stage, call, time)
    stage.capsys.readouterr()
    assert cli.main([*stage.words("prepare"), "--apply"]) == 0
    assert "created " in stage.capsys.readouterr().out
    assert not drafts(stage.home)
    made = {name: row[0] for name, row in tree(stage.home).items()}
    assert made.items() <= whole.items()
    assert cli.main(stage.words("prepare")) == 0
    assert "would" not in stage.capsys.readouterr().out


def test_a_full_disk_is_one_sentence_and_the_next_run_ends_it(terminal: Terminal) -> None:
    """A limit of the system stands for the disk: no file may be longer than the fleet's, so the payload fails."""
    limited = [*operator_prefix(), "prlimit", "--fsize=600"]
    result = terminal.prepare("--apply", prefix=limited)
    assert (result.returncode, result.stdout) == (1, "")
    assert "payload/amap-main could not be written (File too large): mend that and run it again" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not drafts(terminal.home)
    assert not (terminal.home / "payload" / "amap-main").exists()
    assert terminal.prepare("--apply").returncode == 0
    assert terminal.prepare().stdout.count("would") == 0


def test_a_home_that_cannot_be_made_is_refused_before_the_plan_is_told(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o555)
    before = tree(tmp_path)
    for more in ((), ("--apply",)):
        result = terminal.prepare(*more, home=str(tmp_path / "closed" / "home"))
        assert (result.returncode, result.stdout) == (1, "")
        assert "closed is not this account's to write: have the home " in result.stderr
        assert tree(tmp_path) == before


def test_what_is_closed_to_this_account_is_one_sentence(terminal: Terminal, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    for place, said in ((closed, "is closed to this account: "), (closed / "home", "(Permission denied): ")):
        result = terminal.prepare(home=str(place))
        assert (result.returncode, result.stdout, len(result.stderr.splitlines())) == (1, "", 1)
        assert f"the home {place} " in result.stderr
        assert said in result.stderr
    terminal.environment = {**terminal.environment, "AMAP_SPEC_DIR": str(closed)}
    result = terminal.prepare()
    assert (result.returncode, result.stdout, len(result.stderr.splitlines())) == (1, "", 1)
    assert f"AMAP_SPEC_DIR is {closed}, where this account sees no fixtures/validate.py: " in result.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_lines_that_cannot_be_printed_are_one_sentence(terminal: Terminal) -> None:
    words = ["--home", str(terminal.home), "--fleet", "examples/fleet.json", "--run-as", f"{UID}:{GID}", "--image", "i"]
    argv = [*operator_prefix(), sys.executable, "-m", "kit", "prepare", *words]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            argv, cwd=REPOSITORY, env=terminal.environment, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 1
    assert done.stderr.startswith("amap kit prepare: its lines could not be printed (No space left on device)")
    assert len(done.stderr.splitlines()) == 1


def test_an_interrupt_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt() -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "main", interrupt)
    with pytest.raises(SystemExit, match="amap kit: interrupted; run it again"):
        runpy.run_path(str(REPOSITORY / "kit" / "__main__.py"), run_name="__main__")


def test_every_directory_that_got_an_entry_is_written_to_disk(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: set[str] = set()
    monkeypatch.setattr(files.os, "fsync", lambda handle: synced.add(os.readlink(f"/proc/self/fd/{handle}")))
    stage.home.rename(stage.folder / "before")
    assert cli.main([*stage.words("prepare"), "--apply"]) == 0
    made = [stage.home, *stage.home.rglob("*")]
    assert {os.fspath(path.parent.resolve()) for path in made} <= synced
