"""The stand-in for node: its version, and the probe that reaches or names the errno."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator

import pytest
from agent_bench import Api
from siblings_bench import REHEARSAL, load, run

from pytest_amap import probes
from pytest_amap.observations import Ran
from pytest_amap.parsers import Unreadable

NODE = REHEARSAL / "agent/node.py"
PYTHON = "/usr/bin/python3"


@pytest.fixture
def api() -> Iterator[Api]:
    made = Api(404)
    yield made
    made.close()


def probed(url: str) -> dict[str, object]:
    """What the suite's probe tells, as the suite reads it."""
    argv = probes.node_fetch(str(NODE), url)
    done = run(PYTHON, *argv)
    answer = probes.answer(Ran(argv, done.returncode, done.stdout, done.stderr, "", ""))
    assert not isinstance(answer, Unreadable), answer
    assert done.returncode == (0 if answer["reached"] else 1)
    return {name: value for name, value in answer.items() if name != "asked"}


def test_version_and_nothing_unknown() -> None:
    assert run(PYTHON, NODE, "--version").stdout == "v22.23.5\n"
    assert run(PYTHON, NODE, "script.js").returncode == 9


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_any_answer_is_reached_even_over_plain_http(api: Api, scheme: str) -> None:
    assert probed(api.url.replace("http", scheme)) == {"reached": True, "status": 404}


def test_a_refused_connection_is_named_by_errno() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        found = probed(f"https://127.0.0.1:{closed.getsockname()[1]}/")
    assert found == {"reached": False, "error": "ECONNREFUSED"}


NAMES = [
    (socket.gaierror(socket.EAI_AGAIN, "x"), "EAI_AGAIN"),
    (socket.gaierror(socket.EAI_NONAME, "x"), "ENOTFOUND"),
    (OSError(errno.EACCES, "x"), "EACCES"),
    (ConnectionResetError(), "ECONNRESET"),
    (TimeoutError(), "ETIMEDOUT"),
    (ValueError(), "ValueError"),
]


@pytest.mark.parametrize(("error", "name"), NAMES, ids=[name for _error, name in NAMES])
def test_errors_have_the_names_node_gives_them(error: Exception, name: str) -> None:
    assert load("rehearsed_node", NODE).name_of(error) == name
