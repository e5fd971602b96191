"""The rehearsal host stands beside the rest: it imports the standard library, PyYAML and itself, nothing else."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "pytest_amap" / "rehearsal"
MODULES = sorted(PACKAGE.rglob("*.py"))
ENGINE = [path for path in MODULES if not {"siblings", "agent"} & set(path.relative_to(PACKAGE).parts)]


def imports(path: Path) -> Iterator[str]:
    """Absolute names of every import, wherever it stands in the module."""
    package = ["pytest_amap", "rehearsal", *path.relative_to(PACKAGE).parent.parts]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level:
            yield ".".join([*package[: len(package) - node.level + 1], *([node.module] if node.module else [])])
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


@pytest.mark.parametrize("path", ENGINE, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_the_standard_library_yaml_and_itself(path: Path) -> None:
    for name in imports(path):
        top = name.split(".")[0]
        assert top in sys.stdlib_module_names or top == "yaml" or name.startswith("pytest_amap.rehearsal"), name


def test_the_launcher_needs_the_standard_library_alone() -> None:
    """It runs with -S, so without site-packages; so does everything it imports."""
    seen, waiting = set(), ["world"]
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        tree = ast.parse((PACKAGE / f"{name}.py").read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module in ("pytest_amap.rehearsal", None):
                waiting += [alias.name for alias in node.names if (PACKAGE / f"{alias.name}.py").exists()]
        assert "yaml" not in {name for name in imports(PACKAGE / f"{name}.py")}
    assert {"world", "kernel", "landlock", "layout", "refusal", "faults"} <= seen


def test_nothing_else_of_the_project_imports_the_rehearsal() -> None:
    """The suite reaches it through PATH, environment and files; a name alone, for a path, is no import."""
    for path in [*PACKAGE.parent.rglob("*.py"), *(PACKAGE.parents[1] / "kit").rglob("*.py")]:
        if PACKAGE in path.parents:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            assert not [name for name in names if name.startswith("pytest_amap.rehearsal")], path
