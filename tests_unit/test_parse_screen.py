"""What a terminal shows after all that was written to it, and whether a question waits at its end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_amap.parsers import screen

TRUST = "Do you trust the files here?\r\n❯ 1. Yes\r\n  2. No\r\nEnter to confirm"
ERASED = "\x1b[2K\x1b[1A" * 3 + "\x1b[2K\x1b[G"
"""How a program takes four lines back."""


@pytest.mark.parametrize(
    ("shown", "rows"),
    [
        ("", []),
        ("one\r\ntwo", ["one", "two"]),
        ("old\x1b[2J\x1b[Hnew", ["new"]),
        ("old\x1b[?1049hnew", ["new"]),
        ("old\x1bcnew", ["new"]),
        ("abc\rX", ["Xbc"]),
        ("abc\b\bX", ["aXc"]),
        ("abc\x1b[1;1H\x1b[0K", []),
        ("one\r\ntwo\x1b[1A\x1b[1GX", ["Xne", "two"]),
        ("one\r\ntwo\r\nthree\x1b[2A\x1b[J", ["one"]),
        ("\x1b[3;5Hlow", ["low"]),
        ("one two\x1b[1;5HT", ["one Two"]),
        ("one two\x1b[;5HT", ["one Two"]),
        ("one\r\ntwo\x1b[1;HT", ["Tne", "two"]),
        ("one\x1b[?2K", []),
        ("\x1b]0;a title\x07text", ["text"]),
        ("\x1b[1;31mred\x1b[0m", ["red"]),
        ("╭────╮\r\n│ hi │\r\n╰────╯", ["hi"]),
        (TRUST + ERASED + "Ready.", ["Ready."]),
    ],
)
def test_rows(shown: str, rows: list[str]) -> None:
    assert screen.rows(shown) == rows


@pytest.mark.parametrize(
    ("shown", "asked"),
    [
        (TRUST, "Do you trust the files here? / ❯ 1. Yes / 2. No"),
        ("Pick one\r\n  1. Dark\r\n  2. Light\r\nPress Enter to go on", "Pick one / 1. Dark / 2. Light"),
        ("│ Use this key? │\r\n│   1. Yes      │\r\n│ ❯ 2. No       │", "Use this key? / 1. Yes / ❯ 2. No"),
        ("Pick one\r\n> [1] Dark\r\n  [2] Light", "Pick one / > [1] Dark / [2] Light"),
        ("Trust it?\r\n❯ Yes\r\n  No\r\nEnter to confirm", "Trust it? / ❯ Yes / No / Enter to confirm"),
        ("Done.\r\nPress any key to go on", "Done. / Press any key to go on"),
        ("Trust it? [y/N]: ", "Trust it? [y/N]:"),
        ("first\r\n" * 40 + TRUST, "first / first / first / Do you trust the files here? / ❯ 1. Yes / 2. No"),
    ],
)
def test_a_choice_that_waits_is_quoted(shown: str, asked: str) -> None:
    assert screen.question(shown) == asked


@pytest.mark.parametrize(
    "shown",
    [
        "",
        "Ready.\r\n>",
        "● Files:\r\n1. a.txt\r\n2. b.txt\r\n>",
        "❯ 1. Yes",
        "● Press Enter to continue, it said.\r\n❯",
        TRUST + ERASED + "Ready.",
        TRUST + "\r\n" + "later\r\n" * 20,
        "\x1b[2J\x1b[H".join([TRUST, "Ready."]),
    ],
)
def test_an_answered_question_or_a_list_is_none(shown: str) -> None:
    assert screen.question(shown) == ""


@given(st.text(alphabet=st.sampled_from("\x1b[]0123456789;?AJHKGdhclm\r\n\b\t❯. ab"), max_size=200))
def test_anything_is_drawn_within_bounds(shown: str) -> None:
    assert all(row == row.strip() and len(row) <= screen.COLUMNS for row in screen.rows(shown))
    assert len(screen.question(shown)) <= screen.QUOTED
