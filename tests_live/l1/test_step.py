"""The one test of --only-step N below 8: it does the step and judges nothing."""

from pytest_amap.session.live import fixtures_of


def test_only_step(request, pytestconfig):
    """Do the step that --only-step names."""
    for fixture in fixtures_of(pytestconfig):
        request.getfixturevalue(fixture)
