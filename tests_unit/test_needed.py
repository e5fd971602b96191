"""The plugins that must be there: an environment that is not the checkout's own is told in one sentence."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

import pytest

from pytest_amap.session import needed


def take_away(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    found = importlib.import_module

    def without(name: str) -> ModuleType:
        if name == missing:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return found(name)

    monkeypatch.setattr(importlib, "import_module", without)


@pytest.mark.parametrize("missing", ["yaml", *needed.NEEDED.values()])
def test_an_environment_without_a_needed_module_is_wrong_usage(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    take_away(monkeypatch, missing)
    with pytest.raises(pytest.UsageError) as told:
        needed.load(pytest.PytestPluginManager())
    assert f"{sys.executable} has no {missing}: " in str(told.value)
    assert "pip install -e '.[test]'" in str(told.value)


@pytest.mark.parametrize("missing", needed.PAGE.values())
def test_without_pytest_html_all_but_the_page_is_there(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    take_away(monkeypatch, missing)
    manager = pytest.PytestPluginManager()
    needed.load(manager)
    assert [name for name in (*needed.NEEDED, "html") if manager.has_plugin(name)] == list(needed.NEEDED)


def test_a_pytest_that_does_not_read_our_settings_is_wrong_usage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pytest, "version_tuple", (8, 4, 2))
    monkeypatch.setattr(pytest, "__version__", "8.4.2")
    with pytest.raises(pytest.UsageError, match=r"pytest 8\.4\.2, which is older than 9"):
        needed.load(pytest.PytestPluginManager())


def test_what_is_there_is_registered_once() -> None:
    manager = pytest.PytestPluginManager()
    needed.load(manager)
    needed.load(manager)
    assert all(manager.get_plugin(name) for name in (*needed.NEEDED, *needed.PAGE))
