"""Faults in a sibling checkout's program: a changed copy lies over the file in this world alone."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from .. import kernel

Change = Callable[[str], str]


def plant(siblings: Path, scratch: Path, names: Collection[str]) -> None:
    """While the world is built; `siblings` holds the checkouts, `scratch` takes the changed copies."""
    for program, changes in PROGRAMS.items():
        text = changed = (siblings / program).read_text() if (siblings / program).is_file() else ""
        for name in sorted(changes.keys() & set(names)):
            changed = changes[name](changed)
        if changed != text:
            copy = scratch / program.replace("/", "-")
            copy.write_text(changed)
            kernel.bind(str(copy), str(siblings / program), True)


def _after(lines: str) -> Change:
    """What stands before the program's own entry is what an importer sees."""
    return lambda text: f"{text}\n{lines}\n"


def _before_publishing(line: str) -> Change:
    """One more statement of the router's roster, between making the document and writing it."""
    writes = '    try:\n        with safefs.directory(parent, "roster")'
    return lambda text: text.replace(writes, f"    {line}\n{writes}")


VALIDATORS: dict[str, Change] = {
    "validator-broken": lambda text: f"import jsonschema_of_another_release\n{text}",
    "validator-without-roster": _after('SCHEMA_FOR_PREFIX.pop("roster-")'),
    "validator-lenient": _after("def check_document(name, document): return []"),
    "schema-misnamed": _after('SCHEMA_FOR_PREFIX["roster-"] = "roster.v9.schema.json"'),
}
ROSTERS: dict[str, Change] = {
    "roster-invalid": _before_publishing('document["router"] = "the router"'),
    "roster-stalls": _before_publishing(
        'if vars(publish).setdefault("times", []).append(1) or len(publish.times) > 1: return "written"'
    ),
    "roster-schema-1": _before_publishing(
        'document = {"schema": 1, "generated_ts": document["written_at"], '
        '"members": [{"slug": member["address"].partition("@")[0]} for member in document["members"]]}'
    ),
}
PROGRAMS = {
    "amap-spec/fixtures/validate.py": VALIDATORS,
    "amap-router-local/router/roster.py": ROSTERS,
}
