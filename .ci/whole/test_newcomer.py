"""README.md, word for word, in an empty folder; as an ordinary user also where the tests run as root.

It takes a fresh clone, a fresh environment and the network of pip, so it stands here and not with the unit tests.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import doc_blocks
import pytest
from rehearsing import CANNOT_ENTER

README = doc_blocks.ROOT / "README.md"
ORDINARY = 12345
"""A uid that nobody has: no entry in the password file, no home of its own."""

KEPT = re.compile(r"PIP_.*|.*_proxy|.*_PROXY|SSL_CERT_.*|REQUESTS_CA_BUNDLE|LANG", re.DOTALL)
INSTALL = 900
REHEARSE = 600
UNIT = 1200
"""Limits in seconds, far above what a machine with nothing else to do needs."""


def shell_blocks() -> list[list[str]]:
    return [block.text.splitlines() for block in doc_blocks.blocks(README) if block.info == ("sh",)]


@dataclass(frozen=True)
class Newcomer:
    """Somebody with an empty folder, an ordinary PATH and a HOME of their own."""

    folder: Path
    repository: Path

    @property
    def checkout(self) -> Path:
        return self.folder / "pytest-amap"

    def types(self, line: str, seconds: float, inside: bool = True) -> subprocess.CompletedProcess[str]:
        identity = (
            ["setpriv", f"--reuid={ORDINARY}", f"--regid={ORDINARY}", "--clear-groups"] if os.geteuid() == 0 else []
        )
        kept = {name: value for name, value in os.environ.items() if KEPT.fullmatch(name)}
        return subprocess.run(
            [*identity, "bash", "-c", line.replace("<repo>", str(self.repository))],
            cwd=self.checkout if inside else self.folder,
            env={**kept, "HOME": str(self.folder), "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=seconds,
            check=False,
        )


@pytest.fixture(scope="module")
def newcomer() -> Iterator[Newcomer]:
    """Not below pytest's own temporary directory, which is closed to anybody else."""
    folder = Path(tempfile.mkdtemp(prefix="newcomer-"))
    repository = folder / "published.git"
    subprocess.run(["git", "clone", "-q", "--bare", doc_blocks.ROOT, repository], check=True)
    if os.geteuid() == 0:
        subprocess.run(["chown", "-R", f"{ORDINARY}:{ORDINARY}", folder], check=True)
    yield Newcomer(folder, repository)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def rehearsed(newcomer: Newcomer) -> subprocess.CompletedProcess[str]:
    """The first two lines: clone, environment, rehearsal."""
    clone, rehearse, _ = shell_blocks()[0]
    cloned = newcomer.types(clone, 120, inside=False)
    assert cloned.returncode == 0, cloned.stdout
    done = newcomer.types(rehearse, INSTALL)
    if CANNOT_ENTER in done.stdout:
        pytest.skip(next(line for line in done.stdout.splitlines() if CANNOT_ENTER in line))
    return done


def test_the_first_line_rehearses_everything_and_ends_with_3(rehearsed: subprocess.CompletedProcess[str]) -> None:
    assert rehearsed.returncode == 3, rehearsed.stdout[-4000:]


def test_its_output_has_the_shape_that_the_readme_shows(rehearsed: subprocess.CompletedProcess[str]) -> None:
    example = next(block.text for block in doc_blocks.blocks(README) if block.info == ("text",))
    rows = [" ".join(line.split()[:2]) for line in example.splitlines() if re.match(r"[A-Z]", line)]
    printed = [
        " ".join(line.split()[:2]) for line in rehearsed.stdout.splitlines() if re.match(r"(PASS|UNKNOWN) ", line)
    ]
    assert printed == rows
    assert example.splitlines()[-1] in rehearsed.stdout


def test_it_says_where_everything_is_and_all_agree(rehearsed: subprocess.CompletedProcess[str]) -> None:
    report = Path(re.search(r"^report: (.*)$", rehearsed.stdout, re.MULTILINE)[1])  # type: ignore[index]
    names = {path.name for path in report.parent.iterdir()}
    assert names >= {"REHEARSAL-REPORT.md", "report.html", "results.json", "statement.json", "SHA256SUMS"}
    results = json.loads((report.parent / "results.json").read_text())["results"]
    head = results["extra"]["head"]
    assert all(head in (report.parent / name).read_text() for name in ("report.html", "statement.json", report.name))
    summed = subprocess.run(["sha256sum", "--quiet", "-c", "SHA256SUMS"], cwd=report.parent, check=False)
    assert summed.returncode == 0


def test_the_second_line_runs_the_unit_tests(newcomer: Newcomer, rehearsed: subprocess.CompletedProcess[str]) -> None:
    done = newcomer.types(shell_blocks()[0][2], UNIT)
    assert done.returncode == 0, done.stdout[-6000:]


SMALLER = {"-k criterion": 3}
"""Everything else under "Smaller runs" ends with 0; pass_criterion_1 is among the criteria."""


@pytest.mark.parametrize("line", shell_blocks()[1])
def test_a_smaller_run(line: str, newcomer: Newcomer, rehearsed: subprocess.CompletedProcess[str]) -> None:
    done = newcomer.types(line, REHEARSE)
    expected = next((code for words, code in SMALLER.items() if words in line), 0)
    assert done.returncode == expected, done.stdout[-4000:]


def test_nothing_was_changed_in_the_checkout(newcomer: Newcomer, rehearsed: subprocess.CompletedProcess[str]) -> None:
    assert newcomer.types("git status --porcelain", 60).stdout == ""
