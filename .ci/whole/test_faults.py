"""Every fault, planted for real: each check it concerns must become what the registry declares.

Homes are copies of one on which all was done without a fault, for what starts again is made anew; a fault that is
planted when a thing is created gets an empty home.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from rehearsing import Rehearsal, copy_home, rehearse

from pytest_amap.catalogue import L1
from pytest_amap.evidence.recollect import Cut, Observations, result_of
from pytest_amap.evidence.recorded import read_run
from pytest_amap.evidence.verify import problems
from pytest_amap.rehearsal.faults import FAULTS, PASS, Fault

WORLDS = 3
"""Side by side: more than cores, for half of the time a run waits."""
NOT_WRITTEN = ("directory-", "notice-", "identity-")
"""Classes that this fleet writes no document of: declared, so that pass_criterion_1 is PASS without a fault."""


def plant(fault: Fault, prepared: Path, homes: Path) -> Rehearsal:
    home = homes / fault.name
    if not fault.at_creation:
        copy_home(prepared, home)
    declared = [f"--declare={prefix}: not written here" for prefix in NOT_WRITTEN]
    return rehearse(home, "--fault", fault.name, "-k", " or ".join(fault.outcomes), *declared)


@pytest.fixture(scope="session")
def runs(
    clean: Rehearsal, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[dict[str, Future[Rehearsal]]]:
    """Every selected fault's run, started in order."""
    homes = tmp_path_factory.mktemp("faults")
    selected = [item.callspec.params for item in request.session.items if hasattr(item, "callspec")]
    faults = [params["fault"] for params in selected if isinstance(params.get("fault"), Fault)]
    with ThreadPoolExecutor(WORLDS) as pool:
        yield {fault.name: pool.submit(plant, fault, clean.home, homes) for fault in faults}
        pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_fault_leads_to_what_it_declares(
    fault: Fault, runs: dict[str, Future[Rehearsal]], capsys: pytest.CaptureFixture[str]
) -> None:
    if fault.name == "gateway-any-ipv6" and not Path("/proc/net/if_inet6").exists():
        pytest.skip("this kernel has no IPv6, so nothing can listen there")
    ended = runs[fault.name].result()
    said = " ".join(f"{check}={outcome}" for check, outcome in ended.outcomes.items())
    with capsys.disabled():
        print(f"\n{fault.name:<30} {said} ({ended.seconds:.0f} s)", end=" ")
    assert ended.outcomes == fault.outcomes, ended.tail()
    assert ended.code == expected_code(ended), ended.tail()
    assert ended.run is not None
    assert problems(ended.run) == []
    assert judged_otherwise(ended.run) == []


def judged_otherwise(run: Path) -> list[str]:
    """Settled checks whose recorded observations today's judges give other parts; a cut one is not judged again."""
    recorded = read_run(run)
    result, observations, found = result_of(recorded, L1), Observations(recorded), []
    assert result is not None
    for check in result.selected:
        module = importlib.import_module(f"pytest_amap.checks.{check.check.id}")
        if not check.parts:
            continue
        with contextlib.suppress(Cut):
            if tuple(module.judge(observations.of(check.check.id, module.Seen))) != check.parts:
                found.append(check.check.id)
    return found


def expected_code(ended: Rehearsal) -> int:
    if ended.failed_steps:
        return 1
    return 0 if set(ended.outcomes.values()) == {PASS} else 3
