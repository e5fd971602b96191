"""The fenced blocks of the documents, and the command lines in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FENCE = re.compile(r"^(?P<indent> *)```(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)
HEREDOC = re.compile(r"<<'(?P<end>\w+)'\n.*?^(?P=end)$", re.MULTILINE | re.DOTALL)
QUOTED = re.compile(r"'[^']*'")
NESTED = re.compile(r"\$\(.*&&|^for ")
COMMENT = re.compile(r"\s+# .*$")


@dataclass(frozen=True)
class Block:
    """One fenced block: its document, the words after the fence, and its text without the list's indent."""

    path: Path
    info: tuple[str, ...]
    text: str

    @property
    def language(self) -> str:
        return self.info[0] if self.info else ""


def documents() -> list[Path]:
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


def blocks(path: Path) -> Iterator[Block]:
    for found in FENCE.finditer(path.read_text(encoding="utf-8")):
        text = re.sub(rf"^{found['indent']}", "", found["body"], flags=re.MULTILINE)
        yield Block(path, tuple(found["info"].split()), text)


def lines(block: Block) -> Iterator[str]:
    """The commands of a block, each on one line: `sh` as it stands, of `console` what follows a `$`."""
    text = QUOTED.sub(on_one_line, HEREDOC.sub("", block.text)).replace("\\\n", " ")
    for line in text.splitlines():
        if block.language == "console":
            if not line.startswith("$ "):
                continue
            line = line[2:]
        line = COMMENT.sub("", line).strip()
        for command in [line] if NESTED.search(line) else line.split(" && "):
            if command and not command.startswith("#"):
                yield command.strip()


def on_one_line(quoted: re.Match[str]) -> str:
    """A program in single quotes over several lines says nothing about the command around it."""
    return "'...'" if "\n" in quoted[0] else quoted[0]


def commands() -> Iterator[tuple[Block, str]]:
    """Every command that any document shows."""
    for path in documents():
        for block in blocks(path):
            if block.language in ("sh", "console"):
                yield from ((block, line) for line in lines(block))
