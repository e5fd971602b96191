"""Foreign text as Markdown that means only itself, and tables that stay tables. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pytest_amap.foreign import one_line

LINE = 1500
CELL = 400

_ACTIVE = re.compile(r"[\\`*\[\]|~]|(?<!\w)_|_(?!\w)")
_BLOCK = re.compile(r"\d{1,9}(?=[.)](?:\s|$))|(?=(?:#{1,6}|[+-])(?:\s|$)|[=-]+\s*$)")
"""What would begin a list, a heading or a rule where the text stands at the beginning of its line or list item."""
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def inline(text: str, limit: int = LINE) -> str:
    """The text on one line with nothing in it that Markdown or HTML would act on (links, images, tags, cells)."""
    plain = _ACTIVE.sub(lambda match: "\\" + match[0], one_line(text, limit))
    begin = _BLOCK.match(plain)
    return (f"{begin[0]}\\{plain[begin.end() :]}" if begin else plain).translate(_ENTITIES)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table; cells are foreign text and an empty one stays empty."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(inline(cell, CELL) for cell in row) + " |" for row in rows]
    return lines


def bullets(items: Iterable[str], none: str) -> list[str]:
    """The items, foreign text, as a list; the sentence `none` when there is nothing to list."""
    lines = [f"- {inline(item)}" for item in items]
    return lines or [none]


def paragraphs(sentences: Iterable[str]) -> list[str]:
    """The sentences, foreign text, one a paragraph."""
    return "\n\n".join(inline(sentence) for sentence in sentences).split("\n")
