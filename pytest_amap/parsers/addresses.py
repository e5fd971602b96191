"""Network addresses as configuration files, `ss` and URLs spell them."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

from . import Unreadable, shown

_PAIR = re.compile(r"(\[[0-9A-Fa-f:.]+(?:%[\w.-]+)?\]|[A-Za-z0-9.-]+|\*):([0-9]{1,5})", re.ASCII)
_URL = re.compile(r"(https?)://([^/?#@]{1,300})(?:[/?#].*)?", re.ASCII)
_DEFAULT_PORT = {"http": "80", "https": "443"}


@dataclass(frozen=True)
class Endpoint:
    """Where something listens: `host` is an address without brackets, a name, or `*`."""

    host: str
    port: int

    @property
    def loopback(self) -> bool:
        return self.host.lower() == "localhost" or is_loopback(self.host)

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def is_loopback(address: str) -> bool:
    """Whether a numeric address is this host's alone: 127.0.0.0/8, IPv4-mapped too, and ::1.

    Brackets and a zone (`127.0.0.1%lo`) are taken off; a name, `*` and what is no address are not loopback.
    """
    bare = address.removeprefix("[").removesuffix("]").split("%")[0]
    try:
        found = ipaddress.ip_address(bare)
    except ValueError:
        return False
    mapped = getattr(found, "ipv4_mapped", None)
    return (mapped or found).is_loopback


def socket_address(text: str) -> Endpoint | Unreadable:
    """`HOST:PORT`, an IPv6 address in brackets."""
    found = _PAIR.fullmatch(text)
    if not found or int(found[2]) > 65535:
        return Unreadable(f"expected an address such as 127.0.0.1:17670, saw {shown(text)}")
    return Endpoint(found[1].strip("[]"), int(found[2]))


def url(text: str) -> Endpoint | Unreadable:
    """Where an http or https URL leads; one with a user part is refused."""
    found = _URL.fullmatch(text)
    if not found:
        return Unreadable(f"expected a URL such as https://127.0.0.1:17670, saw {shown(text)}")
    authority = found[2]
    has_port = re.search(r":[0-9]+$", authority) and not authority.endswith("]")
    return socket_address(authority if has_port else f"{authority}:{_DEFAULT_PORT[found[1]]}")
