"""Pass criterion 1 of the L1 runbook, step 8."""

from pytest_amap.checks.pass_criterion_1 import collect, judge


def test_pass_criterion_1(check, lab, delegation):
    """The spec's validator accepts every document the connector reads and writes.

    Runbook step 8, Pass criterion 1. Each class is a part; one without a document is UNKNOWN, unless it was declared.
    """
    seen = check.observe(collect, lab, delegation)
    check.settle(judge(seen))
