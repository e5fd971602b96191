"""The stand-in's validator: every fixture, the error texts, and the block that the report copies."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from siblings_bench import SPEC, load, run

validate = load("rehearsed_spec", SPEC / "fixtures/validate.py")
FIXTURES = sorted((SPEC / "fixtures").glob("*valid/*.json"))


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_fixture_is_what_its_folder_says(path: Any) -> None:
    errors = validate.check_document(path.name, json.loads(path.read_text()))
    assert (errors == []) == (path.parent.name == "valid"), errors
    assert all(error.startswith("$") and ": " in error for error in errors)


def test_every_prefix_has_a_schema_and_fixtures_of_both_kinds() -> None:
    for prefix, schema in validate.SCHEMA_FOR_PREFIX.items():
        assert json.loads((SPEC / "schemas" / schema).read_text())["title"]
        kinds = {path.parent.name for path in FIXTURES if path.name.startswith(prefix)}
        assert kinds == {"valid", "invalid"}, prefix


def test_the_program_counts_its_fixtures() -> None:
    done = run("/usr/bin/python3", SPEC / "fixtures/validate.py")
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == f"{len(FIXTURES)} fixtures checked, 0 unexpected"


def test_an_unmapped_prefix_ends_the_process() -> None:
    with pytest.raises(SystemExit, match="no schema for unheard-of"):
        validate.check_document("unheard-of.json", {})


ERRORS: dict[str, tuple[Any, dict[str, Any], list[str]]] = {
    "const before type": (2, {"const": "2", "type": "string"}, ["$: 2 != const '2'", "$: int is not of type string"]),
    "nothing below a wrong type": ([], {"type": "object", "required": ["a"]}, ["$: list is not of type object"]),
    "a boolean is no number": (True, {"type": "integer"}, ["$: bool is not of type integer"]),
    "true is not 1": (True, {"const": 1}, ["$: True != const 1"]),
    "a trailing newline": ("a\n", {"type": "string", "pattern": "^a$"}, ["$: 'a\\n' fails pattern ^a$"]),
    "an index in the path": ([1, ""], {"items": {"type": "integer"}}, ["$[1]: str is not of type integer"]),
    "below a minimum": (-1, {"type": "integer", "minimum": 0}, ["$: -1 is below 0"]),
}


@pytest.mark.parametrize(("value", "schema", "errors"), ERRORS.values(), ids=ERRORS.keys())
def test_an_error_starts_with_its_path(value: Any, schema: dict[str, Any], errors: list[str]) -> None:
    assert validate.validate(value, schema) == errors


def test_the_block_of_unchecked_items_has_its_shape() -> None:
    text = (SPEC / "fixtures/validate.py").read_text()
    block = text[text.index("NOT CHECKED HERE") :].split("\n\n")[0]
    assert len(re.findall(r"^  - ", block, re.MULTILINE)) == 16
    assert len(re.findall(r"^    - ", block, re.MULTILINE)) == 6
    assert all(leg in block for leg in ("(a)", "(b)", "(c)"))
