"""Stand-in for `node`: `--version`, and `-e CODE URL`, which does what the suite's one-line probe does.

CODE is not interpreted. URL's host and port get a plain HTTP GET, https or not, since the rehearsal's endpoints
speak plain HTTP. Prints the probe's line and exits 0 where the host was reached, else 1.
"""

from __future__ import annotations

import errno
import http.client
import json
import os
import socket
import sys
from urllib.parse import urlsplit

VERSION = "v22.23.5"
SECONDS = 15.0
_RESOLVER = {socket.EAI_AGAIN: "EAI_AGAIN", socket.EAI_NONAME: "ENOTFOUND"}


def reach(url: str) -> int:
    """The status of a GET; OSError or HTTPException where the host cannot be reached."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    proxy = urlsplit(os.environ.get("HTTPS_PROXY", ""))
    if proxy.hostname:
        connection = http.client.HTTPConnection(proxy.hostname, proxy.port or 80, timeout=SECONDS)
        connection.set_tunnel(host, port)
    else:
        connection = http.client.HTTPConnection(host, port, timeout=SECONDS)
    try:
        connection.request("GET", parts.path or "/", headers={"Connection": "close"})
        return connection.getresponse().status
    finally:
        connection.close()


def name_of(error: Exception) -> str:
    """The name Node gives an error: resolver, errno, else the exception's own."""
    if isinstance(error, socket.gaierror):
        return _RESOLVER.get(error.errno or 0, "ENOTFOUND")
    if isinstance(error, OSError) and error.errno is not None:
        return errno.errorcode.get(error.errno, str(error.errno))
    if isinstance(error, TimeoutError):
        return "ETIMEDOUT"
    if isinstance(error, ConnectionResetError):
        return "ECONNRESET"
    return type(error).__name__


def main(arguments: list[str]) -> int:
    """Run one of the two known command lines; anything else is refused with Node's exit for a bad option."""
    if arguments in (["--version"], ["-v"]):
        print(VERSION)
        return 0
    if len(arguments) != 3 or arguments[0] not in ("-e", "--eval"):
        print("node: this stand-in knows --version and -e CODE URL only", file=sys.stderr)
        return 9
    try:
        status = reach(arguments[2])
    except (OSError, http.client.HTTPException, ValueError) as error:
        return say({"reached": False, "error": name_of(error)}, arguments[2])
    return say({"reached": True, "status": status}, arguments[2])


def say(found: dict[str, object], url: str) -> int:
    print("AMAP-PROBE " + json.dumps({**found, "asked": [url]}))
    return 0 if found["reached"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
