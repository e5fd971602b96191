"""Environment files as systemd reads them: a unit's EnvironmentFile= and the user manager's environment.d."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from . import Unreadable
from .text import lines

LIMIT = 64 * 1024
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)

_KEY = re.compile(r"[^=\n]*")
_SPACE = re.compile(r"\s*")
_COMMENT = re.compile(r"[#;](?:[^\\\n]|\\.?)*", re.DOTALL)
_QUOTED = re.compile(r"[ \t]*(?:'(?P<single>[^']*)'|\"(?P<double>(?:[^\"\\]|\\.)*)\")", re.DOTALL)
_BARE = re.compile(r"[ \t]*(?P<bare>(?:[^\\\n]|\\.?)*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(.?)", re.DOTALL)
_REFERENCE = re.compile(rf"\$(?:\{{({NAME.pattern})\}}|({NAME.pattern})|)", re.ASCII)


@dataclass(frozen=True)
class EnvironmentFile:
    """The variables of one file, the last setting of each; `unparsed` are no assignments."""

    values: dict[str, str]
    unparsed: tuple[str, ...]


def environment_file(text: str) -> EnvironmentFile | Unreadable:
    """A file in systemd's form: NAME=VALUE, quotes, comments, an escaped line break that is nothing.

    `export NAME=VALUE` is no assignment: systemd ignores it, a shell that reads the file does not.
    """
    if len(text) > LIMIT:
        return Unreadable(f"expected an environment file of at most {LIMIT} characters, saw {len(text)}")
    values: dict[str, str] = {}
    unparsed = []
    for name, value, source in _entries("\n".join(lines(text))):
        if value is not None and NAME.fullmatch(name):
            values[name] = value
        else:
            unparsed.append(source.strip())
    return EnvironmentFile(values, tuple(unparsed))


def expanded(value: str, known: Mapping[str, str]) -> str | None:
    """A value of environment.d with its `$NAME` and `${NAME}`; None where one is not known, or of another form."""
    if any((found[1] or found[2]) not in known for found in _REFERENCE.finditer(value)):
        return None
    return _REFERENCE.sub(lambda found: known[found[1] or found[2]], value)


def _entries(text: str) -> Iterator[tuple[str, str | None, str]]:
    """Name, value and source of each entry; no value where it is no assignment, or a quote stays open."""
    at = 0
    while (at := _end(_SPACE, text, at)) < len(text):
        start = at
        if text[at] in "#;":
            at = _end(_COMMENT, text, at)
            if "\n" in text[start:at]:  # a line below an escaped end: a comment to systemd before 254, later not
                yield "", None, text[start:at]
            continue
        at = _end(_KEY, text, at)
        if text[at : at + 1] != "=":
            yield "", None, text[start:at]
            continue
        name = text[start:at].rstrip()
        value, at = _value(text, at + 1)
        yield name, value, text[start:at]


def _value(text: str, at: int) -> tuple[str | None, int]:
    """The value that begins here, and where it ends: quoted pieces, then what is bare up to the line's end. A quote
    that stays open takes in all that follows."""
    pieces = []
    while found := _QUOTED.match(text, at):
        single, double = found["single"], found["double"]
        pieces.append(single if single is not None else _ESCAPE.sub(_in_quotes, double))
        at = found.end()
    rest = _BARE.match(text, at)
    assert rest is not None
    if rest["bare"][:1] in ("'", '"'):
        return None, len(text)
    pieces.append(_ESCAPE.sub(lambda one: one[1].strip("\n"), rest["bare"]).rstrip())
    return "".join(pieces), rest.end()


def _in_quotes(found: re.Match[str]) -> str:
    return found[1].strip("\n") if found[1] in '"\\`$\n' else found[0]


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at
