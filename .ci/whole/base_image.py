"""A stand-in for the recipe's base image where no image registry is reached: this machine's Debian, and Node.js of npm.

What the machine knows about reaching its registries goes into it, since the recipe's own apt-get and npm need it too:
apt's sources and how they are acquired, npm's settings and the certificates they name. It is made anew each time, in a
folder of the test's, and leaves this machine with that folder at the latest.
"""

from __future__ import annotations

import contextlib
import io
import platform
import re
import shlex
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from docker_daemon import CannotRun

NPM = "npm@10"
"""The npm that Node.js 22 is shipped with."""

PROCESSORS = {"x86_64": "x64", "aarch64": "arm64"}
SOURCES = ("sources.list", "sources.list.d/debian.sources", "sources.list.d/ubuntu.sources")
"""The distribution's own, below /etc/apt; others may need keys that the image has not."""

ACQUIRED = re.compile(r"^Acquire::(?:https?|Check|Retries|Max)", re.IGNORECASE)
SETTINGS = ("registry", "proxy", "https-proxy", "strict-ssl")
ACCOUNT = "chroot {root} useradd --uid 1000 --user-group --create-home --shell /bin/bash node"
"""The account that the official image has, and that the recipe must get rid of."""


def make(folder: Path, name: str) -> Path:
    """A tar of the root filesystem of `name`, such as node:22-bookworm-slim; CannotRun names the call that failed."""
    release = re.search(r"node:(\d+)", name)
    assert release, name
    additions, settings, base = folder / "additions.tar", folder / "apt.conf", folder / "base.tar"
    with tarfile.open(additions, "w") as into:
        for one in (node(folder, release[1]), npm(folder), own_settings()):
            for member, content in one:
                into.addfile(member, content)
    settings.write_text("\n".join(filter(ACQUIRED.match, call("apt-config", "dump").splitlines())) + "\n")
    hooks = (f"tar-in {shlex.quote(str(additions))} /", ACCOUNT.format(root='"$1"'))
    sources = [str(path) for one in SOURCES if (path := Path("/etc/apt", one)).exists()]
    words = ("--variant=minbase", f"--aptopt={settings}", *(f"--customize-hook={hook}" for hook in hooks))
    call("mmdebstrap", *words, platform.freedesktop_os_release()["VERSION_CODENAME"], str(base), *sources)
    return base


Members = Iterator[tuple[tarfile.TarInfo, IO[bytes] | None]]


def node(folder: Path, release: str) -> Members:
    processor = PROCESSORS.get(platform.machine(), platform.machine())
    for member, content in packed(folder, f"node-linux-{processor}@{release}"):
        if member.name == "package/bin/node":
            yield renamed(member, "usr/local/bin/node"), content


def npm(folder: Path) -> Members:
    for member, content in packed(folder, NPM):
        yield renamed(member, f"usr/local/lib/node_modules/npm/{member.name.partition('/')[2]}"), content
    for name in ("npm", "npx"):
        link = tarfile.TarInfo(f"usr/local/bin/{name}")
        link.type, link.linkname = tarfile.SYMTYPE, f"../lib/node_modules/npm/bin/{name}-cli.js"
        yield link, None


def own_settings() -> Members:
    """npm's settings of this machine that decide how a registry is reached; its tokens stay here."""
    found = {name: call("npm", "config", "get", name).strip() for name in (*SETTINGS, "cafile")}
    given = {name: value for name, value in found.items() if value not in ("", "null", "undefined")}
    lines = "".join(f"{name}={value}\n" for name, value in given.items())
    yield file("usr/local/etc/npmrc", lines.encode())
    if "cafile" in given:
        yield file(given["cafile"].lstrip("/"), Path(given["cafile"]).read_bytes())


def packed(folder: Path, package: str) -> Members:
    """What a package of npm's holds, unpacked by no installer."""
    name = call("npm", "pack", "--silent", "--pack-destination", str(folder), package).split()[-1]
    with tarfile.open(folder / name) as archive:
        for member in archive:
            with contextlib.closing(archive.extractfile(member) or io.BytesIO()) as content:
                yield member, content


def renamed(member: tarfile.TarInfo, name: str) -> tarfile.TarInfo:
    member.name, member.uid, member.gid, member.uname, member.gname = name, 0, 0, "root", "root"
    return member


def file(name: str, content: bytes) -> tuple[tarfile.TarInfo, IO[bytes]]:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    return member, io.BytesIO(content)


def call(*argv: str) -> str:
    """What a program of this machine says; CannotRun with its last line where it fails."""
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotRun(f"{' '.join(argv[:3])}: {error}") from error
    if done.returncode != 0:
        said = (done.stderr + done.stdout).strip().splitlines() or ["it says nothing"]
        raise CannotRun(f"{' '.join(argv[:3])} ended with exit {done.returncode}: {said[-1]}")
    return done.stdout
