"""A probe's answer counts only where it is the one answer, and the answer to this very question."""

from __future__ import annotations

import json

import pytest
from request_samples import AT

from pytest_amap import probes
from pytest_amap.observations import Ran
from pytest_amap.parsers import Unreadable

EXEC = ("openshell", "sandbox", "exec", "--name", "alpha", "--")
CREATE = (*EXEC, *probes.create("/opt/amap/lanes/inbox/.amap-probe-r", remove=False))
ASKED = ["/opt/amap/lanes/inbox/.amap-probe-r", "leave"]


def line(**found: object) -> str:
    return probes.MARK + json.dumps(found) + "\n"


def said(stdout: str, argv: tuple[str, ...] = CREATE) -> Ran:
    return Ran(argv, 0, stdout, "", AT, AT)


def test_the_one_answer_to_the_question_counts_whatever_stands_around_it() -> None:
    around = f"Welcome to this sandbox\n{line(asked=ASKED, errno='EROFS')}logout\n"
    assert probes.answer(said(around))["errno"] == "EROFS"
    assert probes.answer(said(f"\x1b[0m{line(asked=ASKED, errno='EROFS')}"))["errno"] == "EROFS"


@pytest.mark.parametrize(
    "stdout",
    {
        "a shell profile answers first": line(errno="EROFS") + line(asked=ASKED, errno=None),
        "a logout script answers last": line(asked=ASKED, errno=None) + line(asked=ASKED, errno="EROFS"),
        "a canned answer in the program's place": line(errno="EROFS"),
        "the answer to an earlier run's question": line(asked=[ASKED[0].replace("-r", "-q"), "leave"], errno="EROFS"),
        "the answer about another path": line(asked=["/usr/.amap-probe-r", "leave"], errno="EROFS"),
        "one key twice": f'{probes.MARK}{{"asked": {json.dumps(ASKED)}, "errno": null, "errno": "EROFS"}}\n',
        "after a word of somebody else": f"motd: {line(asked=ASKED, errno='EROFS')}",
        "cut short": line(asked=ASKED, errno="EROFS")[:-3],
        "a list": f"{probes.MARK}[1]\n",
    }.items(),
    ids=lambda item: item[0],
)
def test_another_answer_is_none(stdout: tuple[str, str]) -> None:
    assert isinstance(probes.answer(said(stdout[1])), Unreadable)


@pytest.mark.parametrize("stream", ["", "EROFS: Read-only file system\n"])
def test_what_stands_on_stderr_is_no_answer(stream: str) -> None:
    ran = Ran(CREATE, 0, stream, line(asked=ASKED, errno="EROFS"), AT, AT)
    assert isinstance(probes.answer(ran), Unreadable)


def test_node_answers_the_same_way() -> None:
    argv = (*EXEC, *probes.node_fetch("/usr/bin/node", "https://api.anthropic.com/"))
    assert probes.answer(said(line(asked=["https://api.anthropic.com/"], reached=True), argv))["reached"] is True
    assert isinstance(probes.answer(said(line(asked=["https://other/"], reached=True), argv)), Unreadable)
