"""The options as `pytest tests_live` would have them, for words that look without a run."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence

import pytest

from pytest_amap.cli.main import checkout
from pytest_amap.options import Options
from pytest_amap.session import settings

WRONG_USAGE = 2


def parser(word: str, description: str) -> argparse.ArgumentParser:
    """A word's parser with pytest's own way to override an ini setting."""
    made = argparse.ArgumentParser(prog=f"amap {word}", description=description, allow_abbrev=False)
    made.add_argument(
        "-o",
        "--override-ini",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="override an ini setting, such as amap_port or amap_openshell; repeatable",
    )
    return made


def act(word: Callable[[Options], int], overrides: Sequence[str], *options: str) -> int:
    """Give `word` the options that pytest resolves from command line, environment and ini; 2 for wrong ones.

    Pytest is asked up to its command line and runs no session, so nothing is collected and no plugin is configured.
    """
    live = checkout() / "tests_live"
    place = [os.fspath(live)] if live.is_dir() else []
    words = ["-p", "pytest_amap.plugin", *(f"--override-ini={one}" for one in overrides), *options, *place]
    code = pytest.main(words, plugins=[_Instead(word)])
    return WRONG_USAGE if code == pytest.ExitCode.USAGE_ERROR else int(code)


class _Instead:
    """Takes the place of pytest's session."""

    def __init__(self, word: Callable[[Options], int]) -> None:
        self.word = word

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config: pytest.Config) -> int:
        return self.word(settings.resolve(config))
