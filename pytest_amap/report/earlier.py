"""The last earlier outcome of a check that was not selected: information, never a verdict. Reads, changes nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from pytest_amap.catalogue import Suite
from pytest_amap.evidence import ctrf, recorded
from pytest_amap.evidence.recorded import EvidenceError
from pytest_amap.results import Earlier, RunResult

IDENTITY = {
    "sandboxes": "sandboxes",
    "image": "image",
    "fleet": "fleet",
    "router_config": "router configuration",
    "spec_commit": "spec commit",
}
"""The facts that an outcome rests on, and their names in a sentence."""


def outcomes(
    root: Path, suite: Suite, *, but: str, checks: Collection[str], facts: Mapping[str, str]
) -> dict[str, Earlier]:
    """For each of `checks` its newest outcome below the evidence folder `root`, the run `but` left out.

    `facts` are those of the present run: what changed since is said beside each outcome.
    """
    found: dict[str, Earlier] = {}
    for past in finished(root, suite, but):
        then = {fact.name: fact.value for fact in past.facts}
        for result in past.selected:
            if result.check.id in checks and result.check.id not in found:
                found[result.check.id] = Earlier(result.outcome, past.run, identity(then, facts))
        if len(found) == len(checks):
            break
    return found


def finished(root: Path, suite: Suite, but: str = "") -> Iterator[RunResult]:
    """The runs that left results, newest first; one that cannot be read is passed over."""
    for run in reversed(recorded.runs(root)):
        path = root / "runs" / run / recorded.RESULTS
        if run != but and path.is_file():
            try:
                yield ctrf.read(recorded.read_object(path), suite)
            except (EvidenceError, KeyError, TypeError, ValueError):
                continue


def identity(then: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Whether what an outcome rests on is still the same, in words."""
    changed = [word for name, word in IDENTITY.items() if known(now, name) and then.get(name) != now[name]]
    unasked = [word for name, word in IDENTITY.items() if not known(now, name)]
    same = [word for word in IDENTITY.values() if word not in (*changed, *unasked)]
    if changed:
        return f"changed since: {', '.join(changed)}"
    if unasked:
        return f"same {', '.join(same)}; not known now: {', '.join(unasked)}" if same else "identity not known"
    return "same identity"


def known(facts: Mapping[str, str], name: str) -> bool:
    return name in facts and not facts[name].startswith("not measured")
