from pytest_amap.checks.unknown_6 import Seen, judge


def seen_in_step_2(posture: Seen) -> Seen:
    """Step 2 has looked already; its observations are this check's."""
    return posture


def test_unknown_6(check, posture):
    """The accepted gateway posture holds and is written down (runbook step 8, Unknown 6)."""
    seen = check.observe(seen_in_step_2, posture)
    check.settle(judge(seen))
