from pytest_amap.checks.unknown_7 import collect, judge


def test_unknown_7(check, sandboxes, delegation):
    """One uid and gid holds from the router to the agent's read of a 0600 notice (runbook step 8, Unknown 7)."""
    seen = check.observe(collect, sandboxes, delegation)
    check.settle(judge(seen))
