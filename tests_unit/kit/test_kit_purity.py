"""The kit writes files and runs no program; it is the standard library's alone."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import kit

MODULES = sorted(Path(kit.__file__ or "").parent.glob("*.py"))
FORBIDDEN = frozenset({"subprocess", "multiprocessing", "ctypes", "pty", "socket", "uuid", "random", "secrets"})
STARTERS = ("system", "popen", "exec", "spawn", "posix_spawn", "fork", "startfile")


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_module_imports_the_standard_library_and_the_kit(path: Path) -> None:
    names = set(imported(ast.parse(path.read_text())))
    assert names <= set(sys.stdlib_module_names) | {"kit"}
    assert not names & FORBIDDEN


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_module_starts_nothing_and_deletes_nothing_of_the_operators(path: Path) -> None:
    tree = ast.parse(path.read_text())
    calls = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert not [name for name in calls if name.startswith(STARTERS)]
    assert not calls & {"rmtree", "rmdir", "removedirs", "chown", "lchown", "fchown"}
