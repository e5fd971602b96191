from pytest_amap.checks.unknown_1 import collect, judge


def test_unknown_1(check, receiver, delegation):
    """What the router writes appears inside a sandbox that is running (runbook step 8, Unknown 1)."""
    seen = check.observe(collect, receiver, delegation)
    check.settle(judge(seen))
