"""What a build that failed said last, whichever of Docker's builders it was. Pure."""

from __future__ import annotations

import re

from pytest_amap.parsers import text

_FAILED = re.compile(r"#(\d+) ERROR: (.*)")


def said_at_the_end(output: str) -> list[str]:
    """The lines that are not empty, the last of them the failing command's own.

    BuildKit numbers its steps and ends with the recipe itself; the step's own lines bear its number and a time.
    """
    lines = [line.strip() for line in text.lines(output) if line.strip()]
    failed = [match for line in lines if (match := _FAILED.fullmatch(line))]
    if not failed:
        return lines
    number, message = failed[-1].groups()
    own = re.compile(rf"#{number} \d+\.\d+ (.*\S)")
    return [match[1] for line in lines if (match := own.fullmatch(line))] or [message]
