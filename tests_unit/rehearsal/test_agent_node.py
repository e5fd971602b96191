"""The stand-in for node: its version, and the probe that reaches or names the errno."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator

import pytest
from agent_bench import Api
from siblings_bench import REHEARSAL, load, run

NODE = REHEARSAL / "agent/node.py"
CODE = "fetch(process.argv[1])"
PYTHON = "/usr/bin/python3"


@pytest.fixture
def api() -> Iterator[Api]:
    made = Api(404)
    yield made
    made.close()


def test_version_and_nothing_unknown() -> None:
    assert run(PYTHON, NODE, "--version").stdout == "v22.23.5\n"
    assert run(PYTHON, NODE, "script.js").returncode == 9


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_any_answer_is_reached_even_over_plain_http(api: Api, scheme: str) -> None:
    done = run(PYTHON, NODE, "-e", CODE, api.url.replace("http", scheme))
    assert (done.stdout, done.returncode) == ("AMAP-PROBE REACHED 404\n", 0)


def test_a_refused_connection_is_named_by_errno() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        done = run(PYTHON, NODE, "-e", CODE, f"https://127.0.0.1:{closed.getsockname()[1]}/")
    assert (done.stdout, done.returncode) == ("AMAP-PROBE ERROR ECONNREFUSED\n", 1)


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
