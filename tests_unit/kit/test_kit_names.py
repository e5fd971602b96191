"""Names, domains and run-as pairs: what may pass, what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import names
from kit.errors import Refused
from kit.names import RunAs


@pytest.mark.parametrize("name", ["a", "alpha", "alpha-2", "0", "a" * 19, "a-b-c"])
def test_an_openshell_label_passes(name: str) -> None:
    assert names.check_label(name, "workspace") == name


@pytest.mark.parametrize(
    "name", ["", "a" * 20, "Alpha", "-a", "a-", "a--b", "a.b", "a_b", "a b", "a\n", "ä", "amap.router", 7, None, ["a"]]
)
def test_anything_else_is_no_label(name: object) -> None:
    with pytest.raises(Refused, match=r"^here "):
        names.check_label(name, "here")


@pytest.mark.parametrize("name", ["probe", "amap-l1-probe"])
def test_a_member_may_not_be_named_as_a_probe(name: str) -> None:
    with pytest.raises(Refused, match="probe"):
        names.check_member(name, "here")


@given(st.text(max_size=25))
def test_a_label_is_safe_in_paths_words_and_dns(text: str) -> None:
    try:
        name = names.check_label(text, "here")
    except Refused:
        return
    assert 1 <= len(name) <= 19
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert "--" not in name
    assert name.strip("-") == name


@pytest.mark.parametrize("domain", ["agents.example.org", "a", "x-1.y", f"{'a' * 63}.b"])
def test_a_domain_passes(domain: str) -> None:
    assert names.check_domain(domain, "fleet_domain") == domain


@pytest.mark.parametrize(
    "domain",
    [
        "",
        "a.",
        ".a",
        "a..b",
        "A.org",
        "a.org\n",
        "a.org:1",
        "https://a.org",
        "-a.org",
        "a-.org",
        "a" * 64,
        None,
        ".".join(["a" * 60] * 5),
    ],
)
def test_anything_else_is_no_domain(domain: object) -> None:
    with pytest.raises(Refused, match=r"^here is "):
        names.check_domain(domain, "here")


def test_a_run_as_pair_is_read() -> None:
    assert names.parse_run_as("1000:4294967294") == RunAs(1000, 4294967294)
    assert str(RunAs(1, 2)) == "1:2"


@pytest.mark.parametrize(
    "text",
    ["", "1000", "1000:", ":1000", "1:2:3", "-1:1", "+1:1", " 1:1", "1:1\n", "1:01", "1:4294967295", "١:1", "a:b"],
)
def test_a_run_as_pair_of_another_shape_is_refused(text: str) -> None:
    with pytest.raises(Refused, match="UID:GID"):
        names.parse_run_as(text)


@pytest.mark.parametrize("text", ["0:0", "0:1000", "1000:0"])
def test_root_is_no_run_as(text: str) -> None:
    with pytest.raises(Refused, match="root"):
        names.parse_run_as(text)


@pytest.mark.parametrize("caller", [RunAs(0, 1000), RunAs(1000, 0)])
def test_root_is_no_caller(caller: RunAs) -> None:
    with pytest.raises(Refused, match="root"):
        names.check_caller(caller)
