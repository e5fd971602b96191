"""Collected items against the catalogue: ids, order, marks, premises."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from pytest_amap.catalogue import Suite

STEP_TEST = "test_only_step"


def check_id(item: pytest.Item, suite: Suite) -> str:
    """The catalogue's id of a live check, or ""."""
    name = str(getattr(item, "originalname", None) or item.name).removeprefix("test_")
    return name if name in suite.ids and "tests_live" in item.path.parts else ""


def check_of(file: Path, suite: Suite) -> str:
    """The catalogue's id of the check that a file is named for, or ""."""
    name = file.stem.removeprefix("test_")
    return name if name in suite.ids and "tests_live" in file.parts else ""


def is_step_test(item: pytest.Item) -> bool:
    return item.name == STEP_TEST and "tests_live" in item.path.parts


def mark(item: pytest.Item, suite: Suite) -> None:
    """Give a live check its marks: its kind for -m, and the backstop of its body.

    The method is told, since the other one ends the whole process, without cleanup and report.
    """
    check = suite.check(check_id(item, suite))
    item.add_marker(getattr(pytest.mark, check.kind))
    item.add_marker(pytest.mark.timeout(check.seconds, func_only=True, method="signal"))


def leave_out(config: pytest.Config, items: list[pytest.Item], unasked: Callable[[pytest.Item], bool]) -> None:
    """Deselect what is not asked in this session."""
    left_out = [item for item in items if unasked(item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def resolve_dependencies(items: Iterable[pytest.Item], suite: Suite) -> None:
    """Every premise must be a check; one that is not selected is left out, so that each check runs alone."""
    mine = {check_id(item, suite): item for item in items if check_id(item, suite)}
    for name, item in mine.items():
        own = item.get_closest_marker("dependency")
        premises = tuple(own.kwargs.get("depends", ())) if own else ()
        for premise in premises:
            if premise not in suite.ids:
                raise pytest.UsageError(f"{name} depends on {premise!r}, and no check of the catalogue is called that")
        item.own_markers = [m for m in item.own_markers if m.name != "dependency"]
        item.add_marker(pytest.mark.dependency(name=name, depends=[p for p in premises if p in mine], scope="session"))


def in_run_order(items: list[pytest.Item], suite: Suite) -> None:
    """Sort the live checks into the catalogue's order, behind everything else, whatever --ff or --nf did."""
    order = {name: number for number, name in enumerate(suite.run_order)}
    items.sort(key=lambda item: order.get(check_id(item, suite), -1))
