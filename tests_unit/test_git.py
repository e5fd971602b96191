"""What git's answers about a checkout mean."""

from __future__ import annotations

import pytest
from scripted_lab import said

from pytest_amap.host import git
from pytest_amap.parsers import Unreadable

COMMIT = "2e6771620e636ccf0eef22c1f1b80bf895788fab"
NONE = "fatal: not a git repository (or any of the parent directories): .git\n"


@pytest.mark.parametrize("commit", [COMMIT, "a" * 64])
def test_a_commit_at_the_top_of_its_checkout(commit: str) -> None:
    assert git.commit(said(f"\n{commit}\n")) == commit


@pytest.mark.parametrize(
    ("ran", "why"),
    [
        (said(exit=128, stderr=NONE), "no git checkout"),
        (said(f"siblings/router/\n{COMMIT}\n"), "no git checkout"),
        (said(f"{COMMIT}\n"), "no git checkout"),
        (said(exit=None, stderr="git: No such file or directory"), "git: No such file or directory"),
        (said(exit=128, stderr="fatal: detected dubious ownership"), "fatal: detected dubious ownership"),
        (said(exit=None, timed_out=True), "no answer in time"),
    ],
)
def test_what_is_none_says_why(ran: object, why: str) -> None:
    assert git.commit(ran) == Unreadable(why)  # type: ignore[arg-type]
