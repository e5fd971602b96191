"""The plugins that this one rests on, brought along where pytest was told to load none by itself."""

from __future__ import annotations

import contextlib
import importlib
import sys
from types import ModuleType

import pytest

OLDEST = (9, 0)
"""pytest's version from which `[tool.pytest]` is read; an older one would leave out every setting in silence."""

NEEDED = {"dependency": "pytest_dependency", "timeout": "pytest_timeout"}
"""Name, as its entry point gives it and as -p no:NAME blocks it, to module."""
PAGE = {"metadata": "pytest_metadata.plugin", "html": "pytest_html.plugin"}
"""The same of those that draw the page: without them a run has every other report (field report A47)."""


def load(manager: pytest.PytestPluginManager) -> None:
    """Register what is missing and not blocked. To be called when every -p and every entry point has been seen.

    UsageError in an environment that is not the one made for this checkout: `pytest` was another one on PATH.
    """
    if pytest.version_tuple < OLDEST:
        raise elsewhere(f"pytest {pytest.__version__}, which is older than {OLDEST[0]}")
    module("yaml")
    plugins = {name: module(wanted) for name, wanted in NEEDED.items()}
    with contextlib.suppress(ImportError):
        plugins |= {name: importlib.import_module(wanted) for name, wanted in PAGE.items()}
    for name, plugin in plugins.items():
        if not manager.is_registered(plugin):
            manager.register(plugin, name)


def module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise elsewhere(f"no {error.name or name}") from None


def elsewhere(found: str) -> pytest.UsageError:
    return pytest.UsageError(
        f"{sys.executable} has {found}: run the pytest of the environment made for this checkout "
        "(.venv/bin/pytest), or complete this one with pip install -e '.[test]'"
    )
