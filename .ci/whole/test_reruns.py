"""A rerun does again only what is judged anew; what it takes over it recognises, and says so when it no longer fits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rehearsing import Rehearsal, rehearse
from victims import assert_as_it_was, assert_clean, assert_unaltered, evidence, frozen, labels, newest, records, victim

from pytest_amap.evidence import recorded

ACTS = {"build", "create", "import", "update", "lint", "start", "stop", "delete", "build.sh", "run.sh"}
PASS = "PASS"


def acts(home: Path, steps: range) -> list[str]:
    """What the newest run did, other than looking, in these steps."""
    found = []
    for record in records(home):
        if record["step"] in steps:
            words = {Path(word).name for word in record.get("argv", ())[:8]}
            if words & ACTS or record["label"].startswith("submit from") or record["label"].endswith(" applied"):
                found.append(str(record["label"]))
    return found


def step_outcomes(done: Rehearsal) -> dict[str, str]:
    return {step["name"]: step["outcome"] for step in done.results["extra"]["steps"]}


def test_a_plain_rerun_acts_on_nothing_that_is_done(home: Path) -> None:
    before, kept = frozen(home), written_by_setup(home)
    done = rehearse(home)
    assert_clean(done)
    assert acts(home, range(1, 7)) == []
    assert written_by_setup(home) == kept
    outcomes = step_outcomes(done)
    for name in ("agent_image", "prepared_host", "provider_profile", "sandboxes", "membership", "router"):
        assert outcomes[name] == "already", outcomes
    assert any(label.startswith("submit from alpha") for label in acts(home, range(7, 8)))
    assert_unaltered(before, home)


def written_by_setup(home: Path) -> dict[str, int]:
    """When each file of steps 1-6 was last written; ledgers of the router and the evidence grow with every run."""
    mine = ("payload", "policies", "commands", "providers")
    files = [path for name in mine for path in (home / name).rglob("*") if path.is_file()]
    files += [home / name for name in ("fleet.json", "membership.json", "router.json", "selected.json")]
    return {str(path.relative_to(home)): path.stat().st_mtime_ns for path in files}


def test_only_step_8_finds_the_delegation_and_unknown_1_names_step_7(home: Path) -> None:
    done = rehearse(home, "--only-step", "8", "-k", "unknown_1 or pass_criterion_2")
    assert done.code == 3, done.tail()
    assert done.outcomes == {"pass_criterion_2": PASS, "unknown_1": "UNKNOWN"}, done.tail()
    reason = next(test["message"] for test in done.results["tests"] if test["name"] == "unknown_1")
    assert "--from-step 7" in reason
    assert acts(home, range(1, 8)) == []
    again = rehearse(home, "--from-step", "7", "-k", "unknown_1")
    assert (again.code, again.outcomes) == (0, {"unknown_1": PASS}), again.tail()
    assert acts(home, range(1, 7)) == []


def test_from_step_7_on_a_new_home_names_the_step_that_is_missing(clean: Rehearsal, tmp_path: Path) -> None:
    done = rehearse(tmp_path / "home", "--from-step", "7", "-k", "unknown_1")
    assert done.code == 1
    assert "run step" in done.text
    assert " first" in done.text
    assert acts(done.home, range(1, 8)) == []


def test_only_step_1_needs_no_check(clean: Rehearsal, tmp_path: Path) -> None:
    done = rehearse(tmp_path / "home", "--only-step", "1")
    assert done.code == 0, done.tail()
    assert step_outcomes(done)["agent_image"] == "done"
    assert done.outcomes == {}
    assert acts(done.home, range(2, 9)) == []


def test_only_step_9_opens_no_run_and_changes_nothing(home: Path) -> None:
    before, runs = frozen(home), recorded.runs(evidence(home))
    done = rehearse(home, "--only-step", "9")
    assert done.code == 0, done.tail()
    assert f"rehearsal run {runs[-1]} was drawn again and is its sealed draft" in done.text
    assert recorded.runs(evidence(home)) == runs
    assert frozen(home) == before
    assert not (evidence(home) / "POC-REPORT.md").exists()


def test_what_was_not_selected_shows_its_last_outcome_with_its_run(home: Path) -> None:
    first = newest(home)
    done = rehearse(home, "-k", "unknown_6")
    assert (done.code, done.outcomes) == (0, {"unknown_6": PASS}), done.tail()
    earlier = {test["name"]: test["extra"].get("earlier") for test in done.results["tests"]}
    assert earlier["unknown_6"] is None
    assert earlier["unknown_2"]["outcome"] == PASS
    assert {known["run"] for known in earlier.values() if known} == {first}
    assert earlier["unknown_2"]["identity"].startswith("same sandboxes, fleet, router configuration")


def rewritten(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_what_was_made_from_something_else_is_not_taken_over(home: Path) -> None:
    """The announcements are rewritten, as if image, router configuration and fleet had been others then."""
    intents = evidence(home) / "intents"
    planted = evidence(home) / "planted.jsonl"
    planted.write_text(planted.read_text().replace('"fleet": "', '"fleet": "another '))
    lost = rehearse(home, "--only-step", "8", "-k", "unknown_1")
    assert lost.code == 1
    assert "rests on another identity (changed since: fleet); run step 7 first" in one_line(lost.text)

    rewritten(intents / "router.started.json", config="0" * 64)
    other = rehearse(home, "-k", "unknown_1")
    assert other.code == 1
    assert "the router runs with another configuration" in other.text
    assert acts(home, range(1, 8)) == []

    rewritten(intents / "alpha.json", image="another")
    strange = rehearse(home, "-k", "unknown_2")
    assert strange.code == 1
    assert "sandbox alpha was made from another image" in strange.text
    assert acts(home, range(1, 8)) == []


def one_line(text: str) -> str:
    return " ".join(text.split())


def test_killed_in_the_middle_then_the_same_command(clean: Rehearsal, tmp_path: Path) -> None:
    home = tmp_path / "home"
    with victim(home) as running:
        running.reaches(lambda: any("submit from" in label for label in labels(home)))
        running.kill()
    assert_clean(rehearse(home))
    assert_as_it_was(home)
