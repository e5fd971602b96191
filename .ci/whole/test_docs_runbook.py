"""docs/runbook.md, run from top to bottom as a person would, on the rehearsal host."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import doc_blocks
import pytest
import world_bench

RUNBOOK = doc_blocks.ROOT / "docs" / "runbook.md"
folder = world_bench.folder


@pytest.fixture(scope="module")
def told(folder: Path) -> dict[str, str]:
    """Each section's output, by its heading."""
    script = [f"exec 2>&1; set -eu; export PATH={Path(sys.executable).parent}:$PATH; cd $AMAP_REPOSITORY"]
    for section in re.split(r"^(?=##)", RUNBOOK.read_text(encoding="utf-8"), flags=re.MULTILINE):
        heading = re.sub(r"<a [^>]*></a>", "", section.partition("\n")[0]).strip("# ")
        script.append(f"echo; echo {json.dumps(f'== {heading}')}")
        script += [found["body"] for found in doc_blocks.FENCE.finditer(section) if found["info"] == "sh"]
    access = [str(doc_blocks.ROOT), str(folder)]
    done = world_bench.run(folder, "bash", "-c", "\n".join(script), access=access, seconds=180)
    assert done.returncode == 0, done.stdout[-4000:]
    parts = re.split(r"^== (.*)\n", done.stdout, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def of(told: dict[str, str], beginning: str) -> str:
    return next(text for heading, text in told.items() if heading.startswith(beginning))


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("Step 2", r"^Configuration OK"),
        ("Step 4", r"^Created sandbox: beta$"),
        ("Step 5", r"^recorded: alpha, beta$"),
        ("Step 7", r"/instances/alpha/peer/notices/notice-\w+\.json$"),
        ("Pass criterion 1", r"(?s)^PASS roster.*^PASS request.*^PASS result.*^PASS peer.*^PASS message"),
        ("Pass criterion 2", r'"outcome": "delivered"'),
        ("Pass criterion 3", r"(?s)outbox/\.probe worked.*inbox/\.probe EROFS.*/lanes/inbox false"),
        ("Pass criterion 4", r"(?s)DENIED mail\.example\.org"),
        ("Pass criterion 5", r'"recipient_not_allowlisted"'),
        ("Unknown 1", r"(?s)notice-\w+\.json.*notice-\w+\.json.*T\d\d:\d\d:\d\d"),
        ("Unknown 3", r"(?s)^messages\nnotices\n.*Permission denied.*failed, exit"),
        ("Unknown 4", r'(?s)"held".*"delivered"'),
        ("Unknown 5", r"(?s)Read-only file system.*\.probe worked"),
        ("Unknown 6", r" 600 "),
        ("Unknown 7", r"(?s)1000:1000 600|^\d+:\d+ 600"),
        ("Step 9", r"^NOT CHECKED HERE"),
    ],
)
def test_the_section_shows_what_it_says(told: dict[str, str], heading: str, expected: str) -> None:
    assert re.search(expected, of(told, heading), re.MULTILINE), of(told, heading)[-3000:]


def test_the_probe_is_not_left_behind(told: dict[str, str]) -> None:
    listing = of(told, "Unknown 3").rpartition("NAME")[2].splitlines()[1:]
    assert [row.split()[1] for row in listing if row.strip()] == ["alpha", "beta"]
