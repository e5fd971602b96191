"""A host that is looked at without a run: nothing of it is recorded."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pytest_amap.evidence.store import Evidence
from pytest_amap.host import opening, survey
from pytest_amap.host.host import Host
from pytest_amap.options import Options


class Unkept(Evidence):
    """The doorway of a look without a run."""

    def _append(self, *args: Any) -> str:
        return ""


def host(options: Options) -> Host:
    unkept = Unkept(Path(), opening.redactor_of(options, os.environ), host=survey.LIVE, run="")
    return Host(unkept, environ=os.environ, cwd=os.fspath(options.repository), key=None, say=print)
