"""Faults in the spec checkout's validator: a changed copy lies over the file in this world alone."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from .. import kernel

VALIDATOR = "fixtures/validate.py"


def plant(checkout: Path, scratch: Path, names: Collection[str]) -> None:
    """While the world is built; `scratch` takes the changed copy."""
    text = (checkout / VALIDATOR).read_text()
    changed = text
    for name in VALIDATORS:
        if name in names:
            changed = VALIDATORS[name](changed)
    if changed != text:
        scratch.write_text(changed)
        kernel.bind(str(scratch), str(checkout / VALIDATOR), True)


def _after(lines: str) -> Callable[[str], str]:
    """What stands before the program's own entry is what an importer sees."""
    return lambda text: f"{text}\n{lines}\n"


VALIDATORS: dict[str, Callable[[str], str]] = {
    "validator-broken": lambda text: f"import jsonschema_of_another_release\n{text}",
    "validator-without-roster": _after('SCHEMA_FOR_PREFIX.pop("roster-")'),
    "schema-misnamed": _after('SCHEMA_FOR_PREFIX["roster-"] = "roster.v9.schema.json"'),
}
