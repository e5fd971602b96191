"""The command that asks again: what was typed, without its selection and without planted faults. Pure, but for pytest.

The home, the fleet, the declarations and the settings stay, or the next run would be about something else.
"""

from __future__ import annotations

import os
import shlex

import pytest

TAKES_VALUE = {"inifilename": "-c", "amap_home": "--amap-home", "fleet": "--fleet"}
REPEATED = {"declare": "--declare", "override_ini": "-o"}


def command(config: pytest.Config, home: str) -> str:
    """`pytest tests_live --apply` and what else holds for every run here; a selection can be put after it.

    A rehearsal that was given no home made `home`, where all that it did is done already; one with a fault in it is
    no place to go on.
    """
    option, live = config.option, config.rootpath / "tests_live"
    words = ["pytest", os.path.relpath(live, config.invocation_params.dir) if live.is_dir() else live.name, "--apply"]
    if option.rehearsal:
        words += ["--rehearsal"] if option.amap_home or option.fault else ["--rehearsal", "--amap-home", home]
    for name, flag in TAKES_VALUE.items():
        words += [flag, str(value)] if (value := getattr(option, name, None)) else []
    for name, flag in REPEATED.items():
        words += [word for value in getattr(option, name, None) or () for word in (flag, value)]
    return shlex.join(words)
