"""Make the pictures of the documents: `python docs/images/make.py`. Needs Chromium, and a machine that can rehearse.

Two rehearsals are run in a temporary directory, a clean one and one with a planted fault.
"""

from __future__ import annotations

import html
import os
import pty
import re
import subprocess
import sys
import tempfile
from pathlib import Path

IMAGES = Path(__file__).resolve().parent
ROOT = IMAGES.parents[1]
COMMAND = ("pytest", "tests_live", "--apply", "--rehearsal")
FAULT = ("--fault", "inbox-writable")
COLUMNS = 110
COLOURS = {"31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "36": "#79c0ff"}
SGR = re.compile(r"\x1b\[([\d;]*)m")
OTHER_ESCAPES = re.compile(r"\x1b\[[\d;?]*[A-LN-Za-ln-z]|\r(?!\n)[^\n]*(?=\r)")


def rehearse(home: Path, *more: str) -> str:
    """A rehearsal in a terminal of its own; what the terminal got."""
    leader, follower = pty.openpty()
    words = [sys.executable, "-m", *COMMAND, "--amap-home", str(home), *more]
    environ = {**os.environ, "COLUMNS": str(COLUMNS), "TERM": "xterm-256color"}
    with subprocess.Popen(words, cwd=ROOT, stdin=follower, stdout=follower, stderr=follower, env=environ) as running:
        os.close(follower)
        read = b""
        try:
            while more_read := os.read(leader, 65536):
                read += more_read
        except OSError:
            running.wait()  # Linux answers EIO when the last writer is gone
    os.close(leader)
    return read.decode(errors="replace")


def coloured(text: str) -> str:
    """Terminal text as HTML: colours stay, other escapes go. No colour of pytest's goes on in the next line."""
    return "\n".join(map(coloured_line, OTHER_ESCAPES.sub("", text).replace("\r", "").split("\n")))


def coloured_line(line: str) -> str:
    out, colour, bold = [], "", False
    for position, piece in enumerate(SGR.split(line)):
        if position % 2 == 0:
            style = f"color:{colour or ('#ffffff' if bold else 'inherit')};font-weight:{'bold' if bold else 'normal'}"
            out.append(f'<span style="{style}">{html.escape(piece)}</span>')
            continue
        for code in piece.split(";"):
            colour = "" if code in ("", "0") else COLOURS.get(code, colour)
            bold = code == "1" or (bold and code not in ("", "0"))
    return "".join(out)


def terminal(text: str, home: Path) -> str:
    """A page that looks like the terminal, with no place of this machine on it."""
    neutral = text.replace(str(ROOT), "pytest-amap").replace(str(home), "rehearsal-1")
    style = "margin:0;padding:16px;background:#0d1117;color:#c9d1d9;font:14px/1.35 monospace;"
    style += f"white-space:pre-wrap;word-break:break-all;width:{COLUMNS + 2}ch"
    return f'<!doctype html><meta charset="utf-8"><body style="{style}">$ {" ".join(COMMAND)}\n{coloured(neutral)}'


def picture(page: Path, name: str, width: int, height: int) -> None:
    root = ["--no-sandbox"] if os.geteuid() == 0 else []
    words = ["chromium", "--headless", "--disable-gpu", "--hide-scrollbars", *root, f"--window-size={width},{height}"]
    target = IMAGES / f"{name}.png"
    subprocess.run([*words, f"--screenshot={target}", page.as_uri()], check=True, capture_output=True, timeout=120)
    print(f"{target.name}: {target.stat().st_size} bytes")


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        clean, faulty = Path(directory, "clean"), Path(directory, "faulty")
        text = rehearse(clean)
        page = Path(directory, "terminal.html")
        page.write_text(terminal(text, clean), encoding="utf-8")
        lines = SGR.sub("", text).count("\n") + 5
        picture(page, "terminal", COLUMNS * 9, lines * 19)
        picture(clean / "evidence" / "latest" / "report.html", "page", 1100, 1000)
        rehearse(faulty, *FAULT, "-k", "unknown_2 or pass_criterion_3")
        picture(faulty / "evidence" / "latest" / "report.html", "page-fault", 1100, 1000)


if __name__ == "__main__":
    main()
