"""Unknown 4 of the L1 runbook, step 8."""

from pytest_amap.checks.unknown_4 import collect, judge


def test_unknown_4(check, lab, delegation, refused):
    """Injection works over AF_UNIX, and a receiver set to refuse is never counted as delivered.

    Runbook step 8, Unknown 4. Stops and starts the receiver twice.
    """
    seen = check.observe(collect, lab, delegation, refused)
    check.settle(judge(seen))
