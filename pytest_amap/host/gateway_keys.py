"""The private keys of the gateway and of the CLI's registrations, where OpenShell keeps them or is told to."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from pytest_amap.host import service_files

TLS_DIR = "OPENSHELL_LOCAL_TLS_DIR"


def paths(environ: Mapping[str, str], overrides: Mapping[str, str], named: Sequence[str] = ()) -> list[str]:
    """Every key file, the `named` ones first; a folder that hides what is in it stands in its place."""
    package = overrides.get(TLS_DIR) or os.path.join(service_files.state(environ), "openshell", "tls")
    registered = os.path.join(service_files.config(environ), "openshell", "gateways")
    return list(dict.fromkeys([*named, *below(registered), *below(package)]))


def below(top: str) -> Iterator[str]:
    """*.key files below a folder; links to folders, and folders that cannot be listed, as they are."""
    hidden: list[str] = []

    def unlisted(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            hidden.append(os.fspath(error.filename))

    if os.path.islink(top):
        yield top
        return
    for folder, folders, names in os.walk(top, onerror=unlisted):
        found = [name for name in names if name.endswith(".key")]
        found += [name for name in folders if os.path.islink(os.path.join(folder, name))]
        yield from (os.path.join(folder, name) for name in sorted(found))
    yield from sorted(hidden)
