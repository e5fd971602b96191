"""Knobs of the host, kept on its disk: which OpenShell it plays, and how that one denies."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields

from . import layout, store

REHEARSAL = "REHEARSAL"


@dataclass(frozen=True)
class Settings:
    """`openshell` is a version; `denial` is dns, connect or proxy; `list_envelope` as since 0.1, else bare arrays."""

    openshell: str = "0.1.2"
    denial: str = "dns"
    list_envelope: bool = True
    docker: str = "29.8.1"

    @property
    def version(self) -> tuple[int, ...]:
        return tuple(int(part) for part in self.openshell.split("-")[0].split("+")[0].split("."))


def current() -> Settings:
    kept = store.load(layout.SETTINGS) or {}
    known = {field.name for field in fields(Settings)}
    return Settings(**{name: value for name, value in kept.items() if name in known})


def save_defaults() -> None:
    """So that a curious operator finds what can be turned."""
    if not layout.SETTINGS.exists():
        store.save(layout.SETTINGS, asdict(Settings()))


def version_text() -> str:
    return f"{current().openshell}+rehearsal {REHEARSAL}"
