"""What a session's terminal shows, and whether it waits there for a person's answer.

The input is what the terminal was written: old frames are in it, too, and are overwritten here as a terminal does it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

LARGEST = 1 << 20
"""Characters of the newest output that are drawn; OpenShell replays as many bytes."""
ROWS, COLUMNS = 2000, 500
NEAR = 16
"""Rows at the end of the screen in which a question that waits must stand."""
QUOTED = 400

_PIECE = re.compile(
    r"\x1b\[(?P<numbers>[0-?]*)[ -/]*(?P<final>[@-~])"
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"
    r"|\x1b(?P<escape>[0-~])"
    r"|(?P<control>[\x00-\x1f\x7f-\x9f])"
    r"|(?P<text>[^\x00-\x1f\x7f-\x9f]+)"
)
_CHOICE = re.compile(r"(?P<cursor>[❯>›]\s*)?[\[(]?(?P<number>[1-9])[.)\]]\s*\S")
_ACCEPT = re.compile(
    r"\b(enter|return) to (confirm|continue|select)\b|\bpress (enter|return|any key)\b|\besc to (cancel|exit)\b"
    r"|[\[(]y(es)?/no?[\])]",
    re.IGNORECASE,
)
_FRAME = " \t│┃|╭╮╰╯─━┌┐└┘"


class _Screen:
    """A cursor on rows of text; colours and modes are nothing here."""

    def __init__(self) -> None:
        self.rows: list[str] = [""]
        self.row = self.column = 0

    def write(self, text: str) -> None:
        line = self.rows[self.row].ljust(self.column)
        self.rows[self.row] = (line[: self.column] + text + line[self.column + len(text) :])[:COLUMNS]
        self.column = min(self.column + len(text), COLUMNS)

    def move(self, row: int, column: int) -> None:
        self.row, self.column = min(max(row, 0), self.row + ROWS), min(max(column, 0), COLUMNS)
        self.rows += [""] * (self.row + 1 - len(self.rows))
        if len(self.rows) > 3 * ROWS:
            gone = len(self.rows) - ROWS
            del self.rows[:gone]
            self.row -= gone

    def control(self, character: str) -> None:
        if character == "\n":
            self.move(self.row + 1, 0)
        elif character == "\r":
            self.column = 0
        elif character == "\b":
            self.move(self.row, self.column - 1)
        elif character == "\t":
            self.move(self.row, (self.column // 8 + 1) * 8)

    def sequence(self, final: str, numbers: Sequence[int]) -> None:
        first = numbers[0] if numbers else 0
        steps = min(max(first, 1), ROWS)
        if final in "AB":
            self.move(self.row + (steps if final == "B" else -steps), self.column)
        elif final in "CD":
            self.move(self.row, self.column + (steps if final == "C" else -steps))
        elif final in "EF":
            self.move(self.row + (steps if final == "E" else -steps), 0)
        elif final == "G":
            self.move(self.row, steps - 1)
        elif final == "d":
            self.move(steps - 1, self.column)
        elif final in "Hf":
            self.move(steps - 1, (numbers[1] if len(numbers) > 1 else 1) - 1)
        elif final == "J":
            self.erase(first)
        elif final == "K":
            line = self.rows[self.row]
            self.rows[self.row] = (line[: self.column], line[self.column :].rjust(len(line)), "")[min(first, 2)]

    def erase(self, what: int) -> None:
        """ED: 0 from the cursor on, 1 up to it, 2 and 3 all."""
        if what == 0:
            del self.rows[self.row + 1 :]
            self.rows[self.row] = self.rows[self.row][: self.column]
        elif what == 1:
            self.rows[: self.row] = [""] * self.row
        else:
            self.rows = [""] * (self.row + 1)


def _numbers(text: str) -> list[int]:
    """A sequence's numbers, 0 where one is left out; no screen is so large that more than four digits tell."""
    read = [one[:4] for one in text.lstrip("<=>?").split(";")]
    return [int(one) if one.isdecimal() else 0 for one in read]


def rows(shown: str) -> list[str]:
    """The rows with anything on them after all of `shown` was drawn, without frames."""
    screen = _Screen()
    for piece in _PIECE.finditer(shown[-LARGEST:]):
        if piece["text"] is not None:
            screen.write(piece["text"])
        elif piece["control"] is not None:
            screen.control(piece["control"])
        elif piece["final"] is not None:
            if piece["numbers"] == "?1049" and piece["final"] in "hl":
                screen = _Screen()
            screen.sequence(piece["final"], _numbers(piece["numbers"]))
        elif piece["escape"] == "c":
            screen = _Screen()
    return [line for line in (row.strip(_FRAME) for row in screen.rows) if line]


def question(shown: str) -> str:
    """The question at the end of the screen and its choices, in one line; "" where none waits.

    A numbered choice with a cursor on one of its lines, or with a line that says how to accept (field report A39);
    without numbers such a line counts as the screen's last.
    """
    end = rows(shown)[-NEAR:]
    choices = {number: match for number, row in enumerate(end) if (match := _CHOICE.match(row))}
    if len({match["number"] for match in choices.values()}) < 2:
        return " / ".join(end[-5:])[:QUOTED] if end and _ACCEPT.search(end[-1]) else ""
    first = min(choices)
    if not any(match["cursor"] for match in choices.values()) and not any(map(_ACCEPT.search, end[first:])):
        return ""
    return " / ".join(end[max(0, first - 4) : max(choices) + 1])[:QUOTED]
