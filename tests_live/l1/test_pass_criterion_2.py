"""Pass criterion 2 of the L1 runbook, step 8."""

from pytest_amap.checks.pass_criterion_2 import collect, judge


def test_pass_criterion_2(check, lab, delegation):
    """The connector relays, resolves bodies, submits, and sees exactly one session.

    Runbook step 8, Pass criterion 2. A delivery that nobody answered is not a PASS.
    """
    seen = check.observe(collect, lab, delegation)
    check.settle(judge(seen))
