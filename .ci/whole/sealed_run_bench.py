"""A run that was sealed as the plugin does it, and the hands that forge it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_amap.catalogue import L1
from pytest_amap.evidence import ctrf
from pytest_amap.evidence.redaction import Redactor
from pytest_amap.evidence.store import Evidence
from pytest_amap.report.statement import statement
from pytest_amap.results import CheckResult, RunResult, StepResult
from pytest_amap.verdicts import PASS, Part

REPORT = "REHEARSAL-REPORT.md"


def record(store: Evidence, label: str, step: int = 8) -> str:
    return store.observation(step=step, check="unknown_2", label=label, source="s", observed={"n": label})


def result_of(store: Evidence) -> RunResult:
    checks = tuple(
        CheckResult(check, PASS, "seen", (Part("p", PASS, "a", "a", (store.records[0],)),), tuple(store.records[:2]))
        for check in L1.checks
    )
    return RunResult(
        suite=L1,
        host=store.host,
        run=store.run,
        started="2026-11-29T12:00:00.000Z",
        ended="2026-11-29T12:00:01.000Z",
        steps=(StepResult(0, "prerequisites", "done"),),
        checks=checks,
    )


def conclude(store: Evidence) -> RunResult:
    """The run's last record, and the results that say the same."""
    observed = ctrf.concluded(ctrf.results(replace(result_of(store), head="")))
    store.observation(step=9, check="", label=ctrf.CONCLUDED, source="s", observed=observed)
    return replace(result_of(store), records=store.count, head=store.close_chain())


def sealed(root: Path, host: str = "rehearsal", labels: str = "abcdef") -> Evidence:
    """A whole run, sealed as the plugin does it."""
    store = Evidence.open(root, Redactor({}), host=host)
    for step, label in enumerate(labels):
        record(store, label, step)
    run = conclude(store)
    store.write("results.json", json.dumps(ctrf.results(run), indent=1))
    told = "\n".join(f"Outcome: {check.outcome}" for check in run.checks)
    store.write(REPORT, f"# report\n\n{told}\n\nrun {run.run}, head {run.head}\n")
    store.write("report.html", f"<p>{run.head}</p>")
    names = ["results.json", REPORT, "report.html"]
    digests = {name: hashlib.sha256((store.folder / name).read_bytes()).hexdigest() for name in names}
    digests |= {f"../../{path}": hashlib.sha256((root / path).read_bytes()).hexdigest() for path in store.records}
    store.write("statement.json", json.dumps(statement(run, digests)))
    store.seal([*names, "statement.json"])
    return store


def of_run(store: Evidence) -> list[Path]:
    return [store.root / path for path in store.records] + sorted(store.folder.iterdir())


TWICE = "a key twice"


def edit(path: Path, change: Callable[[dict[str, Any]], object] | str) -> None:
    document = json.loads(path.read_bytes())
    if callable(change):
        change(document)
    text = json.dumps(document, indent=1) + "\n"
    path.write_text(text if callable(change) else text.replace("{", '{"reportFormat": "another",', 1))


def follow(store: Evidence) -> None:
    """Statement and report made to say what the results say now, as a forger does who knows both."""
    found = json.loads((store.folder / "results.json").read_bytes())
    then = json.loads((store.folder / "statement.json").read_bytes())
    result = ctrf.read(found, L1)
    head = json.loads((store.folder / "seal.json").read_bytes())["head"]
    told = "\n".join(f"Outcome: {check.outcome}" for check in result.checks)
    (store.folder / REPORT).write_text(f"{told}\n{head}\n")
    names = [subject["name"] for subject in then["subject"]]
    digests = {name: hashlib.sha256((store.folder / name).read_bytes()).hexdigest() for name in names}
    (store.folder / "statement.json").write_text(json.dumps(statement(result, digests)))
    reseal(store)


def reseal(store: Evidence) -> None:
    """What a careful forger does: sums and seal made again over the forged files, the records left alone."""
    (store.folder / "SHA256SUMS").unlink()
    names = json.loads((store.folder / "seal.json").read_bytes())["files"]
    for name in names:
        names[name] = hashlib.sha256((store.folder / name).read_bytes()).hexdigest()
    edit(store.folder / "seal.json", lambda seal: seal.update(files=names))
    Evidence.open(store.root, Redactor({}), host=store.host)
