"""The part of Go's text/template that `--format` arguments use."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

_ACTION = re.compile(r"\{\{(- )?\s*(.*?)\s*( -)?\}\}", re.DOTALL)
_WORD = re.compile(r'"(?:[^"\\]|\\.)*"|`[^`]*`|\||\(|\)|[^\s|()]+')


class TemplateError(Exception):
    """The template cannot be parsed or names what is not there."""


@dataclass(frozen=True)
class Node:
    """One piece: text, an expression, or a block (`range`, `if`, `with`) with its branches."""

    kind: str
    source: str
    body: tuple[Node, ...] = ()
    otherwise: tuple[Node, ...] = ()


def render(template: str, data: Any) -> str:
    """Raises TemplateError."""
    nodes = tuple(_parse(_pieces(template), top=True)[0])
    return "".join(_write(nodes, data, {"$": data}))


def _pieces(template: str) -> Iterator[tuple[str, str]]:
    position, trim = 0, False
    for match in _ACTION.finditer(template):
        text = template[position : match.start()]
        text = text.lstrip() if trim else text
        yield "text", text.rstrip() if match[1] else text
        yield "action", match[2]
        position, trim = match.end(), bool(match[3])
    rest = template[position:]
    if "{{" in rest:
        raise TemplateError("template parsing error: unclosed action")
    yield "text", rest.lstrip() if trim else rest


def _parse(pieces: Iterator[tuple[str, str]], *, top: bool = False) -> tuple[list[Node], str]:
    nodes: list[Node] = []
    for kind, source in pieces:
        word, _, rest = source.partition(" ")
        if kind == "text":
            nodes.append(Node("text", source))
        elif word in ("range", "if", "with"):
            body, ended = _parse(pieces)
            otherwise: list[Node] = []
            if ended == "else":
                otherwise, ended = _parse(pieces)
            nodes.append(Node(word, rest, tuple(body), tuple(otherwise)))
        elif word in ("end", "else"):
            if top:
                raise TemplateError(f"template parsing error: unexpected {{{{{word}}}}}")
            return nodes, word
        elif not source.startswith("/*"):
            nodes.append(Node("expression", source))
    if not top:
        raise TemplateError("template parsing error: unexpected EOF")
    return nodes, ""


def _write(nodes: tuple[Node, ...], dot: Any, variables: dict[str, Any]) -> Iterator[str]:
    for node in nodes:
        if node.kind == "text":
            yield node.source
        elif node.kind == "expression":
            name, assigned, rest = node.source.partition(":=")
            if assigned:
                variables[name.strip()] = _evaluate(rest, dot, variables)
            else:
                yield show(_evaluate(node.source, dot, variables))
        elif node.kind == "range":
            yield from _write_range(node, dot, variables)
        else:
            value = _evaluate(node.source, dot, variables)
            inner = value if node.kind == "with" and value else dot
            yield from _write(node.body if value else node.otherwise, inner, dict(variables))


def _write_range(node: Node, dot: Any, variables: dict[str, Any]) -> Iterator[str]:
    names, assigned, rest = node.source.partition(":=")
    wanted = [name.strip() for name in names.split(",")] if assigned else []
    value = _evaluate(rest if assigned else node.source, dot, variables)
    items = sorted(value.items()) if isinstance(value, dict) else list(enumerate(value or []))
    for key, item in items:
        bound = dict(variables)
        if len(wanted) == 2:
            bound[wanted[0]] = key
        if wanted:
            bound[wanted[-1]] = item
        yield from _write(node.body, item, bound)
    if not items:
        yield from _write(node.otherwise, dot, variables)


def _evaluate(source: str, dot: Any, variables: dict[str, Any]) -> Any:
    words = _WORD.findall(source)
    value, rest = _pipeline(words, dot, variables)
    if rest:
        raise TemplateError(f"template parsing error: unexpected {rest[0]!r}")
    return value


def _pipeline(words: list[str], dot: Any, variables: dict[str, Any]) -> tuple[Any, list[str]]:
    value: Any = None
    first = True
    while True:
        arguments: list[Any] = []
        name: str | None = None
        while words and words[0] not in ("|", ")"):
            word, *words = words
            if word == "(":
                inner, words = _pipeline(words, dot, variables)
                arguments.append(inner)
                words = words[1:]
            elif name is None and not arguments and word in _FUNCTIONS:
                name = word
            else:
                arguments.append(_operand(word, dot, variables))
        if not first:
            arguments.append(value)
        value = _call(name, arguments)
        first = False
        if not words or words[0] == ")":
            return value, words
        words = words[1:]


def _call(name: str | None, arguments: list[Any]) -> Any:
    if name is not None:
        try:
            return _FUNCTIONS[name](*arguments)
        except (TypeError, KeyError, IndexError, ValueError) as error:
            raise TemplateError(f"template: error calling {name}: {error}") from None
    if not arguments:
        raise TemplateError("template parsing error: missing value for command")
    head, *rest = arguments
    return head(*rest) if callable(head) else head


def _operand(word: str, dot: Any, variables: dict[str, Any]) -> Any:
    if word.startswith('"'):
        return json.loads(word)
    if word.startswith("`"):
        return word[1:-1]
    if re.fullmatch(r"-?\d+", word):
        return int(word)
    if word in ("true", "false", "nil"):
        return {"true": True, "false": False, "nil": None}[word]
    root, *names = word.split(".")
    if root.startswith("$"):
        if root not in variables:
            raise TemplateError(f"template parsing error: undefined variable {root!r}")
        value = variables[root]
    elif root:
        raise TemplateError(f'template parsing error: template: :1: function "{root}" not defined')
    else:
        value = dot
    for name in names:
        if name:
            value = _member(value, name, word)
    return value


def _member(value: Any, name: str, word: str) -> Any:
    if isinstance(value, dict) and name in value:
        return value[name]
    raise TemplateError(f'template: :1: executing "" at <{word}>: map has no entry for key "{name}"')


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


def _index(value: Any, *keys: Any) -> Any:
    for key in keys:
        value = value.get(key, "") if isinstance(value, dict) else value[key]
    return value


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "json": lambda value: json.dumps(value, separators=(",", ":")),
    "index": _index,
    "len": len,
    "join": lambda items, separator: separator.join(show(item) for item in items),
    "upper": lambda text: str(text).upper(),
    "lower": lambda text: str(text).lower(),
    "print": lambda *items: "".join(show(item) for item in items),
    "println": lambda *items: " ".join(show(item) for item in items) + "\n",
    "eq": lambda one, *others: one in others,
    "ne": lambda one, other: one != other,
    "not": lambda value: not value,
    "and": lambda *items: next((item for item in items if not item), items[-1]),
    "or": lambda *items: next((item for item in items if item), items[-1]),
}
