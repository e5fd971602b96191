"""The sandbox log: its grammar, network decisions by exact host."""

from __future__ import annotations

import pytest

from pytest_amap.parsers import logs

HOST = "mail.example.org"


def ocsf(message: str, epoch: str = "1790772211.766") -> str:
    return f"[{epoch}] [sandbox] [OCSF ] [ocsf] {message}\n"


def test_entries_and_what_is_none() -> None:
    text = ocsf("NET:OPEN x") + "[1775014129.001] [gateway] [INFO ] [openshell_server::a] up key=1\n\nnot an entry\n"
    assert logs.entries(text) == (
        logs.Entry(1790772211.766, "sandbox", "OCSF", "ocsf", "NET:OPEN x"),
        logs.Entry(1775014129.001, "gateway", "INFO", "openshell_server::a", "up key=1"),
    )
    assert logs.unparsed(text) == ("not an entry",)


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(f"NET:REFUSE [MED] DENIED {HOST} [reason:policy_dns_ineligible]", id="A30-dns"),
        pytest.param(f"NET:REFUSE [MED] DENIED {HOST}:53 [reason:policy_dns_ineligible]", id="A30-dns-port"),
        pytest.param(
            f"NET:OPEN [MED] DENIED /usr/bin/python3.12(64) -> {HOST}:443 [policy:- engine:opa]", id="A30-open"
        ),
        pytest.param(
            f"NET:OPEN DENIED /usr/bin/python3.11 -> {HOST}:443 [reason:transparent_tcp_policy_denied]", id="A30-tcp"
        ),
        pytest.param(f"HTTP:CONNECT [MED] BLOCKED CONNECT {HOST}:443 [policy:- engine:l7]", id="A30-connect"),
        pytest.param(f"HTTP:CONNECT [MED] BLOCKED /usr/bin/node(7) -> {HOST}:443", id="A30-connect-binary"),
        pytest.param(f"HTTP:GET [MED] DENIED GET https://{HOST}/x?y [policy:- engine:l7]", id="A30-url"),
        pytest.param(f"DNS:QUERY [MED] DENIED {HOST} [reason:x]", id="A30-another-class"),
        pytest.param(f"NET:OPEN [MED] DENIED /opt/my app/x(6) -> {HOST}:443 [policy:-]", id="binary-with-a-space"),
        pytest.param("NET:REFUSE [MED] DENIED MAIL.Example.org.:53 [reason:x]", id="upper-case-and-final-dot"),
        pytest.param(f"\x1b[31mNET:REFUSE\x1b[0m [MED] DENIED {HOST} [reason:x]", id="A05-coloured"),
    ],
)
def test_every_shape_of_a_denial_names_the_host(message: str) -> None:
    (event,) = logs.about(logs.network(ocsf(message)), HOST)
    assert event.action in ("DENIED", "BLOCKED")
    assert event.epoch == 1790772211.766


@pytest.mark.parametrize(
    "target",
    [
        f"{HOST}.evil.net:443",
        f"not{HOST}:443",
        f"x.{HOST}:443",
        "mail-example.org:443",
        "example.org:443",
        f"evil.net/{HOST}",
        f"{HOST}:99999",
        f"{HOST} evil.net",
        f"evil.net:{HOST}",
        "ｍail.example.org:443",
    ],
)
def test_a_look_alike_is_not_the_host(target: str) -> None:
    text = ocsf(f"NET:OPEN [MED] DENIED /usr/bin/python3(1) -> {target} [policy:- engine:opa]")
    assert len(logs.network(text)) == 1
    assert logs.about(logs.network(text), HOST) == ()


def test_everything_a_line_says() -> None:
    text = ocsf(
        "NET:OPEN [INFO] ALLOWED /usr/local/bin/node(58) -> api.anthropic.com:443 [policy:_provider_a engine:opa]"
        " [reason:policy generation is stale [captured_generation:1 current_generation:2]]"
    )
    (event,) = logs.network(text)
    assert (event.action, event.host, event.port) == ("ALLOWED", "api.anthropic.com", 443)
    assert event.binary == "/usr/local/bin/node"
    assert event.line == text.rstrip()


def test_what_a_line_does_not_say_is_none() -> None:
    (event,) = logs.network(ocsf("NET:REFUSE [MED] DENIED a.example [policy:- engine:x] [reason:r]"))
    assert (event.port, event.binary) == (None, None)


@pytest.mark.parametrize("before", ["", "/bin/x(1) -> "])
@pytest.mark.parametrize("behind", ["", " [policy:-]"])
def test_an_ipv6_target(before: str, behind: str) -> None:
    (event,) = logs.network(ocsf(f"NET:OPEN [MED] DENIED {before}[2001:DB8::1]:443{behind}"))
    assert (event.host, event.port) == ("2001:db8::1", 443)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"NET:REFUSE [MED] DENIED {HOST}", id="no-entry"),
        pytest.param(ocsf(f"refused {HOST} DENIED"), id="prose"),
        pytest.param(ocsf(f"NET:OPEN [MED] LOOKED {HOST}:443"), id="another-action"),
        pytest.param(ocsf(f"NET:OPEN [MED] DENIEDX {HOST}:443"), id="a-longer-word"),
        pytest.param("", id="empty"),
    ],
)
def test_what_is_no_decision(text: str) -> None:
    assert logs.network(text) == ()


def test_a_decision_without_a_readable_target_is_kept() -> None:
    (event,) = logs.network(ocsf("NET:OPEN [MED] DENIED something new"))
    assert event.host == ""
    assert logs.about([event], "") == ()
