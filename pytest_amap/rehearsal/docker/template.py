"""Go's text/template as far as the runbook's and the suite's `--format` go: fields, `range`, and a few functions."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

_ACTION = re.compile(r"\{\{\s*(.*?)\s*\}\}", re.DOTALL)
_WORD = re.compile(r'"(?:[^"\\]|\\.)*"|\S+')

Piece = Callable[[Any], str]
"""What one piece of a template makes of the data at its dot."""


class TemplateError(Exception):
    """The template cannot be parsed or names what is not there."""


def render(template: str, data: Any) -> str:
    """Raises TemplateError."""
    return _block(iter(_ACTION.split(template)), top=True)(data)


def _block(pieces: Iterator[str], *, top: bool = False) -> Piece:
    """Text and actions in turn, up to the end of the block."""
    found: list[Piece] = []
    while True:
        text, action = next(pieces), next(pieces, None)
        if "{{" in text:
            raise TemplateError("template parsing error: unclosed action")
        found.append(partial(_text, text))
        if action is None or action == "end":
            if top != (action is None):
                raise TemplateError(f"template parsing error: unexpected {action or 'EOF'}")
            return lambda dot: "".join(piece(dot) for piece in found)
        word, _, rest = action.partition(" ")
        found.append(_range(rest, _block(pieces)) if word == "range" else _expression(action))


def _text(text: str, dot: Any) -> str:
    return text


def _range(source: str, body: Piece) -> Piece:
    return lambda dot: "".join(map(body, _value(source, dot) or ()))


def _expression(source: str) -> Piece:
    return lambda dot: show(_value(source, dot))


def _value(source: str, dot: Any) -> Any:
    head, *words = _WORD.findall(source) or [""]
    function = _FUNCTIONS.get(head) or _operand(head, dot)
    given = [_operand(word, dot) for word in words]
    try:
        return function(*given) if callable(function) else function
    except (AttributeError, TypeError) as error:
        raise TemplateError(f"template: error calling {head}: {error}") from None


def _operand(word: str, dot: Any) -> Any:
    if word.startswith('"'):
        return json.loads(word)
    if not word.startswith("."):
        raise TemplateError(f'template parsing error: template: :1: function "{word}" not defined')
    for name in filter(None, word.split(".")):
        if not isinstance(dot, dict) or name not in dot:
            raise TemplateError(f'template: :1: executing "" at <{word}>: map has no entry for key "{name}"')
        dot = dot[name]
    return dot


def show(value: Any) -> str:
    """As Go prints it."""
    if value is None:
        return "<no value>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + " ".join(show(item) for item in value) + "]"
    if isinstance(value, dict):
        return "map[" + " ".join(f"{key}:{show(item)}" for key, item in sorted(value.items())) + "]"
    return str(value)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "json": lambda value: json.dumps(value, separators=(",", ":")),
    "index": lambda value, key: value.get(key, ""),
    "println": lambda *items: " ".join(show(item) for item in items) + "\n",
}
