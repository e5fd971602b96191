"""The `openshell` command's own failures, not those of what it ran."""

from __future__ import annotations

import re
from itertools import takewhile

from .text import lines, one_line

# × is x, and its margin wider than one space, where the locale is not UTF-8.
_BOX = re.compile(r"\s*Error:\s+×\s|\s*Error:\s{2,}x\s")

# A bare `Error:` is also how programs report (node does): then it is the command's own only in these words.
_BARE = re.compile(
    r"\s*error:\s.*(?:(?<![/\w])sandbox\b.*\bnot (?:found|ready|running)|no such sandbox|(?<!bad )gateway\b"
    r"|\b(?:transport|connect) error|\bcode: '|\bstatus: |\bdeadline expired"
    r"|\bunexpected argument|\brequired arguments)",
    re.IGNORECASE,
)
_LAST = 50
_WIDTH = 400


def control_plane_failure(stderr: str) -> str | None:
    """The command's own failure in one sentence, or None where stderr shows none.

    Not found, not ready, permission denied by the gateway, a transport error, a usage error: the remote command did
    not run. A marker of ours on stdout outranks it: output that could not be delivered fails like this too (A49).
    """
    read = lines(stderr)
    boxes = [number for number, line in enumerate(read) if _BOX.match(line)]
    bare = [number for number in range(max(0, len(read) - _LAST), len(read)) if _BARE.match(read[number][:_WIDTH])]
    start = next(iter((*boxes, *bare)), None)
    return None if start is None else one_line("\n".join(takewhile(str.strip, read[start:])))
