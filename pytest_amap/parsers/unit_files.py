"""A systemd service from its files: the unit and its drop-ins, in the order in which systemd applies them. Pure.

For a session without a user bus, where systemctl cannot tell. What cannot be decided is a doubt, never left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from .environment_files import LIMIT
from .text import lines
from .units import Unit, concerns, split

_SPECIFIER = re.compile(r"%(.?)", re.DOTALL)
_PREFIXES = re.compile(r"[-@:+!|]*")


@dataclass
class _Service:
    specifiers: Mapping[str, str]
    started: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    unset: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)

    def take(self, where: str, name: str, value: str) -> None:
        """Apply one assignment; an empty one takes back what was assigned before."""
        match name:
            case "ExecStart":
                self.started = [*self.started, value] if value else []
            case "Environment":
                self._environment(where, value)
            case "EnvironmentFile":
                self._file(where, value)
            case "UnsetEnvironment":
                self.unset = [*self.unset, *self._words(where, name, value)] if value else []

    def _environment(self, where: str, value: str) -> None:
        if not value:
            self.environment = {}
        for word in self._words(where, "Environment", value):
            name, _, rest = word.partition("=")
            self.environment[name] = rest

    def _file(self, where: str, value: str) -> None:
        path = self._expanded(value.removeprefix("-"))
        if not value:
            self.files = []
        elif path is None:
            self.doubts.append(f"{where}: an EnvironmentFile= with a specifier that is not known here")
        else:
            self.files.append(path)

    def _words(self, where: str, name: str, value: str) -> list[str]:
        """The words of a value; those that cannot be decided are a doubt where they concern the gateway."""
        words = None if "\\" in value else split(value)
        if words is None:
            self.doubts.append(f"{where}: a {name}= that cannot be split into words")
            return []
        read = [(word, self._expanded(word)) for word in words]
        odd = [word.partition("=")[0] for word, decided in read if decided is None]
        telling = [one for one in odd if name == "ExecStart" or concerns(one) or "%" in one]
        self.doubts += [f"{where}: {name}= has a specifier in {one} that is not known here" for one in telling]
        return [decided for _, decided in read if decided is not None]

    def _expanded(self, text: str) -> str | None:
        if any(found[1] not in self.specifiers for found in _SPECIFIER.finditer(text)):
            return None
        return _SPECIFIER.sub(lambda found: self.specifiers[found[1]], text)

    def argv(self) -> tuple[str, ...]:
        """The one command that is started."""
        if len(self.started) != 1:
            self.doubts += ["its files name more than one ExecStart="] if self.started else []
            return ()
        prefixes = _PREFIXES.match(self.started[0])
        assert prefixes is not None
        before = len(self.doubts)
        words = self._words("its unit", "ExecStart", self.started[0][prefixes.end() :])
        if ";" in words or not words:
            self.doubts.append("its ExecStart= is not one command")
        if len(self.doubts) > before:  # the words that are left might mean something else
            return ()
        return tuple(word.replace("$", "$$") for word in words) if ":" in prefixes[0] else tuple(words)


def unit(files: Sequence[tuple[str, str]], specifiers: Mapping[str, str]) -> Unit:
    """The service that unit file and drop-ins, (name, text) in their order, make.

    `specifiers` are those that are known, `h` for the home; `%%` is a percent sign.
    """
    service = _Service({"%": "%", **specifiers})
    for where, text in files:
        if len(text) > LIMIT:
            service.doubts.append(f"{where}: more than {LIMIT} characters")
            continue
        for name, value in assignments(text, "Service"):
            service.take(where, name, value)
    argv = service.argv()
    return Unit(
        argv=argv,
        environment=service.environment,
        environment_files=tuple(service.files),
        drop_ins=tuple(where for where, _ in files[1:]),
        state="",
        active_since="",
        unset=tuple(service.unset),
        doubts=tuple(service.doubts),
    )


def assignments(text: str, section: str) -> Iterator[tuple[str, str]]:
    """(name, value) of each assignment in a section; a line that ends in a backslash goes on in the next.

    A byte order mark at the beginning is passed over, as systemd does.
    """
    here, held = "", ""
    for line in [*lines(text.removeprefix("\ufeff")), ""]:
        line = line.strip()
        if line[:1] in ("#", ";"):  # also between a line and its continuation
            continue
        if (len(line) - len(line.rstrip("\\"))) % 2:
            held += f"{line[:-1]} "
            continue
        line, held = f"{held}{line}", ""
        if line.startswith("[") and line.endswith("]"):
            here = line[1:-1]
        elif here == section and "=" in line:
            name, _, value = line.partition("=")
            yield name.strip(), value.strip()
