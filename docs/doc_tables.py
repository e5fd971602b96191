"""Write the tables of the documents that come from the code: `python docs/doc_tables.py`; --check only compares.

A table stands between `<!-- table: NAME -->` and `<!-- end -->`; the rest of a document is a person's.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from pytest_amap.catalogue import L1
from pytest_amap.session import settings

DOCS = Path(__file__).resolve().parent
BLOCK = re.compile(r"(<!-- table: (?P<name>[a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


class Recorder:
    """Takes what settings.add hands to a parser."""

    def __init__(self) -> None:
        self.options: list[tuple[str, str, str]] = []
        self.settings: list[tuple[str, str]] = []

    def getgroup(self, *_: str) -> Recorder:
        return self

    def addoption(self, name: str, *, help: str, metavar: str = "", **_: Any) -> None:
        self.options.append((name, metavar, help))

    def addini(self, name: str, help: str, **_: Any) -> None:
        self.settings.append((name, help))


def recorded() -> Recorder:
    recorder = Recorder()
    settings.add(recorder)  # type: ignore[arg-type]
    return recorder


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "".join(f"| {' | '.join(map(cell, line))} |\n" for line in lines)


def option_rows() -> str:
    rows = [(f"`{f'{name} {metavar}'.strip()}`", help) for name, metavar, help in recorded().options]
    return table(("option", "meaning"), rows)


def setting_rows() -> str:
    rows = []
    for name, text in recorded().settings:
        found = re.fullmatch(r"(.*) \(default: (.*)\)", text)
        rows.append((f"`{name}`", *(found.groups() if found else (text, "none"))))
    return table(("setting", "meaning", "default"), rows)


def check_rows() -> str:
    rows = [
        (f"[{check.id}](#{check.id})", check.asks, check.anchor.removeprefix("runbook "))
        for check in (L1.check(name) for name in L1.ids)
    ]
    return table(("check", "what it asks", "runbook"), rows)


TABLES: dict[str, Callable[[], str]] = {"options": option_rows, "settings": setting_rows, "checks": check_rows}


def rendered(text: str) -> str:
    """A document with each of its tables as the code has it now."""
    return BLOCK.sub(lambda found: f"{found[1]}{TABLES[found['name']]()}{found[3]}", text)


def main(words: Sequence[str]) -> int:
    stale = 0
    for path in sorted(DOCS.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        if rendered(text) != text:
            stale += 1
            print(f"{path.name}: {'out of date; run python docs/doc_tables.py' if '--check' in words else 'written'}")
            if "--check" not in words:
                path.write_text(rendered(text), encoding="utf-8")
    return int(bool(stale) and "--check" in words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
