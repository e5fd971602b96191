"""`amap siblings [--apply]`: the sibling checkouts beside this one, at the commits of kit/siblings.json."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from kit import siblings
from kit.errors import Refused, one_line
from kit.siblings import KINDS, Pin
from pytest_amap.cli.main import checkout
from pytest_amap.host import git, process

SECONDS = 600.0
UNASKED = {"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "", "SSH_ASKPASS_REQUIRE": "never"}
"""Nobody is asked for a password, neither in the terminal nor in a window."""

WANTED = "refs/amap/wanted"
"""Holds the commit that was checked out last, so that what no branch of the person's holds is known to be ours."""

STARTED = r"^(filter\..*|core\.(sshcommand|gitproxy|alternaterefscommand)|credential\..*|remote\..*\.(uploadpack|vcs))$"
"""Settings that name programs which status, fetch or checkout would start."""

NO_MATCH = 1
"""How `git config --get-regexp` ends where no setting matches."""


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
        prog="amap siblings",
        description="Clone or fetch the sibling checkouts at the commits of kit/siblings.json.",
        allow_abbrev=False,
    )
    parser.add_argument("--apply", action="store_true", help="do it; without it nothing is changed")
    apply = parser.parse_args(argv).apply
    try:
        if shutil.which("git") is None:
            raise Refused("git is not on PATH: install it")
        places = [look(name, pin) for name, pin in siblings.load_pins().items()]
        for place in places:
            print(one_line(bring(place) if apply else place.told()), flush=True)
    except Refused as reason:
        print(f"amap siblings: {one_line(str(reason))}", file=sys.stderr)
        return 1
    if not apply:
        print("Nothing was changed; --apply does it.")
    return 0


def place_of(name: str, pin: Pin) -> Path:
    """Where step 0 looks for it: the sibling's own variable, else what lies beside; where neither is, beside."""
    stated = os.environ.get(KINDS[name].variable)
    if stated:
        return Path(os.path.abspath(stated))
    return siblings.beside(name, checkout()) or checkout().parent / pin.name


def look(name: str, pin: Pin) -> Place:
    """What stands there; Refused where it is no clean checkout of this sibling's own, or could not be made."""
    path, otherwise = place_of(name, pin), f"move it away, or name another place in {KINDS[name].variable}"
    if not os.path.lexists(path):
        if not os.access(path.parent, os.W_OK | os.X_OK):
            raise Refused(f"{path.parent} is no directory that can be written: make it one for {path.name}")
        return Place(pin, path, None)
    if not path.is_dir():
        raise Refused(f"{path} is no directory: {otherwise}")
    top = run(path, "rev-parse", "--show-toplevel")
    if top.exit != 0 or Path(text(top.stdout)).resolve() != path.resolve():
        raise Refused(f"{path} is no git checkout of its own{said(top)}; {otherwise}")
    if started := programs(path):
        raise Refused(f"{path} names programs in its own git configuration ({', '.join(started)}): {otherwise}")
    origin = repository(text(run(path, "remote", "get-url", "origin").stdout))
    if not origin or origin != repository(text(run(path.parent, "ls-remote", "--get-url", pin.url).stdout)):
        seen = "/".join(origin).rpartition("@")[2] or "none"  # a mistyped address has its password in the path
        raise Refused(f"{path} has another origin ({seen}), expected {pin.url}: {otherwise}")
    changes = run(path, *git.CHANGES)
    if changes.exit != 0 or changes.stdout.strip():
        raise Refused(f"{path} has local changes{said(changes)}; commit them elsewhere or remove them")
    head = run(path, "rev-parse", "--verify", "--quiet", "HEAD")
    if head.exit != 0:
        raise Refused(f"{path} has no commit checked out, as after a clone that was cut off: {otherwise}")
    place = Place(pin, path, text(head.stdout))
    if not place.settled:
        refuse_loose(place)
    return place


def programs(path: Path) -> list[str]:
    """The settings of this checkout alone that name programs."""
    shown = run(path, "config", "--show-scope", "--name-only", "--get-regexp", STARTED)
    if shown.exit not in (0, NO_MATCH):
        raise Refused(f"the git configuration of {path} could not be read{said(shown)}; git 2.26 or later is needed")
    lines = [line.split("\t", 1) for line in text(shown.stdout).splitlines()]
    return sorted({line[-1] for line in lines if line[0] in ("local", "worktree")})


def repository(url: str) -> tuple[str, ...]:
    """Host and path, the same for https and ssh addresses; without user and password, which it may hold."""
    short = re.fullmatch(r"(?:[^/@]+@)?([^/:]+):(?!//)(.*)", url)
    try:
        parts = urlsplit(url)
        host, path = short.groups() if short else (parts.hostname or "", parts.path)
    except ValueError:
        return ("unreadable",)
    found = (host.lower(), path.strip("/").removesuffix(".git").rstrip("/"))
    return tuple(filter(None, found))


def refuse_loose(place: Place) -> None:
    """Refused where a move to another commit would leave commits that nothing holds."""
    holders = ("--branches", "--tags", "--remotes", "--glob=refs/amap")
    loose = run(place.path, "rev-list", "--max-count=1", "HEAD", "--not", *holders)
    if loose.exit != 0 or loose.stdout:
        raise Refused(f"{place.path} is at {place.head}, which no branch holds: keep it with git branch NAME")


def bring(place: Place) -> str:
    """Clone or fetch, check out, and look whether it is there; what was done, in a line."""
    if place.settled:
        return f"present {place.path} at {place.head}"
    if place.head is None:
        return f"cloned {place.path} at {clone(place)}"
    head = fetch(place)
    return f"{'present' if head == place.head else 'fetched'} {place.path} at {head}"


def clone(place: Place) -> str:
    """Beside its place and then moved there, whole: one that is cut off is in nobody's way."""
    with tempfile.TemporaryDirectory(prefix=f".{place.path.name}.", dir=place.path.parent) as folder:
        made = Path(folder) / place.path.name
        change(place.path.parent, "clone", "--quiet", place.pin.url, os.fspath(made))
        head = fetch(Place(place.pin, made, None)) if place.pin.commit else commit_at(made)
        try:
            made.rename(place.path)
        except OSError as error:
            raise Refused(f"{place.path} could not be put there ({error.strerror}): look at it by hand") from error
    return head


def fetch(place: Place) -> str:
    """Bring the checkout to its pin, or to the default branch of its origin, detached: no branch is moved."""
    path, commit = place.path, place.pin.commit
    if commit and run(path, "cat-file", "-e", f"{commit}^{{commit}}").exit == 0:
        change(path, "update-ref", WANTED, commit)
    else:
        change(path, "fetch", "--quiet", "origin", f"+{commit or 'HEAD'}:{WANTED}")
    wanted = text(run(path, "rev-parse", WANTED).stdout)
    if wanted != place.head:
        change(path, "checkout", "--quiet", "--no-overwrite-ignore", "--detach", wanted)
    head = commit_at(path)
    if head != (commit or wanted):
        raise Refused(f"{path} is at {head}, expected {commit or wanted}: look at it by hand")
    return head


def commit_at(path: Path) -> str:
    return text(run(path, "rev-parse", "HEAD").stdout)


def change(path: Path, *words: str) -> None:
    """A git command that changes something; Refused with what it said.

    Whatever the person's umask is: the router's image is built from these files, and its account must read them.
    """
    umask = os.umask(0o022)
    try:
        done = run(path, *words)
    finally:
        os.umask(umask)
    if done.exit != 0:
        ended = f"did not end within {SECONDS:.0f} s" if done.timed_out else f"failed{said(done)}"
        raise Refused(f"git {' '.join(words)} in {path} {ended}; mend that and run it again")


def run(path: Path, *words: str) -> process.Finished:
    environ = process.child_environment(os.environ) | UNASKED
    return process.run(git.argv(path, *words), cwd=os.getcwd(), env=environ, timeout=SECONDS)


def said(done: process.Finished) -> str:
    """What git complained of, behind a colon and in one line; it shows an address with the password in it."""
    words = re.sub(r"(?<=://)\S*@", "", " ".join(text(done.stderr).split()))[:300]
    return f": {words}" if words else ""


def text(stream: bytes) -> str:
    return stream.decode("utf-8", "surrogateescape").strip()
