"""The stub resolver's side of DNS, on bytes as glibc sends them."""

from __future__ import annotations

import pytest

from pytest_amap.rehearsal.boxes import dns


def query(name: str, kind: int = 1) -> bytes:
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    return b"\x12\x34\x01\0\0\1\0\0\0\0\0\0" + labels + b"\0" + kind.to_bytes(2, "big") + b"\0\1"


def test_a_question_is_read_in_lower_case() -> None:
    found = dns.parse(query("API.Anthropic.com"))
    assert (found.name, found.wants_ipv4) == ("api.anthropic.com", True)


def test_an_address_is_answered_for_a_and_nothing_for_aaaa() -> None:
    four, six = query("a.example"), query("a.example", 28)
    assert dns.answer(four, dns.parse(four), "127.87.0.1").endswith(b"\0\4" + bytes([127, 87, 0, 1]))
    answered = dns.answer(six, dns.parse(six), "127.87.0.1")
    assert answered[6:8] == b"\0\0"
    assert answered[3] & 0x0F == 0, "the name exists"


def test_a_refusal_carries_the_id_and_the_code() -> None:
    asked = query("mail.example.org")
    refused = dns.refuse(asked, dns.parse(asked))
    assert refused[:2] == asked[:2]
    assert refused[3] & 0x0F == 5


@pytest.mark.parametrize("question", [b"", b"\xc0\x0c", b"\x05ab", b"\2\xff\xff\0"])
def test_what_is_no_query_is_told(question: bytes) -> None:
    with pytest.raises(ValueError, match=r"quer|question"):
        dns.parse(b"\0" * 12 + question)
