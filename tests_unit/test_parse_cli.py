"""What the `openshell` command prints as data."""

from __future__ import annotations

import json

import pytest

from pytest_amap.parsers import Unreadable, cli

ALPHA = {"id": "0b5c-1", "name": "alpha", "workspace": "default", "phase": "Ready", "labels": {}}
SANDBOX = cli.Sandbox("0b5c-1", "alpha", "default", "Ready")

STATUS = """\
Server Status

  Gateway: openshell
  Server: https://127.0.0.1:17670
  Status: Connected
  Authentication: mTLS (gateway)
  Version: 0.1.2
"""


def test_a_sandbox() -> None:
    assert cli.sandbox(json.dumps(ALPHA, indent=2)) == SANDBOX


@pytest.mark.parametrize(
    ("conditions", "reason"),
    [
        (
            [
                {"status": "True", "reason": "Fine"},
                {"status": "False", "reason": "ContainerExited", "message": "exit 1"},
            ],
            "ContainerExited: exit 1",
        ),
        ([{"status": False, "message": "exit 1"}], "exit 1"),
        ([{"status": "False", "reason": 7}, "x", None], ""),
        ({"status": "False"}, ""),
        (None, ""),
    ],
)
def test_what_is_said_of_a_phase(conditions: object, reason: str) -> None:
    shown = {"id": "id-1", "name": "alpha", "workspace": "default", "phase": "Error", "conditions": conditions}
    found = cli.sandbox(json.dumps(shown))
    assert isinstance(found, cli.Sandbox)
    assert (found.reason, found.state) == (reason, f"Error ({reason})" if reason else "Error")


def test_a_sandbox_in_colours() -> None:
    assert cli.sandbox(json.dumps(ALPHA).replace("Ready", "@").replace("@", "\x1b[32mReady\x1b[39m")) == SANDBOX


@pytest.mark.parametrize(
    "stdout",
    [
        pytest.param("", id="nothing"),
        pytest.param("using last used sandbox 'alpha'\n" + json.dumps(ALPHA), id="A04-a-notice-before"),
        pytest.param(json.dumps(ALPHA) + "\nwarning: log buffer", id="A04-a-notice-behind"),
        pytest.param(json.dumps([ALPHA]), id="a-list"),
        pytest.param(json.dumps(ALPHA | {"phase": None}), id="no-phase"),
        pytest.param(json.dumps(ALPHA | {"id": "a b"}), id="an-id-with-a-space"),
        pytest.param(json.dumps(ALPHA | {"id": ""}), id="an-empty-id"),
        pytest.param(json.dumps(ALPHA)[:-1] + ', "phase": "Ready"}', id="a-key-twice"),
        pytest.param(json.dumps(ALPHA)[:-1] + ', "x": NaN}', id="not-json"),
        pytest.param("[" * 100_000, id="deep"),
    ],
)
def test_a_sandbox_that_cannot_be_read(stdout: str) -> None:
    assert isinstance(cli.sandbox(stdout), Unreadable)


@pytest.mark.parametrize(
    ("page", "token"),
    [
        ([ALPHA], ""),
        ({"sandboxes": [ALPHA], "next_page_token": ""}, ""),
        ({"sandboxes": [ALPHA]}, ""),
        ({"sandboxes": [ALPHA], "next_page_token": "p2"}, "p2"),
    ],
    ids=["array", "envelope", "envelope-without-token", "more-pages"],
)
def test_both_listings(page: object, token: str) -> None:
    assert cli.sandbox_list_json(json.dumps(page)) == cli.SandboxList((SANDBOX,), token)


def test_a_listing_of_nothing_may_be_told_in_a_sentence() -> None:
    assert cli.sandbox_list_json("No sandboxes found.\n") == cli.SandboxList((), "")
    assert cli.providers("\x1b[2mNo providers found.\x1b[0m\n") == cli.ProviderList((), "")
    for other in ("", "No sandboxes found in default.\n", "No providers found.\n", "No sandboxes found.\n{}"):
        assert isinstance(cli.sandbox_list_json(other), Unreadable)


@pytest.mark.parametrize(
    "page", [{}, {"sandboxes": None}, [{"id": "x"}], "alpha", {"sandboxes": [], "next_page_token": 1}]
)
def test_a_listing_that_cannot_be_read(page: object) -> None:
    assert isinstance(cli.sandbox_list_json(json.dumps(page)), Unreadable)


def test_names_of_every_workspace() -> None:
    assert cli.sandbox_names("default/alpha\n\x1b[1mother/x-1\x1b[0m\n") == (("default", "alpha"), ("other", "x-1"))
    assert cli.sandbox_names("") == ()


@pytest.mark.parametrize(
    "stdout",
    ["alpha\n", "default/alpha\nmore: --page-token p2\n", "a/b/c", "/alpha", "default/", "No sandboxes found."],
)
def test_names_that_cannot_be_read(stdout: str) -> None:
    assert isinstance(cli.sandbox_names(stdout), Unreadable)


@pytest.mark.parametrize(
    "printed",
    [
        STATUS,
        STATUS.replace("Connected", "\x1b[32mConnected\x1b[0m"),
        STATUS.replace("  Server:", "  Endpoint:"),
        json.dumps(
            {
                "gateway": "openshell",
                "server": "https://127.0.0.1:17670",
                "status": "connected",
                "version": "0.1.2",
                "authentication": {"mode": "mTLS (gateway)", "status": "ok"},
            }
        ),
    ],
    ids=["table", "A05-coloured", "A07-renamed-label", "json"],
)
def test_a_connected_status(printed: str) -> None:
    expected = cli.Status(True, True, "https://127.0.0.1:17670", "mTLS (gateway)")
    assert cli.status(printed) == expected


@pytest.mark.parametrize(
    "printed", ["Gateway Status\n\n  No gateway configured\n", '{"status":"not_configured"}'], ids=["table", "json"]
)
def test_a_status_without_a_gateway(printed: str) -> None:
    assert cli.status(printed) == cli.Status(connected=False, configured=False)


def test_a_status_that_is_not_connected() -> None:
    answer = cli.status(STATUS.replace("Connected", "Disconnected"))
    assert isinstance(answer, cli.Status)
    assert not answer.connected


@pytest.mark.parametrize(
    "printed",
    [
        pytest.param("", id="A14-nothing"),
        pytest.param("Server: \x1b[36mhttps://127.0.0.1:17670/\x1b[0m", id="A07-only-the-server"),
        pytest.param(STATUS.replace("Connected", "Connected, but not really"), id="A07-other-words"),
        pytest.param(STATUS + "  Status: Disconnected\n", id="two-answers"),
        pytest.param("Connected", id="a-bare-word"),
        pytest.param('{"status": "connected"', id="cut-json"),
        pytest.param('{"status": true}', id="no-word"),
        pytest.param("x" * 100_000, id="too-long"),
    ],
)
def test_a_status_that_cannot_be_read(printed: str) -> None:
    assert isinstance(cli.status(printed), Unreadable)


def test_profiles() -> None:
    assert cli.profiles("[]") == ()
    assert cli.profiles('[{"id": "a"}, {"id": "a", "x": 1}]') == ({"id": "a"}, {"id": "a", "x": 1})
    for bad in ("{}", '[{"name": "a"}]', "[1]", "", "null"):
        assert isinstance(cli.profiles(bad), Unreadable)


def test_providers() -> None:
    item = {"id": "p", "name": "amap-claude-code", "type": "amap-claude-code"}
    expected = cli.Provider("amap-claude-code", "amap-claude-code")
    for page in ([item], {"providers": [item], "next_page_token": ""}):
        assert cli.providers(json.dumps(page)) == cli.ProviderList((expected,), "")
    for bad in ({"providers": [{"id": "p"}]}, [item | {"type": ""}], {"sandboxes": []}):
        assert isinstance(cli.providers(json.dumps(bad)), Unreadable)


def test_gateway_info() -> None:
    info = {"compute_drivers": [{"name": "docker", "capabilities": {}}], "version": "0.1.2"}
    assert cli.gateway_info(json.dumps(info)) == cli.GatewayInfo(("docker",))
    for bad in ({}, info | {"compute_drivers": []}, info | {"compute_drivers": ["docker"]}):
        assert isinstance(cli.gateway_info(json.dumps(bad)), Unreadable)
