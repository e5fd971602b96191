"""A canary for an API key, followed through a whole rehearsal: it reaches `sandbox create`, and nothing else."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from rehearsing import CANNOT_ENTER, Rehearsal, rehearse

from pytest_amap.evidence.redaction import Redactor

CANARY = "sk-ant-api03-Canary+Of/A=Key_7Zq9-Wm2x'Lk4vT8bRf6Yh"
KEY = "ANTHROPIC_API_KEY"
CREATE = ("sandbox", "create")
LAUNCHERS = ("world.py", "-m\0pytest")
"""Who is given the key from outside: the launcher, and pytest itself, as on a live host."""

WATCH = """
import json, os, sys

CANARY, LOG = os.environ["CANARY_TO_WATCH"][::-1], os.environ["CANARY_LOG"]


def hear(event, args):
    if event != "subprocess.Popen":
        return
    argv, env = [os.fsdecode(word) for word in args[1]], args[3]
    given = dict(os.environ if env is None else env)
    if any(CANARY in str(value) for value in given.values()) or any(CANARY in word for word in argv):
        with open(LOG, "a") as log:
            log.write(json.dumps({"argv": argv, "names": [n for n, v in given.items() if CANARY in str(v)]}) + "\\n")


sys.addaudithook(hear)
"""


@dataclass
class Holders:
    """Processes of this machine in whose arguments or environment the canary was seen, by command line."""

    arguments: set[str] = field(default_factory=set)
    environment: set[str] = field(default_factory=set)

    def look(self) -> None:
        for place in Path("/proc").iterdir():
            if not place.name.isdigit():
                continue
            with suppress(OSError):
                words = (place / "cmdline").read_bytes().decode(errors="replace")
                if CANARY in words:
                    self.arguments.add(words)
                holds = CANARY.encode() in (place / "environ").read_bytes()
                if holds and words and words == (place / "cmdline").read_bytes().decode(errors="replace"):
                    self.environment.add(words)  # not one that became another program between the two looks


@contextmanager
def watched() -> Iterator[Holders]:
    holders, done = Holders(), threading.Event()

    def watch() -> None:
        while not done.is_set():
            holders.look()
            time.sleep(0.01)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield holders
    finally:
        done.set()
        watcher.join()


@dataclass(frozen=True)
class Followed:
    run: Rehearsal
    folder: Path
    holders: Holders
    children: list[dict[str, list[str]]]
    """Every command that the suite started with the canary in reach."""


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Followed:
    folder = tmp_path_factory.mktemp("canary")
    (folder / "canarywatch.py").write_text(WATCH)
    log = folder / "children.jsonl"
    log.touch()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AMAP_REHEARSAL_API_KEY", CANARY)
        patch.setenv("CANARY_TO_WATCH", CANARY[::-1])
        patch.setenv("CANARY_LOG", str(log))
        patch.setenv("PYTHONPATH", str(folder))
        with watched() as holders:
            pages = (f"--junitxml={folder / 'junit.xml'}", f"--html={folder / 'page.html'}")
            run = rehearse(folder / "home", "-p", "canarywatch", *pages, "--showlocals", "-rA", "-vv")
    if CANNOT_ENTER in run.text:
        pytest.skip(run.tail(3))
    return Followed(run, folder, holders, [json.loads(line) for line in log.read_text().splitlines()])


def test_the_run_with_the_canary_is_complete(followed: Followed) -> None:
    assert followed.run.code in (0, 3), followed.run.tail()
    assert len(followed.run.outcomes) == 12


def test_of_the_suites_children_sandbox_create_alone_has_the_key(followed: Followed) -> None:
    """Nor has any program that another plugin starts: pytest's own environment is without the key meanwhile."""
    commands = [child for child in followed.children if not any("world.py" in word for word in child["argv"])]
    assert len(commands) >= 3, "two members and the probe"
    for child in commands:
        assert child["names"] == [KEY]
        assert tuple(word for word in child["argv"] if word in CREATE)[:2] == CREATE, child["argv"]
    assert not any(CANARY in word for child in followed.children for word in child["argv"])


def test_no_process_of_the_machine_shows_it(followed: Followed) -> None:
    assert followed.holders.arguments == set()
    own = {
        words
        for words in followed.holders.environment
        if not any(launcher in words for launcher in LAUNCHERS) and "\0".join(CREATE) not in words
    }
    assert own == set()


def test_no_written_file_and_no_output_holds_it_in_any_form(followed: Followed) -> None:
    """The gateway stand-in's own state apart, where OpenShell's real one keeps its providers, too."""
    hidden = Redactor({KEY: CANARY})
    files = [path for path in followed.folder.rglob("*") if path.is_file() and not path.is_symlink()]
    found = {str(path.relative_to(followed.folder)) for path in files if KEY in hidden.leaks(path.read_bytes())}
    assert {name for name in found if not name.startswith("home.host/state/")} == set()
    assert hidden.leaks(followed.run.text.encode()) == []
