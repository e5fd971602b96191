"""Hides secrets in whatever is about to be written, and finds the ones that were written. Pure.

A secret is looked for in every form of `secret_forms`, whatever stands between its letters: line breaks,
padding, the bars of an error box, escaped line breaks. A piece of 16 or more of a form's first or last letters
counts as the secret wherever it stands, and a piece of 8 beside "..." does too, so a cap or an elided repr
hides nothing. Values are redacted before they are serialised, so no JSON is cut in two.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pytest_amap.evidence import secret_forms

SHORTEST = 8
"""A secret with fewer letters than this would hide innocent text."""
PIECE = 16
"""This many letters of a form's beginning or end are as good as the whole."""

Span = tuple[int, int, str]

_PRINTED = bytes(byte for byte in range(0x21, 0x7F) if byte != ord("|"))
_ESCAPES = re.compile(
    rb"\\(?:[nrt]|\r?\n|u[0-9a-fA-F]{4}|x1b|033|e)(?:\[[0-9;]*[A-Za-z])?"  # written in a string literal
    rb"|\x1b\[[0-9;]*[A-Za-z]"  # colours
    rb"|\xe2[\x94\x95][\x80-\xbf]"  # box drawing
)
_QUOTE = rb"(?:\\*[\"']|&quot;|&#34;|&#x27;|&#39;)?"
_PLACEHOLDER = rb"(?!openshell:resolve:|ANTHROPIC_API_KEY|CLAUDE_CODE_MESSAGING_TOKEN|[$*.])"
_WORD = _PLACEHOLDER + rb"[^\s\"'<>\[\](){}&,;\\|]"
_NAMES = ("peerToken", "CLAUDE_CODE_MESSAGING_TOKEN", "ANTHROPIC_API_KEY")
_PATTERNS: tuple[tuple[str, re.Pattern[bytes]], ...] = (
    ("sk-ant", re.compile(rb"(?P<value>sk-ant-[A-Za-z0-9_-]{8,})")),
    *(
        (name, re.compile(name.encode() + _QUOTE + sign + _QUOTE + rb"(?P<value>" + _WORD + shortest + rb")"))
        for name in _NAMES
        for sign, shortest in ((rb"=", rb"{4,}"), (rb"\s?:\s?", rb"{8,}"))
    ),
)
"""What is a secret by its shape or by the name before it; `is set` and placeholders are not."""
_ELLIPSIS = re.compile(rb"\.{3,}|\xe2\x80\xa6|\\u2026")


def refuse(name: str, value: str) -> str | None:
    """Why `value` cannot be hidden without hiding innocent text, in a sentence; None when it can."""
    letters = "".join(value.split())
    if not letters:
        return f"{name} is blank: expected a secret of at least {SHORTEST} characters"
    if len(letters.replace("|", "")) < SHORTEST:
        return f"{name} has {len(letters)} characters, too few to be hidden: expected at least {SHORTEST}"
    if len(set(letters)) < 4:
        return f"{name} is made of fewer than four different characters and cannot be hidden"
    word = letters.rstrip("0123456789!.?")
    if word.isalpha() and (word.islower() or word.isupper() or word.istitle()) and len(letters) < PIECE:
        return f"{name} is a plain word, which innocent text may hold too, so it cannot be hidden"
    if letters.lower() in marker(name).lower():
        return f"{name} is a part of its own name and cannot be hidden"
    return None


def marker(name: str) -> str:
    """What stands in a secret's place."""
    return f"[REDACTED:{name}]"


@dataclass(frozen=True)
class _Needle:
    """One form of a secret without its noise: `folded` when its letters may be of either case, `deep` if it is rare."""

    name: str
    body: bytes
    folded: bool
    deep: bool
    noise: bytes
    """The pattern of what may stand between two letters of it."""

    @cached_property
    def pieces(self) -> tuple[bytes, ...]:
        """What must be in a text that holds the needle or enough of it."""
        if len(self.body) <= PIECE:
            return (self.body,)
        return (self.body[:PIECE], self.body[-PIECE:])

    @cached_property
    def gap(self) -> bytes:
        return b"(?:" + self.noise + b")*+"

    def pattern(self, body: bytes) -> re.Pattern[bytes]:
        flags = re.IGNORECASE if self.folded else re.NOFLAG
        return re.compile(self.gap.join(re.escape(bytes((byte,))) for byte in body), flags)

    @cached_property
    def whole(self) -> re.Pattern[bytes]:
        return self.pattern(self.body)

    def spans(self, data: bytes) -> list[Span]:
        """Where the whole needle stands, or else the longest run of its first and of its last letters."""
        found = [(*match.span(), self.name) for match in self.whole.finditer(data)]
        if found or len(self.body) <= PIECE:
            return found
        first, last = self.pieces
        for match in self.pattern(first).finditer(data):
            found.append((match.start(), self._follow(data, match.end()), self.name))
        for match in self.pattern(last).finditer(data):
            found.append((self._precede(data, match.start()), match.end(), self.name))
        return found

    def _follow(self, data: bytes, end: int) -> int:
        gap = re.compile(self.gap)
        for letter in self.body[PIECE:]:
            skipped = gap.match(data, end)
            at = skipped.end() if skipped else end
            if not self._same(data[at : at + 1], letter):
                break
            end = at + 1
        return end

    def _precede(self, data: bytes, start: int) -> int:
        gap = re.compile(self.gap + rb"\Z")
        for letter in reversed(self.body[:-PIECE]):
            window = max(0, start - 200)
            skipped = gap.search(data[window:start])
            at = (window + skipped.start() if skipped else start) - 1
            if at < 0 or not self._same(data[at : at + 1], letter):
                break
            start = at
        return start

    def _same(self, seen: bytes, letter: int) -> bool:
        return (seen.lower() if self.folded else seen) == bytes((letter,))


class Redactor:
    """Hides the given secrets and what has the shape of one.

    `secrets` maps a name to a value. A value that `refuse` refuses is not looked for: the caller
    must not go on with it.
    """

    def __init__(self, secrets: Mapping[str, str]) -> None:
        hidden = {name: value for name, value in secrets.items() if refuse(name, value) is None}
        kept = frozenset("".join(hidden.values()).encode("utf-8", "surrogatepass"))
        self._noise = bytes(byte for byte in range(256) if byte not in _PRINTED and (byte < 128 or byte not in kept))
        single = b"[" + re.escape(self._noise) + b"]"
        self._needles = self._collect(hidden, single, escapes=False)
        self._unescaped = self._collect(hidden, _ESCAPES.pattern + b"|" + single, escapes=True)
        self._grams = {gram: needle.name for needle in self._needles if not needle.deep for gram in _grams(needle.body)}

    def _collect(self, hidden: Mapping[str, str], noise: bytes, *, escapes: bool) -> tuple[_Needle, ...]:
        found: dict[tuple[bytes, bool], _Needle] = {}
        for name, fold, deep, form in _forms(hidden):
            body = self._bare(form, escapes=escapes)
            if len(body) >= SHORTEST:
                found.setdefault((body, fold), _Needle(name, body, fold, deep, noise))
        return tuple(sorted(found.values(), key=lambda needle: -len(needle.body)))

    def _bare(self, data: bytes, *, escapes: bool) -> bytes:
        """`data` without what may stand between the letters of a secret."""
        if escapes:
            kept, done = bytearray(), 0  # not re.sub: its list of pieces takes forty times the memory
            for match in _ESCAPES.finditer(data):
                kept += data[done : match.start()]
                done = match.end()
            data = bytes(kept + data[done:])
        return data.translate(None, self._noise)

    def text(self, text: str) -> str:
        """`text` with every secret replaced by `[REDACTED:<name>]`."""
        data = text.encode("utf-8", "surrogatepass")
        clean = self._clean(data)
        return text if clean is data else clean.decode("utf-8", "replace")

    def value(self, value: Any) -> Any:
        """`value` with the texts, bytes and keys in it redacted; its types stay."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, bytes):
            return self._clean(value)
        if isinstance(value, dict):
            return {self.value(key): self._item(key, item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, tuple):
            items = (self.value(item) for item in value)
            return value._make(items) if hasattr(value, "_make") else tuple(items)
        return value

    def leaks(self, data: bytes) -> list[str]:
        """The names of the secrets that stand in `data`, sorted."""
        return sorted({name for _, _, name in self._spans(data)})

    def _item(self, key: Any, item: Any) -> Any:
        clean = self.value(item)
        if key in _NAMES and isinstance(clean, str) and self.text(f"{key}: {clean}") != f"{key}: {clean}":
            return marker(key)
        return clean

    def _clean(self, data: bytes) -> bytes:
        """`data` itself when nothing is in it. What replacing brings together is replaced too."""
        for _ in range(8):
            spans = self._spans(data)
            if not spans:
                return data
            data = _replace(data, spans)
        return marker(self._spans(data)[0][2]).encode() if self._spans(data) else data

    def _spans(self, data: bytes) -> list[Span]:
        spans = [span for needle in self._present(data) for span in needle.spans(data)]
        spans += self._elided(data)
        for name, pattern in _PATTERNS:
            spans += [(*match.span("value"), name) for match in pattern.finditer(data)]
        return spans

    def _present(self, data: bytes) -> Iterator[_Needle]:
        """The needles of which enough is in `data`; a plain search in its bare letters decides quickly."""
        views = [(self._needles, False)]
        if any(sign in data for sign in (b"\\", b"\x1b", b"\xe2")):
            views.append((self._unescaped, True))
        for needles, escapes in views:
            bare = self._bare(data, escapes=escapes)
            lower = bare.lower()
            for needle in needles:
                where = lower if needle.folded else bare
                if any(piece in where for piece in needle.pieces):
                    yield needle

    def _elided(self, data: bytes) -> Iterator[Span]:
        """Letters of a secret beside an ellipsis: what a shortened repr leaves of it."""
        if not self._grams:
            return
        for match in _ELLIPSIS.finditer(data):
            left, right = match.span()
            while data[max(0, left - SHORTEST) : left] in self._grams:
                left -= 1
            if left < match.start():
                start = left + 1 - SHORTEST
                yield start, match.start(), self._grams[data[start : left + 1]]
            while data[right : right + SHORTEST] in self._grams:
                right += 1
            if right > match.end():
                end = right - 1 + SHORTEST
                yield match.end(), end, self._grams[data[right - 1 : end]]


def _forms(hidden: Mapping[str, str]) -> Iterator[tuple[str, bool, bool, bytes]]:
    """Each form of each secret: its name, whether its letters may be of either case, whether it is a rare one."""
    plain = ((False, secret_forms.exact), (True, secret_forms.folded))
    rare = ((False, secret_forms.deep_exact), (True, secret_forms.deep_folded))
    for name, secret in hidden.items():
        whole = secret_forms.values(secret)
        for deep, kinds, values in ((False, plain, whole | secret_forms.lines(secret)), (True, rare, whole)):
            for value in sorted(values, key=len, reverse=True):
                for fold, forms in kinds:
                    yield from ((name, fold, deep, form) for form in sorted(forms(value)))


def _grams(body: bytes) -> Iterator[bytes]:
    """What is told apart beside an ellipsis: no run of one letter, no piece of a word."""
    for start in range(len(body) - SHORTEST + 1):
        gram = body[start : start + SHORTEST]
        if len(set(gram)) > 3 and not (gram.isalpha() and gram.islower()):
            yield gram


def _replace(data: bytes, spans: list[Span]) -> bytes:
    """Overlapping spans become one, under the name of the one that begins first."""
    pieces, done, open_until = [], 0, -1
    for start, end, name in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start >= open_until:
            pieces += [data[done:start], marker(name).encode()]
        done = open_until = max(open_until, end)
    return b"".join([*pieces, data[done:]])
