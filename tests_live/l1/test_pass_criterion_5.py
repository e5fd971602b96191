"""Pass criterion 5 of the L1 runbook, step 8."""

import pytest

from pytest_amap.checks.pass_criterion_5 import collect, judge


@pytest.mark.usefixtures("router")
def test_pass_criterion_5(check, lab):
    """A new task on the edge that was never granted is held at the router and reaches nobody.

    Runbook step 8, Pass criterion 5. The task is planted anew by each run, and stays with the router.
    """
    seen = check.observe(collect, lab)
    check.settle(judge(seen))
