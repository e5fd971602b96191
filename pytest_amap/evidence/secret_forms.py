"""The shapes in which one secret can stand in a text, as byte strings to look for. Pure.

Sources of the list: facts/anchors.md C3 (measured leaks of pytest, and the encoders of other maskers).
"""

from __future__ import annotations

import base64
import html
import json
import shlex
import urllib.parse
from collections.abc import Callable, Iterable

TAIL = 20
"""Claude Code keeps the last 20 characters of a key in `.claude.json`, so they are a secret of their own."""


def values(secret: str) -> set[str]:
    """What must stay hidden of one secret in every form: itself, and its last 20 characters."""
    whole = secret.strip()
    return {whole, whole[-TAIL:]}


def lines(secret: str) -> set[str]:
    """The long lines of a secret of several: there are many, so they are looked for in the plain forms alone."""
    found = [line.strip() for line in secret.strip().splitlines()]
    return {line for line in found if len(line) > TAIL} if len(found) > 1 else set()


def exact(value: str) -> set[bytes]:
    """The plain forms whose letters keep their case: the value, escaped, in base64."""
    forms = {_bytes(text) for text in _escaped(value)}
    return forms.union(*(_base64_inside(_bytes(text)) for text in (value, _json(value))))


def folded(value: str) -> set[bytes]:
    """The plain forms that are written in either case: hexadecimal and percent-encoded ones, in lower case here."""
    raw = _bytes(value)
    forms = {raw.hex().encode(), raw.hex(":").encode(), raw.hex("-").encode()}
    for safe in ("", "/", "!'()*~", "/:@!$&'()*+,;="):
        once = urllib.parse.quote(raw, safe=safe)
        forms |= {once.encode(), once.replace("%20", "+").encode(), urllib.parse.quote(once, safe="").encode()}
    return {form.lower() for form in forms} - {raw.lower()}


def deep_exact(value: str) -> set[bytes]:
    """The rarer ones: base64 of base64 and of UTF-16, a list of its letters."""
    once = _base64_inside(_bytes(value))
    lists = {_bytes(quote.join(value)) for quote in ("','", '","')}
    return lists.union(_base64_inside(value.encode("utf-16-le", "surrogatepass")), *map(_base64_inside, once))


def deep_folded(value: str) -> set[bytes]:
    """Letter by letter in codes, in lower case here."""
    return {_bytes(form.lower()) for form in _spelled(value)}


def _spelled(value: str) -> set[str]:
    """Each letter, or each that is none of the alphabet, as a code; and the lists of their codes."""
    raw, found = _bytes(value), set()
    for code in ("\\u{:04x}", "&#{};", "&#x{:x};"):
        found.add("".join(code.format(ord(char)) for char in value))
        found.add("".join(char if char.isalnum() else code.format(ord(char)) for char in value))
    for code in ("\\x{:02x}", "\\{:03o}", "%{:02x}"):
        found.add("".join(code.format(byte) for byte in raw))
    for code in ("{}", "0x{:02x}"):
        found.add(",".join(code.format(byte) for byte in raw))
    return found


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _json(text: str) -> str:
    return json.dumps(text)[1:-1]


def _escaped(value: str) -> set[str]:
    """JSON inside JSON, XML around any of it, repr, and what shells write."""
    once = {_json(value), json.dumps(value, ensure_ascii=False)[1:-1]}
    texts = {value, *once, *(_json(text) for text in once)}
    texts |= {repr(value)[1:-1], repr(_bytes(value))[2:-1]}
    texts |= set(_apply(_XML, texts))
    return texts | set(_apply(_SHELL, (value,)))


def _apply(escapes: Iterable[Callable[[str], str]], texts: Iterable[str]) -> Iterable[str]:
    texts = list(texts)
    return (escape(text) for escape in escapes for text in texts)


_XML: tuple[Callable[[str], str], ...] = (
    html.escape,
    lambda text: html.escape(text, quote=False),
    lambda text: html.escape(text).replace("&#x27;", "&#39;").replace("&quot;", "&#34;"),
    lambda text: html.escape(text).replace("&#x27;", "&apos;"),
    lambda text: html.escape(text, quote=False).replace('"', "&quot;"),
)

_SHELL: tuple[Callable[[str], str], ...] = (
    lambda text: shlex.quote(text).removeprefix("'").removesuffix("'"),
    lambda text: text.replace("'", r"'\''"),
    lambda text: text.replace("\\", "\\\\").replace("'", r"\'"),
    lambda text: "".join(f"\\{char}" if char in '\\"$`' else char for char in text),
    lambda text: "".join(char if char.isalnum() or char in "_-./,:=@%+" else f"\\{char}" for char in text),
)


def _base64_inside(raw: bytes) -> set[bytes]:
    """What base64 of any text around `raw` must hold: one form for each of three offsets, in both alphabets."""
    forms = set()
    for offset in range(3):
        encoded = base64.b64encode(bytes(offset) + raw)
        known = encoded[(0, 2, 3)[offset] : (offset + len(raw)) * 8 // 6]
        forms |= {known, known.replace(b"+", b"-").replace(b"/", b"_")}
    return forms
