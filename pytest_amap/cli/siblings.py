"""`amap siblings [--apply]`: the sibling checkouts beside this one, at the commits of kit/siblings.json."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kit import siblings
from kit.errors import Refused
from kit.siblings import KINDS, Pin
from pytest_amap.cli.main import checkout
from pytest_amap.host import process

SECONDS = 600.0
MOVED_BY = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE")
"""Variables that would make git speak of another repository than the directory's own."""


@dataclass(frozen=True)
class Place:
    """Where a sibling is wanted, and the commit that is there; None where nothing is."""

    pin: Pin
    path: Path
    head: str | None

    @property
    def settled(self) -> bool:
        return self.head is not None and self.head == self.pin.commit

    def told(self) -> str:
        """What --apply does here, in a line."""
        wanted = f"at {self.pin.commit}" if self.pin.commit else "at its default branch"
        if self.head is None:
            return f"would clone {self.path} from {self.pin.url} {wanted}"
        if self.settled:
            return f"present {self.path} {wanted}"
        return f"would fetch {self.path}, now at {self.head}, to be {wanted}"


def main(argv: Sequence[str] | None = None) -> int:
    """Tell what would be done, or do it: 0 done, 1 refused with one sentence and before anything is done."""
    parser = argparse.ArgumentParser(
        prog="amap siblings", description="Clone or fetch the sibling checkouts at the commits of kit/siblings.json."
    )
    parser.add_argument("--apply", action="store_true", help="do it; without it nothing is changed")
    apply = parser.parse_args(argv).apply
    try:
        places = [look(pin, place_of(pin)) for pin in siblings.load_pins()]
        for place in places:
            print(bring(place) if apply else place.told())
    except Refused as reason:
        print(f"amap siblings: {reason}", file=sys.stderr)
        return 1
    if not apply:
        print("Nothing was changed; --apply does it.")
    return 0


def place_of(pin: Pin) -> Path:
    """The sibling's own variable where it is set, else beside this checkout."""
    kind = next((kind for kind in KINDS.values() if pin.name in kind.directories), None)
    stated = os.environ.get(kind.variable) if kind else None
    return Path(os.path.abspath(stated)) if stated else checkout().parent / pin.name


def look(pin: Pin, path: Path) -> Place:
    """What stands there; Refused where it is no clean checkout of this sibling's own."""
    if not os.path.lexists(path):
        return Place(pin, path, None)
    if not path.is_dir():
        raise Refused(f"{path} is no directory: move it away")
    top = answer(path, "rev-parse", "--show-toplevel")
    if top is None or Path(top).resolve() != path.resolve():
        raise Refused(f"{path} is no git checkout of its own: move it away")
    origin = answer(path, "remote", "get-url", "origin") or "none"
    if repository(origin) != repository(pin.url):
        raise Refused(f"{path} is a checkout of another origin ({origin}), expected {pin.url}: move it away")
    changes = answer(path, "status", "--porcelain", "--untracked-files=normal")
    if changes is None or changes:
        raise Refused(f"{path} has local changes: commit them elsewhere or remove them")
    return Place(pin, path, answer(path, "rev-parse", "HEAD"))


def repository(url: str) -> tuple[str, ...]:
    """Owner and name, the same for https and ssh addresses."""
    return tuple(re.split(r"[/:]", url.rstrip("/").removesuffix(".git"))[-2:])


def bring(place: Place) -> str:
    """Clone or fetch, check out, and look whether it is there; what was done, in a line."""
    pin, path = place.pin, place.path
    if place.settled:
        return f"present {path} at {pin.commit}"
    if place.head is None:
        git(path.parent, ("clone", "--quiet", pin.url, os.fspath(path)))
    elif pin.commit:
        git(path, ("fetch", "--quiet", "origin"))
    else:
        git(path, ("pull", "--quiet", "--ff-only"))
    if pin.commit:
        git(path, ("checkout", "--quiet", "--detach", pin.commit))
    head = answer(path, "rev-parse", "HEAD")
    if head is None or head != (pin.commit or head):
        raise Refused(f"{path} is at {head}, expected {pin.commit}: look at it by hand")
    if head == place.head:
        return f"present {path} at {head}"
    return f"{'cloned' if place.head is None else 'fetched'} {path} at {head}"


def answer(path: Path, *words: str) -> str | None:
    """What git says there, or None; only words that change nothing."""
    done = run(path, ("--no-optional-locks", *words))
    return done.stdout.decode("utf-8", "replace").strip() if done.exit == 0 else None


def git(path: Path, words: Iterable[str]) -> None:
    """A git command that changes something; Refused with what it said."""
    done = run(path, words)
    if done.exit == 0:
        return
    said = " ".join(done.stderr.decode("utf-8", "replace").split())[:300]
    ended = f"did not end within {SECONDS:.0f} s" if done.timed_out else f"failed: {said}"
    raise Refused(f"git {' '.join(words)} in {path} {ended}; mend that and run it again")


def run(path: Path, words: Iterable[str]) -> process.Finished:
    environ = {name: value for name, value in process.child_environment(os.environ).items() if name not in MOVED_BY}
    argv = ("git", "-C", os.fspath(path), *words)
    return process.run(argv, cwd=os.getcwd(), env=environ | {"GIT_TERMINAL_PROMPT": "0"}, timeout=SECONDS)
