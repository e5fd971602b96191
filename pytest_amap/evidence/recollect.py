"""What a recorded run saw and concluded, made again from its files; and how a later judgement differs. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_amap.catalogue import Suite
from pytest_amap.evidence import ctrf
from pytest_amap.evidence.recorded import RESULTS, EvidenceError, RecordedRun
from pytest_amap.observations import build
from pytest_amap.results import CheckResult, RunResult
from pytest_amap.verdicts import UNKNOWN, Part, verdict

SEEN = "seen"
"""Label of the record that holds all a judge was given."""

CUT_OFF = "the recorded run was cut off: no result of this was written"


class Unseen(Exception):
    """No observation of the check was recorded, or none that this suite can read; the text says which."""


class Cut(Exception):
    """The observation rests on a record of which only head and tail were kept, while the judge saw the whole."""


def result_of(run: RecordedRun, suite: Suite) -> RunResult | None:
    """The recorded run's own results; None where it was cut off before they were written."""
    if run.results is None:
        return None
    try:
        return ctrf.read(run.results, suite)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise EvidenceError(
            f"{RESULTS} of run {run.run} has not the shape of one ({type(error).__name__}: {error}); "
            "run `amap verify` on the folder to see what changed"
        ) from None


class Observations:
    """The observations of one recorded run, by check."""

    def __init__(self, run: RecordedRun) -> None:
        self._records = {record.path: record.data for record in run.records}
        self._unproved = run.unproved
        self._used: set[str] = set()
        self._seen = {
            str(record.data.get("check")): record.path for record in run.records if record.data.get("label") == SEEN
        }

    def of(self, check: str, kind: Any) -> Any:
        """What the judge of `check` was given, as a `kind`; raises Unseen or Cut."""
        path = self._seen.get(check)
        if path is None:
            raise Unseen("no observation of it was recorded")
        self._used = {path}
        try:
            return build(kind, self._records[path].get("observed"), self._load)
        except (TypeError, ValueError, LookupError) as error:
            raise Unseen(f"{path} is not what this suite's judge takes: {error}") from None

    def unproved(self) -> list[str]:
        """The records that the last `of` read and that are not as they were sealed."""
        return sorted(self._used & self._unproved)

    def has(self, check: str) -> bool:
        return check in self._seen

    def _load(self, path: object) -> dict[str, Any]:
        """The observation in a record of this run; a path leads nowhere else."""
        if not isinstance(path, str) or path not in self._records:
            raise ValueError(f"it rests on {path!r}, which is no record of this run")
        self._used.add(path)
        data = self._records[path]
        if "stdout_bytes" in data or "stderr_bytes" in data:
            raise Cut(path)
        observed = data.get("observed") if data.get("kind") == "observation" else data
        if not isinstance(observed, dict):
            raise ValueError(f"{path} holds no observation")
        return {**observed, "record": path}


def spoiled(result: CheckResult) -> bool:
    """Whether something else than the judge made the recorded check UNKNOWN: a step, an interrupt, a teardown."""
    return result.outcome is UNKNOWN and verdict(result.parts) != (UNKNOWN, result.reason)


def changes(before: RunResult, after: RunResult) -> Iterator[str]:
    """One line for each check of both runs that reads otherwise now, the outcome first."""
    recorded = {check.check.id: check for check in before.checks}
    for now in after.selected:
        then = recorded[now.check.id]
        if now.outcome is not then.outcome:
            yield (
                f"{now.check.id}: recorded {then.outcome}, judged {now.outcome} by this suite; "
                f"then: {then.reason}; now: {now.reason}"
            )
        elif (now.reason, now.parts) != (then.reason, then.parts):
            yield f"{now.check.id}: {now.outcome} as recorded, in other words; {_other_words(then, now)}"


def _other_words(then: CheckResult, now: CheckResult) -> str:
    """The first part that differs, or the reason."""
    old, new = {part.name: part for part in then.parts}, {part.name: part for part in now.parts}
    for name in [*old, *new]:
        if old.get(name) != new.get(name):
            return f"then: {_told(old.get(name), name)}; now: {_told(new.get(name), name)}"
    return f"then: {then.reason}; now: {now.reason}"


def _told(part: Part | None, name: str) -> str:
    return f"{part.outcome}, {part.reason}" if part else f"no part {name!r}"
