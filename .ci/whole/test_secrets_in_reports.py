"""A canary in everything pytest can show: none of it reaches the terminal, junit, the page or a property."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_amap.evidence.redaction import Redactor

pytest_plugins = ["pytester"]

NAME, CANARY = "ANTHROPIC_API_KEY", "sk-canary-7Zq9+Of/A=Wm2xLk4vT8bRf6YhPd3"

CONFTEST = f"""
import pytest
from pytest_amap.session.redacted_reports import RedactedReports
from pytest_amap.evidence.redaction import Redactor

CANARY = "{CANARY}"


def pytest_configure(config):
    config.pluginmanager.register(RedactedReports(Redactor({{"{NAME}": CANARY}})), "amap-redaction")
"""

CHAINED = """
    try:
        raise ValueError(CANARY)
    except ValueError as error:
        raise RuntimeError('x') from error
"""

LOGGED = """
    try:
        raise ValueError(CANARY)
    except ValueError:
        logging.getLogger().exception('no %s', CANARY)
"""

CHANNELS = {
    "stdout": "print(CANARY)",
    "stderr": "print(CANARY, file=sys.stderr)",
    "log": "logging.getLogger().error('key %s', CANARY)",
    "logged": LOGGED,
    "group": "raise ExceptionGroup('no ' + CANARY, [ValueError(CANARY)])",
    "property": "record_property('key', CANARY)",
    "skip": "pytest.skip('no ' + CANARY)",
    "xfail": "pytest.xfail('no ' + CANARY)",
    "warning": "warnings.warn('no ' + CANARY)",
    "exception": "raise RuntimeError('no ' + CANARY)",
    "chained": CHAINED,
    "introspection": "key = CANARY; assert key == 'x'",
    "argv": "assert ['openshell', '--key', CANARY] == []",
    "locals": "held = {'k': CANARY * 3}; assert not held",
    "json": "assert json.dumps({'k': CANARY + '\"'}) == ''",
    "base64": "assert base64.b64encode(CANARY.encode()) == b''",
    "url": "assert urllib.parse.quote(CANARY, safe='') == ''",
    "lines": "print(CANARY[:12] + chr(10) + CANARY[12:]); assert False",
    "fail": "pytest.fail('no ' + CANARY, pytrace=False)",
    "exit_message": "raise SystemExit(CANARY)",
}


HEAD = "import base64, json, logging, sys, urllib.parse, warnings\nimport pytest\nfrom conftest import CANARY\n\n"


def suite(**bodies: str) -> str:
    """A test a channel."""
    tests = [f"def test_{name}(record_property):\n    {body}\n" for name, body in bodies.items()]
    return HEAD + "\n\n".join(tests)


def shown(pytester: pytest.Pytester) -> dict[str, str]:
    """Everything that a session with every report showed or wrote."""
    pages = ("--junitxml=junit.xml", "--html=page.html", "--self-contained-html", "-o", "junit_logging=all")
    logs = ("--log-file=log.txt", "-o", "log_cli=true", "--continue-on-collection-errors")
    ended = pytester.runpytest_subprocess("-rA", "-vv", "--showlocals", "-p", "no:xdist", *pages, *logs)
    files = {name: (pytester.path / name).read_text("utf-8") for name in ("junit.xml", "page.html", "log.txt")}
    return {"stdout": ended.stdout.str(), "stderr": ended.stderr.str(), **files}


def leaks(texts: dict[str, str]) -> dict[str, list[str]]:
    hidden = Redactor({NAME: CANARY})
    found = {place: hidden.leaks(text.encode()) for place, text in texts.items()}
    return {place: names for place, names in found.items() if names}


def test_no_channel_shows_it(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(suite(**CHANNELS))
    texts = shown(pytester)
    lines = [line for text in texts.values() for line in text.splitlines() if leaks({"": line})]
    assert (leaks(texts), lines) == ({}, [])
    for name in CHANNELS:
        assert f"test_{name}" in texts["junit.xml"], "the session reported it"


def test_no_parametrisation_shows_it(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(
        "import pytest\nfrom conftest import CANARY\n\n"
        "@pytest.mark.parametrize('key', [CANARY, 'plain'])\ndef test_it(key):\n    assert key == 'plain'\n"
    )
    texts = shown(pytester)
    assert leaks(texts) == {}
    assert "test_it[plain]" in texts["stdout"]


def test_no_subtest_shows_it(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(
        f"{HEAD}def test_it(subtests):\n    with subtests.test(msg=CANARY, key=CANARY):\n        assert CANARY == 'x'\n"
    )
    assert leaks(shown(pytester)) == {}


def test_no_file_that_cannot_be_imported_shows_it(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(f"{HEAD}print(CANARY)\nraise RuntimeError(CANARY)\n")
    texts = shown(pytester)
    assert leaks(texts) == {}
    assert f"RuntimeError: [REDACTED:{NAME}]" in texts["stdout"]


@pytest.mark.parametrize("spelled", ["pytest.param(1, id='x-' + CANARY)", "1], ids=['x-' + CANARY"])
def test_an_id_that_spells_it_out_is_refused(spelled: str, pytester: pytest.Pytester) -> None:
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(f"{HEAD}@pytest.mark.parametrize('n', [{spelled}])\ndef test_it(n):\n    pass\n")
    ended = pytester.runpytest_subprocess("-vv")
    assert ended.ret == pytest.ExitCode.USAGE_ERROR
    kept = "".join(path.read_text() for path in (pytester.path / ".pytest_cache").rglob("*") if path.is_file())
    assert leaks({"stdout": ended.stdout.str(), "stderr": ended.stderr.str(), "cache": kept}) == {}
    assert "holds a secret: give it another id" in ended.stderr.str()


@pytest.mark.parametrize("when", ["setup", "teardown"])
def test_no_fixture_shows_it(when: str, pytester: pytest.Pytester) -> None:
    pytester.makeconftest(CONFTEST)
    body = (
        "raise RuntimeError(CANARY)\n    yield CANARY"
        if when == "setup"
        else "yield CANARY\n    raise RuntimeError(CANARY)"
    )
    pytester.makepyfile(f"{HEAD}@pytest.fixture\ndef key():\n    {body}\n\ndef test_it(key):\n    pass\n")
    assert leaks(shown(pytester)) == {}


def test_no_internal_error_shows_it(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(CONFTEST + "\n\ndef pytest_runtest_logreport(report):\n    raise RuntimeError(CANARY)\n")
    pytester.makepyfile("def test_it():\n    pass\n")
    ended = pytester.runpytest_subprocess()
    assert ended.ret == pytest.ExitCode.INTERNAL_ERROR
    assert leaks({"stdout": ended.stdout.str(), "stderr": ended.stderr.str()}) == {}


def test_what_holds_no_secret_stays_as_it_is(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(
        "import pytest\n\ndef test_it():\n    key = 'plain'\n    assert key == 'x'\n\n"
        "def test_skip():\n    pytest.skip('why')\n"
    )
    out = pytester.runpytest_subprocess("-rA", "-vv", "-p", "no:xdist").stdout.str()
    assert "::test_it - AssertionError: assert 'plain' == 'x'" in out
    assert "SKIPPED [1] test_what_holds_no_secret_stays_as_it_is.py:8: why" in out


def test_a_failure_with_a_secret_keeps_its_summary(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(suite(it="raise RuntimeError('the words of ' + CANARY)"))
    out = pytester.runpytest_subprocess("-rA", "-vv", "-p", "no:xdist").stdout.str()
    assert f"::test_it - RuntimeError: the words of [REDACTED:{NAME}]" in out
    assert "def test_it(record_property):" in out


def test_the_canary_is_one(tmp_path: Path) -> None:
    assert Redactor({NAME: CANARY}).leaks(CANARY.encode()) == [NAME]
