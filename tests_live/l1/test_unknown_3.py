"""Unknown 3 of the L1 runbook, step 8."""

from pytest_amap.checks.unknown_3 import collect, judge


def test_unknown_3(check, lab, provider_profile):
    """A lane that is mounted but missing from the policy is unreadable.

    Runbook step 8, Unknown 3. Asked of a throwaway sandbox, so that no member is touched.
    """
    seen = check.observe(collect, lab)
    check.settle(judge(seen))
