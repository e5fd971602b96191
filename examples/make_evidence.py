"""Make examples/evidence anew: one sealed rehearsal run of today's suite.

usage: python examples/make_evidence.py

Rehearses in a new temporary home, verifies the run, looks for anything that names this machine, and only then puts the
run in place of the one that is there. Takes as long as a rehearsal; needs what a rehearsal needs.
"""

from __future__ import annotations

import getpass
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from pytest_amap.evidence import verify
from pytest_amap.evidence.recorded import RecordedRun, read_run

CHECKOUT = Path(__file__).resolve().parents[1]
EXAMPLE = CHECKOUT / "examples" / "evidence"
COMPLETE = (0, 3)
"""pytest's exit codes of a run in which every step completed."""


def main() -> int:
    folder = Path(tempfile.gettempdir()) / "amap-example"
    try:
        folder.mkdir(mode=0o755)
    except FileExistsError:
        return refuse([f"{folder} is there already: remove it, or wait for the one who made it"])
    try:
        return make(folder / "home")
    finally:
        shutil.rmtree(folder)


def make(home: Path) -> int:
    options = ("--apply", "--rehearsal", "--amap-home", str(home), "-q")
    code = subprocess.run((sys.executable, "-m", "pytest", "tests_live", *options), cwd=CHECKOUT).returncode
    if code not in COMPLETE:
        return refuse([f"expected a complete rehearsal, saw exit code {code}"])
    run = read_run(home / "evidence")
    problems = verify.problems(run.root) + names_of_this_machine(run)
    if problems:
        return refuse(problems)
    replace(run)
    print(f"{EXAMPLE.relative_to(CHECKOUT)} holds run {run.run}, {size(EXAMPLE) >> 10} KiB")
    return 0


def refuse(problems: list[str]) -> int:
    print("no example was made:", *problems, sep="\n  ", file=sys.stderr)
    return 1


def files_of(run: RecordedRun) -> list[Path]:
    return [run.root / record.path for record in run.records] + sorted(run.folder.iterdir())


def names_of_this_machine(run: RecordedRun) -> list[str]:
    """Where the files name a path, the host or the user of this machine; kernel and distribution are facts and stay.

    The temporary home may stand there: a sandbox's mount table shows where its binds come from.
    """
    names = {str(CHECKOUT), str(Path.home()), platform.node(), os.path.dirname(sys.executable)}
    if getpass.getuser() != "root":
        names.add(getpass.getuser())
    either = b"|".join(re.escape(name.encode()) for name in names if len(name) > 2)
    words = re.compile(rb"(?<![\w.-])(?:" + either + rb")(?![\w-])")
    found = []
    for path in files_of(run):
        found += [f"{path.name} names {match[0].decode()}" for match in words.finditer(path.read_bytes())]
    return sorted(set(found))


def replace(run: RecordedRun) -> None:
    """Put the run's files where the example is; `latest` is a line, since not every system has symlinks."""
    shutil.rmtree(EXAMPLE, ignore_errors=True)
    for path in files_of(run):
        target = EXAMPLE / path.relative_to(run.root)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    (EXAMPLE / "latest").write_text(f"runs/{run.run}\n")


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


if __name__ == "__main__":
    sys.exit(main())
