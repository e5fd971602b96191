"""Replays as an auditor starts them, over copies of the example that each test may change."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from pytest_amap.evidence import chain, recorded

CHECKOUT = Path(__file__).resolve().parents[1]
EXAMPLE = CHECKOUT / "examples" / "evidence"

SPARED = [word for plugin in ("cacheprovider", "hypothesispytest", "xdist") for word in ("-p", f"no:{plugin}")]
"""Plugins that take longer to load than they are of use here."""


def replay(directory: Path, *words: str, beside: Path | None = None) -> subprocess.CompletedProcess[str]:
    """`pytest tests_live --replay DIRECTORY`, in an environment that knows no host; `beside` holds more modules."""
    environ = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "400"}
    if beside is not None:
        environ["PYTHONPATH"] = os.fspath(beside)
    command = [sys.executable, "-m", "pytest", "tests_live", *SPARED, "--replay", os.fspath(directory), *words]
    return subprocess.run(command, cwd=CHECKOUT, env=environ, capture_output=True, text=True, timeout=60)


def copied(target: Path) -> Path:
    """The example in a place where it may be changed."""
    shutil.copytree(EXAMPLE, target)
    return target


def digests(root: Path) -> dict[str, str]:
    return {str(path): chain.digest(path.read_bytes()) for path in root.rglob("*") if path.is_file()}


def run_folder(root: Path) -> Path:
    return root / (root / "latest").read_text().strip()


def results(root: Path) -> dict[str, Any]:
    """`results` of the run's results.json."""
    return dict(json.loads((run_folder(root) / "results.json").read_text("utf-8"))["results"])


def one_test(document: dict[str, Any], check: str) -> dict[str, Any]:
    return next(test for test in document["results"]["tests"] if test["name"] == check)


def edit(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    document = json.loads(path.read_text("utf-8"))
    change(document)
    path.write_text(json.dumps(document), "utf-8")


def edit_results(root: Path, change: Callable[[dict[str, Any]], object]) -> None:
    edit(run_folder(root) / "results.json", change)


def sealed_again(root: Path) -> None:
    """Chain, seal and sums made anew over what stands there, as only somebody does who knows them all."""
    folder = run_folder(root)
    paths, digests, prev = recorded.record_paths(root, folder.name), {}, chain.FIRST
    for path in paths:
        edit(root / path, partial(dict.update, prev=prev))
        digests[path] = prev = chain.digest((root / path).read_bytes())
    edit(folder / chain.SEAL, partial(dict.update, head=prev))
    files = [(path.name, chain.digest(path.read_bytes())) for path in folder.iterdir() if path.name != chain.SUMS]
    (folder / chain.SUMS).write_bytes(chain.sums(digests.items(), files))


def seen_of(root: Path, check: str) -> Path:
    """The record of what the judge of `check` was given."""
    found = [
        path for path in sorted(root.glob("step-8/*-seen.json")) if json.loads(path.read_bytes())["check"] == check
    ]
    return found[-1]


def outcomes(ended: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """Check id to outcome, from the closing lines."""
    rows = [line.split() for line in ended.stdout.splitlines() if line.startswith(("PASS ", "FAIL ", "UNKNOWN "))]
    return {row[1]: row[0] for row in rows}
