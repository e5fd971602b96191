"""docs/checks.md has a row for each part of a clean run, and no row for a part that does not exist."""

from __future__ import annotations

import re
from typing import Any

import doc_blocks
import pytest
from rehearsing import Rehearsal

from pytest_amap.catalogue import L1

SECTION = re.compile(r"^## (?P<name>\w+)\n(?P<body>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| (?P<part>[^|]+?) \|", re.MULTILINE)
ONLY_IF_DECLARED = "declared: "


def documented() -> dict[str, set[str]]:
    text = (doc_blocks.ROOT / "docs" / "checks.md").read_text(encoding="utf-8")
    rows = {found["name"]: set(ROW.findall(found["body"])) - {"part"} for found in SECTION.finditer(text)}
    return {name: {row for row in parts if not row.startswith(ONLY_IF_DECLARED)} for name, parts in rows.items()}


def general(part: dict[str, Any]) -> str:
    return re.sub(r"notice-[0-9a-f]+", "notice-*", str(part["name"]))


@pytest.mark.parametrize("name", L1.ids)
def test_the_parts_of(name: str, clean: Rehearsal) -> None:
    test = next(test for test in clean.results["tests"] if test["name"] == name)
    assert {general(part) for part in test["extra"]["parts"]} == documented()[name]
