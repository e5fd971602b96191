"""The refusing receiver that unknown_4 and unknown_5 share: one round, made once a session."""

from __future__ import annotations

import pytest

from pytest_amap.host import receiving
from pytest_amap.host.lab import Lab
from pytest_amap.rounds import LOCAL, LOCAL_SUBJECT, REFUSE, Round
from pytest_amap.steps.routing import Router


@pytest.fixture(scope="session")
def refused(router: Router, lab: Lab) -> Round:
    """The round with the receiver set to refuse; what went wrong in it is in its `problem`."""
    return receiving.round_of(lab, LOCAL, REFUSE, LOCAL_SUBJECT.format(run=lab.host.evidence.run))
