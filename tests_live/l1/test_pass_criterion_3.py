from pytest_amap.checks.pass_criterion_3 import collect, judge


def test_pass_criterion_3(check, sandboxes):
    """A write to the inbox is denied by the mount and by the policy's entry (runbook step 8, Pass criterion 3)."""
    seen = check.observe(collect, sandboxes)
    check.settle(judge(seen))
