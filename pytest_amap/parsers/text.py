"""Text made for terminals: escape sequences, and wrapped error boxes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import takewhile

_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*+[ -/]*+[@-~]"  # CSI: colours, cursor
    r"|\x1b[\]PX^_][^\x07\x1b\n]*+(?:\x07|\x1b\\)"  # OSC and the other strings, when they end on their line
    r"|\x1b[ -/]*+[0-~]"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_NEW_LINE = re.compile(r"\r\n?")

# miette draws with box characters, or with ASCII where the locale is not UTF-8 (LC_ALL=C).
_MARK = re.compile(r"\s*(?:(?P<cause>├─▶|╰─▶|\|->|`->)|Error:\s*(?:×|x(?=\s))?|[×│|])?\s*")
_ERROR = re.compile(r"\s*(?:[\w.]{0,80}error\b[^:]{0,40}|fatal):\s", re.IGNORECASE)
_BOX = re.compile(r"\s*Error:\s{2,}[×x]\s")
_DRAWN = re.compile(r"[\s─-╿▶×]+")
_CUT_WORD = re.compile(r"[^\s-]-$")


def plain(text: str) -> str:
    """`text` without escape sequences, lines ended by LF alone.

    Any other control character becomes U+FFFD: taking it out could make a word that nobody wrote.
    """
    text = _ESCAPES.sub("", text) if "\x1b" in text or "\x9b" in text else text
    return _CONTROL.sub("\ufffd", _NEW_LINE.sub("\n", text))


def lines(text: str) -> list[str]:
    """The plain lines of `text`. Unlike `splitlines`, only LF, CR and CRLF end a line."""
    return plain(text).split("\n")


def sentence(pieces: Iterable[str]) -> str:
    """A wrapped sentence as one line: joined by spaces, but not after a hyphen in a word."""
    joined: list[str] = []
    for piece in pieces:
        words = " ".join(piece.split())
        if joined and words and not _CUT_WORD.search(joined[-1][-2:]):
            joined.append(" ")
        joined += [words] if words else []
    return "".join(joined)


def one_line(text: str) -> str:
    """A wrapped error box as one sentence, its causes set off by colons."""
    return ": ".join(filter(None, map(sentence, _causes(text))))


def gist(text: str) -> str:
    """What a program says went wrong: its error box as one sentence, else its line of an error, else its first line.

    Notices often stand before the error.
    """
    read = lines(text)
    told = [number for number, line in enumerate(read) if line.strip()]
    at = next((number for number in told if _ERROR.match(read[number])), told[0] if told else 0)
    boxed = _BOX.match(read[at])
    return one_line("\n".join(takewhile(str.strip, read[at:]))) if boxed else read[at].strip()


def says(text: str, phrase: str) -> bool:
    """Whether `text` holds `phrase`, however its lines were wrapped and boxed.

    An empty phrase is never held.
    """
    wanted = _squeezed(phrase)
    return bool(wanted) and wanted in _squeezed(text)


def _causes(text: str) -> list[list[str]]:
    """The lines of an error box without their marks, those of each cause together."""
    causes: list[list[str]] = [[]]
    for line in lines(text):
        mark = _MARK.match(line)
        if mark and mark["cause"]:
            causes.append([])
        causes[-1].append(line[mark.end() :] if mark else line)
    return causes


def _squeezed(text: str) -> str:
    return _DRAWN.sub("", "".join(line for cause in _causes(text) for line in cause))
