"""Command lines read as clap reads them: global flags anywhere, exact long names, exit code 2 for what is not known."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .errors import CliError, UsageError


@dataclass(frozen=True)
class Option:
    """One flag. `value` is the placeholder of its argument; None makes it a switch."""

    flag: str
    value: str | None = None
    short: str | None = None
    choices: tuple[str, ...] = ()
    variable: str | None = None
    conflicts: tuple[str, ...] = ()


@dataclass
class Arguments:
    """What a command line said: values by flag name without dashes, positionals, and what stands behind `--`."""

    values: dict[str, list[str]] = field(default_factory=dict)
    positionals: list[str] = field(default_factory=list)
    trailing: list[str] = field(default_factory=list)

    def has(self, name: str) -> bool:
        return name in self.values

    def all(self, name: str) -> list[str]:
        return self.values.get(name, [])

    def last(self, name: str) -> str | None:
        return self.values[name][-1] if name in self.values else None

    def get(self, name: str, default: str) -> str:
        return self.values[name][-1] if name in self.values else default

    def number(self, name: str, default: int) -> int:
        text = self.get(name, str(default))
        if not text.isdigit():
            raise UsageError(f"invalid value '{text}' for '--{name}': invalid digit found in string")
        return int(text)


@dataclass(frozen=True)
class Command:
    """One command: its words, its own options, its positionals as usage shows them.

    `runs` is `module.function` of this package, loaded when the command is run: a host starts many commands, and what
    one of them needs is slow to load for all the others.
    """

    words: tuple[str, ...]
    about: str
    runs: str
    options: tuple[Option, ...] = ()
    positionals: tuple[str, ...] = ()
    trailing: bool = False

    def load(self) -> Callable[[Arguments], int]:
        module, _, function = self.runs.partition(".")
        return getattr(importlib.import_module(f"{__package__}.{module}"), function)

    def usage(self) -> str:
        parts = ["Usage: openshell", *self.words, "[OPTIONS]", *self.positionals]
        return " ".join(parts + (["[-- <COMMAND>...]"] if self.trailing else []))

    def help(self, shared: Sequence[Option]) -> str:
        rows = []
        for option in (*self.options, *shared):
            short = f"{option.short}, " if option.short else "    "
            value = f" <{option.value}>" if option.value else ""
            choices = f"  [possible values: {', '.join(option.choices)}]" if option.choices else ""
            rows.append(f"  {short}{option.flag}{value}{choices}")
        rows.append("  -h, --help")
        return f"{self.about}\n\n{self.usage()}\n\nOptions:\n" + "\n".join(rows) + "\n"


def read(words: Sequence[str], command: Command, shared: Sequence[Option]) -> Arguments:
    """`words` behind the command's own; raises UsageError."""
    known = {name: option for option in (*command.options, *shared) for name in (option.flag, option.short) if name}
    found = Arguments()
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            if not command.trailing:
                raise UsageError(f"unexpected argument '{(rest or ['--'])[0]}' found")
            found.trailing = rest
            break
        if word.startswith("-") and word != "-":
            _take_option(word, rest, known, found)
        else:
            found.positionals.append(word)
    _defaults(known, found)
    _check(command, found, known)
    return found


def _take_option(word: str, rest: list[str], known: dict[str, Option], found: Arguments) -> None:
    name, equals, inline = word.partition("=")
    option = known.get(name)
    if option is None:
        raise UsageError(f"unexpected argument '{name}' found")
    values = found.values.setdefault(option.flag.removeprefix("--"), [])
    if option.value is None:
        if equals:
            raise UsageError(f"unexpected value '{inline}' for '{option.flag}' found; no more were expected")
        values.append("true")
        return
    if not equals and not rest:
        raise UsageError(f"a value is required for '{option.flag} <{option.value}>' but none was supplied")
    value = inline if equals else rest.pop(0)
    if option.choices and value not in option.choices:
        possible = ", ".join(option.choices)
        raise UsageError(
            f"invalid value '{value}' for '{option.flag} <{option.value}>'\n  [possible values: {possible}]"
        )
    values.append(value)


def _defaults(known: dict[str, Option], found: Arguments) -> None:
    for option in known.values():
        name = option.flag.removeprefix("--")
        if option.variable and name not in found.values and os.environ.get(option.variable):
            found.values[name] = [os.environ[option.variable]]


def _check(command: Command, found: Arguments, known: dict[str, Option]) -> None:
    for option in known.values():
        for other in option.conflicts:
            if found.has(option.flag.removeprefix("--")) and found.has(other.removeprefix("--")):
                raise UsageError(f"the argument '{option.flag}' cannot be used with '{other}'")
    required = [name for name in command.positionals if name.startswith("<")]
    if len(found.positionals) < len(required):
        missing = " ".join(required[len(found.positionals) :])
        raise UsageError(f"the following required arguments were not provided:\n  {missing}")
    if not any(name.endswith("...") for name in command.positionals) and len(found.positionals) > len(
        command.positionals
    ):
        raise UsageError(f"unexpected argument '{found.positionals[len(command.positionals)]}' found")


def pairs(words: list[str], flag: str) -> dict[str, str]:
    """The values of a repeatable KEY=VALUE flag."""
    found = {}
    for word in words:
        name, separator, value = word.partition("=")
        if not separator or not name:
            raise CliError(f"{flag} expects KEY=VALUE, got '{word}'")
        if name.startswith("OPENSHELL_") and flag == "--env":
            raise CliError(f"environment variable '{name}' is reserved")
        found[name] = value
    return found
