"""Commands and observations on the page: copyable, folded, bounded. Pure.

A record is the JSON of evidence plus `path`, its path relative to evidence/. Of a command's record the page reads
label, argv, seconds, exit, timed_out, stdout and stderr; of an observation's, label, source and observed.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_amap.report.html_text import element_id, esc, record_link
from pytest_amap.report.text import counted, span

Record = Mapping[str, Any]

STREAM = 64 * 1024
"""Most characters of one command line or stream that the page shows."""
BUDGET = 3 * 1024 * 1024
"""Most bytes of commands and output on the whole page; where there is more, each stream shows less."""


def text_limit(records: Sequence[Record]) -> int:
    """How many characters of each command line and stream are shown, so that all together fit the budget."""
    texts = [text for record in records for text in (_line(record), *(text for _, text in _streams(record)))]
    limit = STREAM
    while limit > 256 and not _fit(texts, limit):
        limit //= 2
    return limit


def _fit(texts: Sequence[str], limit: int) -> bool:
    """Escaping only adds, so it is tried only where the plain texts fit."""
    if sum(min(len(text), limit) for text in texts) > BUDGET:
        return False
    return sum(len(esc(text, limit).encode()) for text in texts) <= BUDGET


def listed(records: Sequence[Record], limit: int) -> str:
    """The records in order, each with its command or source, how it ended, and its output folded."""
    return "".join(_record(record, limit) for record in records)


def _record(record: Record, limit: int) -> str:
    streams = [(name, text) for name, text in _streams(record) if text]
    output = "".join(_output(name, text, limit) for name, text in streams) or "<p>No output.</p>"
    lines = sum(text.count("\n") + (not text.endswith("\n")) for _, text in streams)
    about = " &middot; ".join(part for part in (_how(record), _link(record)) if part)
    return (
        f'<article class="amap-command" id="{element_id("record", str(record.get("path", "")))}">'
        f"<h4>{esc(str(record.get('label', '')), 200)}</h4>"
        f'<pre class="amap-line">{esc(_line(record), limit)}</pre>'
        f"<p>{about}</p>"
        f"<details><summary>Output: {counted(lines, 'line')}</summary>{output}</details></article>"
    )


def _line(record: Record) -> str:
    """The command as it can be pasted into a shell; of an observation, what was looked at."""
    if "argv" in record:
        return shlex.join(str(word) for word in record["argv"])
    return str(record.get("source", ""))


def _how(record: Record) -> str:
    if "argv" not in record:
        return "observed"
    seconds = record.get("seconds")
    took = f", {span(seconds)}" if isinstance(seconds, (int, float)) else ""
    if record.get("timed_out"):
        return f'<span class="amap-ended-badly">no answer in time</span>{took}'
    code = record.get("exit")
    if code is None:
        return f'<span class="amap-ended-badly">did not run</span>{took}'
    return f'<span class="{"amap-ended" if code == 0 else "amap-ended-badly"}">exit {esc(str(code), 20)}</span>{took}'


def _link(record: Record) -> str:
    return record_link(str(record["path"])) if record.get("path") else ""


def _streams(record: Record) -> list[tuple[str, str]]:
    if "argv" in record:
        return [(name, str(record.get(name) or "")) for name in ("stdout", "stderr")]
    observed = record.get("observed", "")
    text = observed if isinstance(observed, str) else json.dumps(observed, indent=1, ensure_ascii=False)
    return [("observed", text)]


def _output(name: str, text: str, limit: int) -> str:
    return f'<h5>{name}</h5><pre class="amap-output" tabindex="0">{esc(text, limit)}</pre>'
