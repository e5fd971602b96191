"""Foreign text as inert HTML: escaping, element ids, outcome badges, links to records. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from urllib.parse import quote

from pytest_amap.evidence.ctrf import TO_EVIDENCE
from pytest_amap.foreign import cut, visible

LINE = 2000

_RECORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*")
_NOT_ID = re.compile(r"[^a-z0-9._-]+")


def esc(text: str, limit: int = LINE) -> str:
    """The text for an element's body or an attribute in double quotes, cut to about `limit` characters."""
    return escape(visible(cut(text, limit)))


def element_id(*words: str) -> str:
    """An id of [a-z0-9._-] alone, whatever the words are."""
    return "-".join(_NOT_ID.sub("-", word.lower())[:60] for word in words)


def badge(word: str) -> str:
    """An outcome as a word with a colour of its own; the word alone is enough."""
    return f'<span class="amap-badge amap-{element_id(word)}">{esc(word, 40)}</span>'


def record_link(record: str) -> str:
    """A relative link to a record; a name that is no plain path below evidence/ stays text."""
    if _RECORD.fullmatch(record) is None:
        return f"<code>{esc(record, 200)}</code>"
    return f'<a href="{TO_EVIDENCE}{quote(record)}"><code>{esc(record, 200)}</code></a>'


def record_links(records: Iterable[str]) -> str:
    """Links to the records an answer rests on, or that there are none."""
    links = ", ".join(record_link(record) for record in records)
    return f'<span class="amap-records">Records: {links or "none"}</span>'


def table(caption: str, header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table with a caption; header cells are our own words, the rows' cells are HTML already."""
    head = "".join(f'<th scope="col">{cell}</th>' for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return (
        f'<div class="amap-scroll" tabindex="0" role="region" aria-label="{caption}"><table class="amap-table">'
        f"<caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def section(name: str, title: str, body: str) -> str:
    """A part of the page with a heading that can be linked to."""
    return f'<section id="{name}" aria-labelledby="{name}-title"><h2 id="{name}-title">{title}</h2>{body}</section>'
