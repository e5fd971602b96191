"""A default route of type `prohibit`: connect(2) to anything but loopback is EACCES at once."""

from __future__ import annotations

import os
import socket
import struct

_NEW_ROUTE = 24
_REQUEST_ACK_CREATE_EXCL = 0x605
_TABLE_MAIN, _PROTO_STATIC, _SCOPE_UNIVERSE, _TYPE_PROHIBIT = 254, 4, 0, 8


def prohibit_default_route() -> None:
    """For IPv4 and IPv6, in the current network namespace; needs CAP_NET_ADMIN there."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as netlink:
        for sequence, family in enumerate((socket.AF_INET, socket.AF_INET6), 1):
            route = struct.pack(
                "BBBBBBBBI", family, 0, 0, 0, _TABLE_MAIN, _PROTO_STATIC, _SCOPE_UNIVERSE, _TYPE_PROHIBIT, 0
            )
            header = struct.pack("IHHII", 16 + len(route), _NEW_ROUTE, _REQUEST_ACK_CREATE_EXCL, sequence, 0)
            netlink.send(header + route)
            error = -struct.unpack_from("i", netlink.recv(4096), 16)[0]
            if error and family == socket.AF_INET:  # a kernel without IPv6 has nothing to prohibit there
                raise OSError(error, os.strerror(error), "RTM_NEWROUTE prohibit default")
