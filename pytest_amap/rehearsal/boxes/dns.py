"""Just enough of RFC 1035 for a stub resolver that knows a few names."""

from __future__ import annotations

import socket
from dataclasses import dataclass

_TYPE_A = 1
_LIFETIME_SECONDS = 5
_NAME_OF_QUESTION = b"\xc0\x0c"


@dataclass(frozen=True)
class Question:
    """The first question of a query; `end` is the offset behind it."""

    name: str
    kind: int
    end: int

    @property
    def wants_ipv4(self) -> bool:
        return self.kind == _TYPE_A


def parse(query: bytes) -> Question:
    """Raises ValueError for what is no query with one plain question."""
    labels, position = [], 12
    try:
        while query[position]:
            length = query[position]
            if length > 63:
                raise ValueError("a compressed name in a question")
            labels.append(query[position + 1 : position + 1 + length].decode("ascii"))
            position += length + 1
        kind = int.from_bytes(query[position + 1 : position + 3], "big")
    except (IndexError, UnicodeDecodeError) as error:
        raise ValueError("no DNS query") from error
    return Question(".".join(labels).lower(), kind, position + 5)


def answer(query: bytes, question: Question, address: str | None) -> bytes:
    """`address` for an A query; for any other type the name exists and has no such record."""
    record = b""
    if question.wants_ipv4 and address is not None:
        packed = socket.inet_aton(address)
        record = _NAME_OF_QUESTION + b"\0\1\0\1" + _LIFETIME_SECONDS.to_bytes(4, "big") + b"\0\4" + packed
    counts = b"\0\1" + (b"\0\1" if record else b"\0\0") + b"\0\0\0\0"
    return query[:2] + b"\x85\x80" + counts + query[12 : question.end] + record


def refuse(query: bytes, question: Question) -> bytes:
    """REFUSED, which glibc turns into EAI_AGAIN."""
    return query[:2] + b"\x81\x85" + b"\0\1\0\0\0\0\0\0" + query[12 : question.end]
