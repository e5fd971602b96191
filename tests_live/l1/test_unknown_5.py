"""Unknown 5 of the L1 runbook, step 8."""

from pytest_amap.checks.unknown_5 import collect, judge


def test_unknown_5(check, lab, delegation, refused):
    """The receiver setting is fixed to accept in a place the agent cannot write.

    Runbook step 8, Unknown 5. Stops and starts the receiver twice, and twice more where unknown_4 did not run before.
    """
    seen = check.observe(collect, lab, delegation, refused)
    check.settle(judge(seen))
