"""What `.ci/run` expects of a run's files. Says nothing where all is well; otherwise one line a surprise and exit 1.

usage: expect.py rehearsal RESULTS_JSON | expect.py skips JUNIT_XML
"""

from __future__ import annotations

import json
import os
import re
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

NOT_PRODUCED = ["directory-", "notice-", "identity-"]
"""The document classes that a fleet of delegating agents has no writer for: mail, directory, bindings."""

NEEDED = {
    "AMAP_DOCKER": re.compile(r"Docker daemon|base image"),
    "AMAP_NAMESPACES": re.compile(r"namespace|unshare|landlock|cannot enter", re.IGNORECASE),
}
"""By the variable with which `.ci/run` says that it has just seen it work: reasons of a skip for want of it.

The first that fits is what was wanting: a daemon may fail for namespaces that a rehearsal does not need.
"""


def rehearsal(results: Path) -> Iterator[str]:
    """A clean rehearsal: eleven passed, and pass_criterion_1 open for exactly the classes nobody writes."""
    run = json.loads(results.read_text())["results"]
    if run["extra"]["host"] != "rehearsal":
        yield f"host: expected rehearsal, saw {run['extra']['host']}"
    statuses = {test["name"]: test["status"] for test in run["tests"]}
    expected = {name: "other" if name == "pass_criterion_1" else "passed" for name in statuses}
    if len(statuses) != 12 or statuses != expected:
        yield f"statuses: expected eleven passed and pass_criterion_1 other, saw {statuses}"
    parts = [part for test in run["tests"] if test["name"] == "pass_criterion_1" for part in test["extra"]["parts"]]
    classes = [part["name"].split()[0] for part in parts if part["outcome"] != "PASS"]
    if classes != NOT_PRODUCED:
        yield f"pass_criterion_1: expected {NOT_PRODUCED} to be open, saw {classes}"


def skips(junit: Path) -> Iterator[str]:
    """Tests that were skipped for want of what has just been used."""
    for case in ET.parse(junit).iter("testcase"):
        for skipped in case.iter("skipped"):
            said = skipped.get("message") or ""
            wanting = next((variable for variable, reason in NEEDED.items() if reason.search(said)), "")
            if os.environ.get(wanting):
                yield f"skipped where what it needs is there: {case.get('classname')}.{case.get('name')}: {said}"


def main(what: str, path: str) -> int:
    surprises = list({"rehearsal": rehearsal, "skips": skips}[what](Path(path)))
    print("\n".join(surprises), end="\n" if surprises else "")
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
