"""When what ran: one bar for each stretch of records that belong to one step or one check. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from pytest_amap.report.html_text import esc
from pytest_amap.report.page_records import Record
from pytest_amap.report.text import counted, span


@dataclass(frozen=True)
class Stretch:
    """Records that follow each other under one owner; times in seconds since the epoch."""

    owner: str
    begin: float
    end: float
    records: int


def owner(record: Record) -> str:
    """The check whose record it is, else its step."""
    return str(record.get("check") or f"step {record.get('step', '?')}")


def stretches(records: Sequence[Record]) -> list[Stretch]:
    """The run as it went; records whose time cannot be read are left out."""
    timed = [(owner(record), begin, end) for record in records for begin, end in _times(record)]
    found = []
    for name, group in groupby(timed, key=lambda row: row[0]):
        rows = list(group)
        found.append(Stretch(name, min(row[1] for row in rows), max(row[2] for row in rows), len(rows)))
    return found


def _times(record: Record) -> Iterable[tuple[float, float]]:
    begin = record.get("started") or record.get("time")
    try:
        first, last = (datetime.fromisoformat(str(text)).timestamp() for text in (begin, record.get("ended") or begin))
    except ValueError:
        return
    yield first, max(first, last)


def bars(records: Sequence[Record]) -> str:
    """The stretches as a list; each bar's place and width are its share of the whole time."""
    rows = stretches(records)
    if not rows:
        return "<p>No record of this run has a time.</p>"
    start = min(row.begin for row in rows)
    whole = max(max(row.end for row in rows) - start, 0.001)
    return '<ol class="amap-bars">' + "".join(_bar(row, start, whole) for row in rows) + "</ol>"


def _bar(row: Stretch, start: float, whole: float) -> str:
    left = 100 * (row.begin - start) / whole
    width = max(100 * (row.end - row.begin) / whole, 0.5)
    return (
        f"<li><span>{esc(row.owner, 60)}: after {span(row.begin - start)}, for {span(row.end - row.begin)}, "
        f"{counted(row.records, 'record')}</span>"
        f'<span class="amap-bar" style="margin-left:{min(left, 99.5):.2f}%;width:{width:.2f}%"></span></li>'
    )
