"""Dockerfiles as the rehearsal's builder reads them."""

from __future__ import annotations

import pytest

from pytest_amap.rehearsal.images.dockerfile import DockerfileError, command, pairs, parse, substitute

VALUES = {"NAME": "agent", "EMPTY": "", "UID": "1000"}


def test_lines_are_joined_and_comments_between_them_dropped() -> None:
    text = "# a comment\nFROM base\n\nRUN one; \\\n    # not this\n    two\nlabel a=1\n"
    read = [(item.word, " ".join(item.rest.split()), item.line) for item in parse(text)]
    assert read == [("FROM", "base", 2), ("RUN", "one; two", 4), ("LABEL", "a=1", 7)]


def test_a_hash_inside_an_instruction_is_no_comment() -> None:
    assert parse('FROM a\nLABEL colour="#fff"')[1].rest == 'colour="#fff"'


@pytest.mark.parametrize("text", ["", "# nothing\n", "FROM a\nFETCH b\n"])
def test_what_cannot_be_followed_is_refused(text: str) -> None:
    with pytest.raises(DockerfileError):
        parse(text)


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("$NAME", "agent"),
        ("${NAME}-x", "agent-x"),
        ("${EMPTY:-other}", "other"),
        ("${NAME:-other}", "agent"),
        ("${NAME:+set}", "set"),
        ("${MISSING:+set}", ""),
        (r"\$NAME", "$NAME"),
        ("$MISSING.", "."),
    ],
)
def test_variables(text: str, expanded: str) -> None:
    assert substitute(text, VALUES) == expanded


def test_a_required_variable_stops_the_build_with_its_message() -> None:
    with pytest.raises(DockerfileError, match="say which version"):
        substitute("${VERSION:?say which version}", VALUES)


def test_pairs_of_labels_and_environment() -> None:
    assert pairs('a="two words" b=$UID', VALUES) == {"a": "two words", "b": "1000"}
    assert pairs("PATH /opt/bin", VALUES) == {"PATH": "/opt/bin"}


def test_commands_in_both_forms() -> None:
    assert command('["sh", "-c", "x"]') == ["sh", "-c", "x"]
    assert command("echo $HOME") == ["/bin/sh", "-c", "echo $HOME"]
    assert command("[ -f x ]") == ["/bin/sh", "-c", "[ -f x ]"]
