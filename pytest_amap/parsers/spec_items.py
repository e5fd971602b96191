"""The NOT CHECKED HERE list of the spec's validator, leaf by leaf."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from . import Unreadable
from .text import lines, sentence

HEADING = "NOT CHECKED HERE"
_BULLET = re.compile(r" *(?:[-*+•]|\d{1,2}[.)]) +(?P<text>\S.*)")
_LIMIT = 32 * 1024
_DEPTH = 8


@dataclass
class _Item:
    indent: int
    pieces: list[str]
    children: list[_Item] = field(default_factory=list)


def items(source: str) -> tuple[str, ...] | Unreadable:
    """The leaf items in order, a group's header before each of its own.

    `source` is the validator's text. The list ends at the first blank line or where the docstring does. A
    continuation line stays in the item it is indented below; legs within one sentence ("(a) ... (b) ...") stay one
    item.
    """
    block = _block(source)
    if sum(map(len, block)) > _LIMIT:
        return Unreadable(f"expected a list under {HEADING!r} of at most {_LIMIT} characters, saw more")
    roots: list[_Item] = []
    above: list[_Item] = []
    for line in block:
        indent = len(line) - len(line.lstrip(" "))
        while above and indent <= above[-1].indent:
            above.pop()
        if bullet := _BULLET.fullmatch(line):
            item = _Item(indent, [bullet["text"]])
            (above[-1].children if above else roots).append(item)
            above.append(item)
        elif above:
            above[-1].pieces.append(line)
        if len(above) > _DEPTH:
            return Unreadable(f"expected a list under {HEADING!r} at most {_DEPTH} deep, saw a deeper one")
    leaves = tuple(leaf for item in roots for leaf in _leaves(item, ""))
    return leaves or Unreadable(f"expected a list under {HEADING!r}, saw none")


def _block(source: str) -> list[str]:
    read = lines(source)
    start = next((number + 1 for number, line in enumerate(read) if HEADING in line), len(read))
    block = []
    for line in read[start:]:
        text, quotes, _ = line.expandtabs().partition('"""')
        if not text.strip():
            break
        block.append(text.rstrip())
        if quotes:
            break
    return block


def _leaves(item: _Item, header: str) -> list[str]:
    text = header + sentence(item.pieces)
    if not item.children:
        return [text]
    return [leaf for child in item.children for leaf in _leaves(child, f"{text.rstrip(':')}: ")]
