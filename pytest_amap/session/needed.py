"""The plugins that this one rests on, brought along where pytest was told to load none by itself."""

from __future__ import annotations

import importlib

import pytest

NEEDED = {
    "dependency": "pytest_dependency",
    "timeout": "pytest_timeout",
    "metadata": "pytest_metadata.plugin",
    "html": "pytest_html.plugin",
}
"""Name, as its entry point gives it and as -p no:NAME blocks it, to module."""


def load(manager: pytest.PytestPluginManager) -> None:
    """Register what is missing and not blocked. To be called when every -p and every entry point has been seen."""
    for name, module in NEEDED.items():
        plugin = importlib.import_module(module)
        if not manager.is_registered(plugin):
            manager.register(plugin, name)
