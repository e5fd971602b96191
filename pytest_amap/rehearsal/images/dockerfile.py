"""Reads the part of the Dockerfile language that plain recipes use: no heredocs, no build stages."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

_VARIABLE = re.compile(r"\\\$|\$\{(\w+)(?::([-+?])([^}]*))?\}|\$(\w+)")
FOLLOWED = frozenset(("FROM", "ARG", "ENV", "LABEL", "RUN", "WORKDIR", "USER", "COPY", "ADD", "ENTRYPOINT", "CMD"))
IGNORED = frozenset(("HEALTHCHECK", "EXPOSE", "SHELL", "STOPSIGNAL", "VOLUME", "MAINTAINER"))


class DockerfileError(Exception):
    """The recipe cannot be read or built; the text says why."""


@dataclass(frozen=True)
class Instruction:
    """One instruction: its word in upper case, the rest of it, and the line it begins on."""

    word: str
    rest: str
    line: int


def parse(text: str) -> list[Instruction]:
    instructions = []
    pending, begun = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("#") or (not line.strip() and not pending):
            continue
        begun = begun if pending else number
        if line.rstrip().endswith("\\"):
            pending += line.rstrip()[:-1] + "\n"
            continue
        instructions.append(_instruction(pending + line, begun))
        pending = ""
    if pending:
        instructions.append(_instruction(pending, begun))
    if not instructions:
        raise DockerfileError("the Dockerfile cannot be empty")
    return instructions


def _instruction(text: str, line: int) -> Instruction:
    word, _, rest = text.strip().partition(" ")
    if word.upper() not in FOLLOWED | IGNORED:
        raise DockerfileError(f"dockerfile parse error on line {line}: unknown instruction: {word}")
    # A RUN keeps its lines: the shell's own continuation is what joined them.
    rest = rest.strip() if word.upper() != "RUN" else rest.strip().replace("\n", " ")
    return Instruction(word.upper(), rest, line)


def substitute(text: str, values: Mapping[str, str]) -> str:
    """Expand $name, ${name}, ${name:-default}, ${name:+other} and ${name:?message}."""

    def expand(match: re.Match[str]) -> str:
        if match[0] == r"\$":
            return "$"
        value = values.get(match[1] or match[4], "")
        if match[2] == "-":
            return value or match[3]
        if match[2] == "+":
            return match[3] if value else ""
        if match[2] == "?" and not value:
            raise DockerfileError(match[3] or f"{match[1]} is not set")
        return value

    return _VARIABLE.sub(expand, text)


def pairs(rest: str, values: Mapping[str, str]) -> dict[str, str]:
    """`a=1 b="two words"`, and the old `a value` form."""
    words = shlex.split(rest.replace("\n", " "))
    if words and "=" not in words[0]:
        return {words[0]: substitute(" ".join(words[1:]), values)}
    return {name: substitute(value, values) for name, _, value in (word.partition("=") for word in words)}


def command(rest: str) -> list[str]:
    """The exec form as it is, the shell form through /bin/sh."""
    if rest.startswith("["):
        try:
            return [str(word) for word in json.loads(rest)]
        except ValueError:
            pass
    return ["/bin/sh", "-c", rest]
