from pytest_amap.checks.unknown_2 import collect, judge


def test_unknown_2(check, sender):
    """The errno of an agent's write to the inbox lane is EROFS (runbook step 8, Unknown 2)."""
    seen = check.observe(collect, sender)
    check.settle(judge(seen))
