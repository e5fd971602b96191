from pytest_amap.checks.pass_criterion_4 import collect, judge


def test_pass_criterion_4(check, sender, provider_profile):
    """A direct call to a mail API is denied and logged (runbook step 8, Pass criterion 4)."""
    seen = check.observe(collect, sender, provider_profile)
    check.settle(judge(seen))
