"""Docker's flags: short ones with or without a value, long ones with `=` or a space, the rest in order."""

from __future__ import annotations

from dataclasses import dataclass, field

from .errors import DockerError


@dataclass
class Flags:
    """Values by long name, and the words that are no flags."""

    values: dict[str, list[str]] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)

    def has(self, name: str) -> bool:
        return name in self.values and self.values[name][-1] != "false"

    def last(self, name: str, default: str = "") -> str:
        return self.values[name][-1] if name in self.values else default

    def all(self, name: str) -> list[str]:
        return self.values.get(name, [])


def read(words: list[str], valued: str, switches: str, *, stop_at_word: bool = False) -> Flags:
    """`valued` and `switches` list flags as `name` or `s/name`; with `stop_at_word` flags end at the first word."""
    takes_value, names = {}, {}
    for text, value in ((valued, True), (switches, False)):
        for item in text.split():
            short, _, name = item.rpartition("/")
            takes_value[name] = value
            names[f"--{name}"] = name
            if short:
                names[f"-{short}"] = name
    found = Flags()
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--" or (stop_at_word and not word.startswith("-")):
            found.words = rest if word == "--" else [word, *rest]
            return found
        if not word.startswith("-"):
            found.words.append(word)
            continue
        key, equals, inline = word.partition("=")
        if not word.startswith("--") and len(key) > 2:  # -it, -f3
            key, cluster = key[:2], key[2:]
            if key in names and takes_value[names[key]]:
                equals, inline = "=", cluster + (f"={inline}" if equals else "")
            else:
                rest.insert(0, f"-{cluster}")
        if key not in names:
            raise DockerError(f"unknown flag: {key}\n\nUsage:  docker [OPTIONS] COMMAND", 125)
        name = names[key]
        if not takes_value[name]:
            found.values.setdefault(name, []).append(inline if equals else "true")
        elif equals:
            found.values.setdefault(name, []).append(inline)
        elif rest:
            found.values.setdefault(name, []).append(rest.pop(0))
        else:
            raise DockerError(f"flag needs an argument: {key}", 125)
    return found
