"""Who is admitted: a real directory under instances_dir that the host's verdict selects."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from . import safefs
from .config import ROUTER_NAME, Config


@dataclass(frozen=True)
class Instance:
    """One admitted member: its name, how it was found, and the root of its lanes."""

    name: str
    mode: str
    root: str


@dataclass(frozen=True)
class Discovery:
    """One look at the host: the admitted, sorted by name, and the report of what was not."""

    instances: tuple[Instance, ...]
    report: tuple[str, ...] = ()
    verdict_unavailable: bool = False

    @property
    def names(self) -> list[str]:
        """The admitted names, sorted."""
        return [instance.name for instance in self.instances]


def look(config: Config) -> Discovery:
    """The instances of this moment; an unreadable verdict admits nobody, which is not an empty verdict."""
    if config.instances_dir is None or config.selected_json is None:
        authored = tuple(Instance(name, mode, root) for name, (mode, root) in sorted(config.roots.items()))
        return Discovery(authored)
    verdict = safefs.read_object(config.selected_json)
    if verdict is None:
        return Discovery((), (f"VERDICT UNAVAILABLE {config.selected_json}",), True)
    selected, not_selected = _slugs(verdict, "selected"), _slugs(verdict, "not_selected")
    found, report = _scan(config.instances_dir, config.state_dir, selected, not_selected)
    present = {instance.name for instance in found}
    report += [f"NO DIRECTORY {slug}" for slug in sorted(selected - present) if not _mentioned(slug, report)]
    report += _inert(config, present)
    return Discovery(tuple(found), tuple(report))


def _slugs(verdict: dict[str, Any], key: str) -> set[str]:
    entries = verdict.get(key)
    if not isinstance(entries, list):
        return set()
    return {entry["slug"] for entry in entries if isinstance(entry, dict) and isinstance(entry.get("slug"), str)}


def _scan(
    instances_dir: str, state_dir: str, selected: set[str], not_selected: set[str]
) -> tuple[list[Instance], list[str]]:
    try:
        with os.scandir(instances_dir) as scan:
            entries = sorted(scan, key=lambda entry: entry.name)
    except OSError as error:
        return [], [f"SKIPPED {instances_dir}: {error.strerror}"]
    report: list[str] = []
    by_fold: dict[str, list[str]] = {}
    for entry in entries:
        if not entry.is_dir(follow_symlinks=False):
            report.append(f"SKIPPED {entry.name}: not a real directory")
        elif entry.name in selected and entry.name.lower() != ROUTER_NAME:
            by_fold.setdefault(entry.name.lower(), []).append(entry.name)
        elif entry.name not in not_selected:
            report.append(f"NO VERDICT {entry.name}")
    found = []
    for names in by_fold.values():
        known = [name for name in names if os.path.isdir(os.path.join(state_dir, name))]
        winner = names[0] if len(names) == 1 else (known[0] if len(known) == 1 else None)
        report += [f"SKIPPED {name}: differs from another in case only" for name in names if name != winner]
        if winner is not None:
            found.append(Instance(winner, "discovery", os.path.join(instances_dir, winner)))
    return sorted(found, key=lambda instance: instance.name), report


def _mentioned(slug: str, report: list[str]) -> bool:
    return any(line.startswith(f"SKIPPED {slug}:") for line in report)


def _inert(config: Config, present: set[str]) -> list[str]:
    lines = []
    for receiver, senders in sorted(config.task.items()):
        lines += [f"INERT EDGE {sender} -> {receiver}" for sender in sorted(senders) if {sender, receiver} - present]
    return lines
