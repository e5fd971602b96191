"""Every path below AMAP_OPENSHELL_HOME, and where that directory may lie."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from kit.errors import Refused, shown

PROFILE_ID = "amap-claude-code"
LENGTH = 1024
"""How many bytes the home's path may have; what lies below it must stay within the system's 4096."""


@dataclass(frozen=True)
class Home:
    """Names the paths of one home; nothing here touches the disk."""

    path: Path

    @property
    def payload(self) -> Path:
        return self.path / "payload"

    @property
    def payload_manifest(self) -> Path:
        return self.path / "payload.sha256"

    @property
    def roster(self) -> Path:
        return self.path / "roster"

    @property
    def policies(self) -> Path:
        return self.path / "policies"

    @property
    def commands(self) -> Path:
        return self.path / "commands"

    @property
    def fleet(self) -> Path:
        return self.path / "fleet.json"

    @property
    def gateway_fragment(self) -> Path:
        return self.path / "gateway-fragment.toml"

    @property
    def instances(self) -> Path:
        return self.path / "instances"

    @property
    def providers(self) -> Path:
        return self.path / "providers"

    @property
    def profile(self) -> Path:
        return self.providers / f"{PROFILE_ID}.json"

    @property
    def membership(self) -> Path:
        return self.path / "membership.json"

    @property
    def router_state(self) -> Path:
        return self.path / "router-state"

    @property
    def router(self) -> Path:
        return self.path / "router.json"

    @property
    def selected(self) -> Path:
        return self.path / "selected.json"

    @property
    def evidence(self) -> Path:
        return self.path / "evidence"

    def policy(self, name: str) -> Path:
        return self.policies / f"{name}.yaml"

    def command(self, name: str) -> Path:
        return self.commands / f"create-{name}.sh"

    def lane(self, name: str, lane: str) -> Path:
        return self.instances / name / lane


def check_home(path: str, avoid: Iterable[Path] = ()) -> Home:
    """The home at `path`, absent or a real directory; Refused when it may not lie there.

    The text must be absolute and normalised, without white space, control characters, ":" or "," (Docker's volume
    and mount syntax split there), and may not pass through a symlink: OpenShell takes bind sources as given while the
    container runtime reports them resolved. It may neither lie in nor contain a directory of `avoid`, by name or by
    real path, nor contain the account's own folder, all of which the router's container could read; and it may lie in
    no git checkout at all, whose cleaning would take the lanes away.
    """
    _check_text(path)
    for other in avoid:
        _check_apart(path, os.path.abspath(other))
    _check_way(path)
    _check_not_around(path, os.path.realpath(os.path.expanduser("~")))
    _check_no_repository(Path(path))
    return Home(Path(path))


def check_home_exists(path: str) -> Home:
    """The home at `path`, which `prepare --apply` has made before."""
    home = check_home(path)
    if not home.path.is_dir():
        raise Refused(f"{path} does not exist: run prepare --apply first")
    return home


def _check_text(path: str) -> None:
    remedy = "give the absolute path of a directory of its own, such as /srv/amap"
    if len(os.fsencode(path)) > LENGTH:
        raise Refused(f"the home {shown(path)} has more than {LENGTH} bytes: {remedy}")
    if not os.path.isabs(path):
        raise Refused(f"the home {path!r} is not absolute: {remedy}")
    if os.path.normpath(path) != path or path.startswith("//"):
        raise Refused(f"the home {path!r} is not in normal form (no final /, no //, no . or ..): {remedy}")
    if path == "/":
        raise Refused(f"the home may not be /: {remedy}")
    if ":" in path or "," in path or not path.isprintable() or any(character.isspace() for character in path):
        raise Refused(f"the home {path!r} holds a colon, a comma, white space or a control character: {remedy}")


def _check_way(path: str) -> None:
    parent = os.path.dirname(path)
    if not os.path.isdir(parent):
        raise Refused(f"{parent}, the parent of the home, is no directory: make it first")
    try:
        mode, there = os.lstat(path).st_mode, True
    except FileNotFoundError:
        mode, there = stat.S_IFDIR, False
    except OSError as error:
        raise Refused(f"the home {path} cannot be looked at ({error.strerror}): give another path") from error
    if stat.S_ISLNK(mode):
        raise Refused(f"the home {path} is a symlink: give the real path {os.path.realpath(path)}")
    if not stat.S_ISDIR(mode):
        raise Refused(f"the home {path} is no directory: give another path, or move that file away")
    if os.path.realpath(path) != path:
        raise Refused(f"the home {path} passes through a symlink: give the real path {os.path.realpath(path)}")
    if there and not os.access(path, os.X_OK):
        raise Refused(f"the home {path} is closed to this account: give it to this account, or give another path")
    if not there and not os.access(parent, os.W_OK | os.X_OK):
        raise Refused(f"{parent} is not this account's to write: have the home {path} made and given to this account")


def _check_apart(path: str, other: str) -> None:
    for one in (path, os.path.realpath(path)):
        for two in (other, os.path.realpath(other)):
            if os.path.commonpath((one, two)) in (one, two):
                raise Refused(
                    f"the home {path} and the checkout {other} overlap: give a home outside of every checkout"
                )


def _check_not_around(path: str, own: str) -> None:
    if os.path.commonpath((path, own)) == path:
        raise Refused(f"the home {path} holds {own}, this account's own folder: give a directory of its own")


def _check_no_repository(path: Path) -> None:
    for place in (path, *path.parents):
        bare = all(os.path.lexists(place / name) for name in ("HEAD", "objects", "refs"))
        if bare or os.path.lexists(place / ".git"):
            raise Refused(f"the home {path} lies in the git checkout {place}: give a home outside of every checkout")
