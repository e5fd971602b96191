"""How git is asked about a checkout that somebody else filled. Pure: argument vectors and what they answer."""

from __future__ import annotations

import os
import re

from pytest_amap.observations import Ran
from pytest_amap.parsers import Unreadable

QUIET = ("--no-optional-locks", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")
"""A checkout's own configuration can name programs that git starts while it only looks; these two are not started."""

HEAD = ("rev-parse", "--show-prefix", "HEAD")
"""The directory's place in its checkout, then the commit: a directory below another checkout's top is none."""

CHANGES = ("status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=none")
"""Whatever the person's own settings hide."""

_TOP = re.compile(r"\n([0-9a-f]{40}|[0-9a-f]{64})\n")


def argv(path: str | os.PathLike[str], *words: str) -> tuple[str, ...]:
    return ("git", *QUIET, "-C", os.fspath(path), *words)


def commit(ran: Ran) -> str | Unreadable:
    """The commit in the answer to HEAD."""
    if not ran.ok:
        return Unreadable("no git checkout" if "not a git repository" in ran.stderr else ran.said)
    found = _TOP.fullmatch(ran.stdout)
    return found[1] if found else Unreadable("no git checkout")
