"""Versions as the tools print them, compared by number: 0.1.2-dev.4 < 0.1.2 < 0.1.10."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from . import Unreadable, shown
from .text import lines

_NUMBER = r"(?:0|[1-9][0-9]{0,8})"
_VERSION = rf"({_NUMBER}\.{_NUMBER}\.{_NUMBER})(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.~-]+)?"
_KERNEL = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})(?:[.+_-].*)?", re.ASCII)


@dataclass(frozen=True, order=True)
class Version:
    """A semantic version; `+build` does not count. `text` is the line it was read from."""

    release: tuple[int, int, int]
    final: bool
    pre: tuple[tuple[bool, int, str], ...] = ()
    text: str = field(default="", compare=False)

    def __str__(self) -> str:
        release = ".".join(map(str, self.release))
        return release if self.final else f"{release}-{'.'.join(word or str(n) for _, n, word in self.pre)}"


def version(text: str) -> Version | Unreadable:
    """A bare version such as 0.1.2 or 0.1.2-dev.4+gabc1234."""
    return _only_line(text, re.compile(_VERSION), "a version such as 0.1.2")


def openshell(text: str, program: str = "openshell") -> Version | Unreadable:
    """What `openshell --version` prints, or its gateway, or a file of another name: `program` or its own name."""
    line = re.compile(rf"(?:{re.escape(program)}|openshell)\s+v?{_VERSION}(?:\s.*)?")
    return _only_line(text, line, f"a line such as '{program} 0.1.2'")


def claude(text: str) -> Version | Unreadable:
    """What `claude --version` prints, such as `2.1.284 (Claude Code)`."""
    return _only_line(text, re.compile(rf"{_VERSION} \(Claude Code\)"), "a line such as '2.1.284 (Claude Code)'")


def kernel(release: str) -> tuple[int, int] | Unreadable:
    """Major and minor of a kernel release (`uname -r`), such as 6.8.0-142-generic."""
    found = _KERNEL.fullmatch(release.strip())
    if not found:
        return Unreadable(f"expected a kernel release such as 6.8.0-142-generic, saw {shown(release)}")
    return int(found[1]), int(found[2])


def _only_line(text: str, pattern: re.Pattern[str], expected: str) -> Version | Unreadable:
    """The version on the one line of `text` that has the shape; other lines are notices."""
    found = [match for line in lines(text) if (match := pattern.fullmatch(line.strip()))]
    if len({match[0] for match in found}) != 1:
        return Unreadable(f"expected {expected}, saw {shown(text.strip())}")
    return _version(found[0])


def _version(found: re.Match[str]) -> Version | Unreadable:
    major, minor, patch = map(int, found[1].split("."))
    words = found[2].split(".") if found[2] else []
    if not all(words) or any(len(word) > 40 for word in words):
        return Unreadable(f"expected a version such as 0.1.2-dev.4, saw {shown(found[0])}")
    pre = tuple((False, int(word), "") if word.isdecimal() else (True, 0, word) for word in words)
    return Version((major, minor, patch), not pre, pre, found[0])
