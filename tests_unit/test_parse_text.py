"""Terminal text and error boxes, versions, and which failures are the command's own."""

from __future__ import annotations

import pytest

from pytest_amap.parsers import Unreadable, shown, text, versions

BOX = """\
Error:   × sandbox 'alpha' is not ready (phase: Provisioning); wait for it to reach Ready
  │ state, or ask for amap-
  │ claude-code
  ├─▶ transport error
  ╰─▶ Connection refused (os error
      111)

"""
ASCII_BOX = """\
Error:   x sandbox 'alpha' is not ready (phase: Provisioning); wait for it to reach Ready
  | state, or ask for amap-
  | claude-code
  |-> transport error
  `-> Connection refused (os error
      111)
"""
SENTENCE = (
    "sandbox 'alpha' is not ready (phase: Provisioning); wait for it to reach Ready state, or ask for"
    " amap-claude-code: transport error: Connection refused (os error 111)"
)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param("\x1b[32mReady\x1b[39m", "Ready", id="A05-coloured-phase"),
        pytest.param("\x1b[1;38;5;3mNAME\x1b[0m\r\nx", "NAME\nx", id="crlf"),
        pytest.param("\x1b]8;;https://a.example\x1b\\link\x1b]8;;\x07", "link", id="osc-link"),
        pytest.param("\x1b]0;title\nReady", "0;title\nReady", id="unended-osc-hides-nothing"),
        pytest.param("\x9b32mReady", "Ready", id="eight-bit-csi"),
        pytest.param("Not\x00Ready", "Not\ufffdReady", id="nul-makes-no-word"),
        pytest.param("Not\x08\x08\x08Ready", "Not\ufffd\ufffd\ufffdReady", id="backspace-makes-no-word"),
        pytest.param("10%\rDone", "10%\nDone", id="overwritten-line-stays"),
        pytest.param("a\u2028b\x0cc", "a\u2028b\ufffdc", id="only-newlines-end-lines"),
    ],
)
def test_plain(raw: str, expected: str) -> None:
    assert text.plain(raw) == expected
    assert text.lines(raw) == expected.split("\n")


@pytest.mark.parametrize("box", [BOX, ASCII_BOX, "\x1b[31m" + BOX], ids=["unicode", "ascii", "coloured"])
def test_an_error_box_becomes_one_sentence(box: str) -> None:
    assert text.one_line(box) == SENTENCE


def test_a_lone_hyphen_at_the_end_of_a_line_is_no_cut_word() -> None:
    assert text.one_line("first -\nsecond --\nthird") == "first - second -- third"


@pytest.mark.parametrize(
    ("said", "gist"),
    [
        pytest.param(f"using last used sandbox: alpha\n{BOX}\n\nhint: none\n", SENTENCE, id="a-notice-before-a-box"),
        pytest.param(ASCII_BOX, SENTENCE, id="ascii"),
        pytest.param(
            "WARN x\n\x1b[31mError:\x1b[0m unknown field `x`\nmore\n", "Error: unknown field `x`", id="coloured"
        ),
        pytest.param("WARNING: y\nError response from daemon: z\n", "Error response from daemon: z", id="docker"),
        pytest.param(
            'Traceback (most recent call last):\n  File "<string>", line 9\njson.decoder.JSONDecodeError: x\n',
            "json.decoder.JSONDecodeError: x",
            id="traceback",
        ),
        pytest.param("\n  first: one\nsecond\n", "first: one", id="the-first-line"),
        pytest.param(" \n", "", id="nothing"),
    ],
)
def test_what_went_wrong_is_found_behind_notices(said: str, gist: str) -> None:
    assert text.gist(said) == gist


@pytest.mark.parametrize(
    ("phrase", "held"),
    [
        ("ask for amap-claude-code", True),
        ("reach Ready state", True),
        ("Connection refused (os error 111)", True),
        ("amap-claude-code-two", False),
        ("", False),
        (" \n│", False),
    ],
)
def test_says_sees_through_wraps(phrase: str, held: bool) -> None:
    assert text.says(BOX, phrase) is held
    assert text.says(ASCII_BOX, phrase) is held


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("0.1.2-dev.4+gabc1234", "0.1.2"),
        ("0.1.2", "0.1.10"),
        ("0.1.2-dev.4", "0.1.2-dev.10"),
        ("0.1.2-1", "0.1.2-dev"),
        ("0.1.2-rc", "0.1.2-rc.1"),
        ("0.0.111", "0.1.0-rc.1"),
    ],
)
def test_versions_are_ordered_by_number(older: str, newer: str) -> None:
    first, second = versions.openshell(f"openshell {older}\n"), versions.openshell(f"openshell {newer}\n")
    assert isinstance(first, versions.Version)
    assert isinstance(second, versions.Version)
    assert first < second
    assert first != second


@pytest.mark.parametrize(
    ("printed", "version"),
    [
        ("openshell 0.1.2\n", "0.1.2"),
        ("\x1b[1mopenshell\x1b[0m 0.1.10", "0.1.10"),
        ("openshell 0.1.2+rehearsal REHEARSAL\n", "0.1.2"),
        ("openshell 0.1.2-dev.4+gabc1234\n", "0.1.2-dev.4"),
        ("a new release is out\nopenshell 0.1.2\n", "0.1.2"),
        ("openshell v0.1.10\n", "0.1.10"),
        ("openshell 0.1.2-rc1\n", "0.1.2-rc1"),
    ],
)
def test_openshell_version(printed: str, version: str) -> None:
    assert str(versions.openshell(printed)) == version


@pytest.mark.parametrize(
    "printed",
    [
        pytest.param("openshell m-dev", id="A06-no-version"),
        pytest.param("", id="A06-nothing"),
        pytest.param("openshell 0.1", id="A06-two-numbers"),
        pytest.param("openshell 0.1.2.3", id="A06-four-numbers"),
        pytest.param("openshell 0.1.2-", id="A06-empty-pre-release"),
        pytest.param("openshell 0.1.2-a..b", id="A06-empty-identifier"),
        pytest.param("openshell 0.1.02", id="A06-leading-zero"),
        pytest.param("openshell ٠.١.٢", id="A06-other-digits"),
        pytest.param("notopenshell 0.1.2", id="A06-another-program"),
        pytest.param("openshell 0.1.2\nopenshell 0.1.3", id="A06-two-versions"),
        pytest.param("openshell " + "9" * 5000 + ".1.2", id="A06-huge"),
    ],
)
def test_what_is_no_version_is_unreadable(printed: str) -> None:
    answer = versions.openshell(printed)
    assert isinstance(answer, Unreadable)
    assert len(answer.why) < 400


def test_the_gateway_has_a_version_line_of_its_own() -> None:
    assert str(versions.openshell("openshell-gateway 0.1.2\n", program="openshell-gateway")) == "0.1.2"
    assert isinstance(versions.openshell("openshell-gateway 0.1.2\n"), Unreadable)


def test_a_binary_of_another_name_may_say_its_own_or_openshell() -> None:
    for printed in ("ryno 0.1.2\n", "openshell 0.1.2\n"):
        assert str(versions.openshell(printed, program="ryno")) == "0.1.2"
    assert isinstance(versions.openshell("ryno 0.1.2\n"), Unreadable)


def test_claude_version() -> None:
    assert str(versions.claude("2.1.284 (Claude Code)\n")) == "2.1.284"
    assert isinstance(versions.claude("2.1.284\n"), Unreadable)


@pytest.mark.parametrize(
    ("release", "enough"),
    [
        pytest.param("6.8.0-142-generic", True, id="A27-ubuntu"),
        pytest.param("5.15.167.4-microsoft-standard-WSL2", False, id="A27-wsl"),
        pytest.param("6.1.21.1-microsoft-standard-WSL2+", False, id="A27-wsl-plus"),
        pytest.param("6.2", True, id="A27-short"),
        pytest.param("6.10.0-rc3\n", True, id="A27-candidate"),
        pytest.param("5.14.0-503.el9.x86_64", False, id="A27-backports"),
    ],
)
def test_kernel(release: str, enough: bool) -> None:
    found = versions.kernel(release)
    assert isinstance(found, tuple)
    assert (found >= (6, 2)) is enough


@pytest.mark.parametrize("release", ["", "6", "six.two", "6.x", "6.2abc", "v6.2", "٦.٢", "6.99999"])
def test_a_kernel_that_is_nonsense(release: str) -> None:
    assert isinstance(versions.kernel(release), Unreadable)


def test_unreadable_is_falsy_and_shows_foreign_values_short() -> None:
    assert not Unreadable("why")
    assert len(shown("x" * 10_000)) < 200
    assert shown("\ud800\x00").isascii()
    assert "too large" in shown(10**5000)
