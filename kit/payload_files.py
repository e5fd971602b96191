"""What a sandbox sees under /opt/amap/payload: our own files and the connector's, byte for byte."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from kit import jsontext
from kit.errors import Refused
from kit.files import Wanted, directory, document
from kit.home import Home

OWN = Path(__file__).with_name("payload")

# Path below payload/ and mode; the modes are stated here, not taken from the source files.
_OWN_FILES = (
    ("amap-main", 0o755),
    ("openshell-sessions", 0o755),
    ("mcp-servers.json", 0o644),
    ("INBOX-POLICY.md", 0o644),
    ("claude-settings.json", 0o644),
    ("claude-session-start", 0o755),
    ("claude-seed", 0o755),
)
# inbox-delivery loads _inboxlib.py from beside itself; mcp-servers.json names the other two in bin/.
_CONNECTOR_FILES = (
    ("inbox-delivery", 0o755),
    ("_inboxlib.py", 0o644),
    ("bin/inbox-mcp-vol", 0o755),
    ("bin/inbox-submit", 0o755),
)


def directories(home: Home) -> tuple[Wanted, ...]:
    return directory(home.payload), directory(home.payload / "bin")


def files(home: Home, connector: Path) -> tuple[Wanted, ...]:
    """Every payload file with its source's bytes; Refused names all sources that cannot be read, together."""
    sources = [(name, mode, OWN / name) for name, mode in _OWN_FILES]
    sources += [(name, mode, connector / "bin" / Path(name).name) for name, mode in _CONNECTOR_FILES]
    wanted, unread = [], []
    for name, mode, source in sources:
        try:
            wanted.append(Wanted(home.payload / name, mode, jsontext.regular_bytes(source)))
        except OSError as error:
            unread.append(f"{source} ({error.strerror})")
    if unread:
        raise Refused(f"these payload sources cannot be read: {', '.join(unread)}; restore them in their checkouts")
    return tuple(wanted)


def manifest(home: Home, payload: Iterable[Wanted]) -> Wanted:
    """The payload's digests, to be checked in the home with `sha256sum -c`."""
    rows = (
        f"{hashlib.sha256(want.content).hexdigest()}  {want.path.relative_to(home.path)}\n"
        for want in payload
        if want.content is not None
    )
    return document(home.payload_manifest, "".join(rows))
