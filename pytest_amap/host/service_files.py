"""The gateway's service as the files of systemd's user manager have it, for a session that cannot ask systemd."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from pytest_amap.host import files
from pytest_amap.observations import Read
from pytest_amap.parsers import Unreadable, unit_files
from pytest_amap.parsers.environment_files import environment_file, expanded
from pytest_amap.parsers.units import Unit, concerns

SERVICE = "openshell-gateway"
SYSTEM_UNITS = ("/etc", "/run", "/usr/local/lib", "/usr/lib", "/lib")
SYSTEM_ENVIRONMENT = ("/etc", "/run", "/usr/local/lib", "/usr/lib")
"""Where the system's own files lie below, those that win first (systemd.unit(5), environment.d(5))."""


@dataclass(frozen=True)
class Manager:
    """What every service of this user is started with, as far as files tell."""

    environment: dict[str, str]
    doubts: tuple[str, ...] = ()


def unit(environ: Mapping[str, str]) -> Unit:
    """The service from its unit file and drop-ins; without an argv where no file is there."""
    folders = unit_folders(environ)
    name = f"{SERVICE}.service"
    own = next((read for folder in folders if (read := source(os.path.join(folder, name))) is not None), None)
    # A drop-in for the name's beginning, or for every service, counts as one of the service's own.
    names = [f"{name}.d", "openshell-.service.d", "service.d"]
    drop_ins = by_name(os.path.join(folder, one) for one in names for folder in folders)
    every = [*([own] if own else []), *drop_ins]
    unread = tuple(f"{os.path.basename(one.path)}: {one.problem}" for one in every if one.text is None)
    found = unit_files.unit([(os.path.basename(one.path), one.text) for one in every if one.text], specifiers(environ))
    return replace(found, doubts=(*unread, *found.doubts), drop_ins=tuple(one.path for one in drop_ins))


def manager(environ: Mapping[str, str]) -> Manager:
    """environment.d: every folder's files in the order of their names, later ones winning."""
    folders = [os.path.join(folder, "environment.d") for folder in (*configs(environ), *SYSTEM_ENVIRONMENT)]
    known = {"HOME": environ["HOME"]} if "HOME" in environ else {}
    found: dict[str, str] = {}
    doubts = defaults(environ)
    for read in by_name(folders):
        doubts += filter(None, [unread(read)])
        for variable, value in variables(read).items():
            decided = expanded(value, {**known, **found})
            if decided is not None:
                found[variable] = decided
            elif concerns(variable):
                doubts.append(f"{os.path.basename(read.path)}: {variable} refers to what is not known here")
    return Manager(found, tuple(doubts))


def variables(read: Read) -> dict[str, str]:
    found = environment_file(read.text) if read.text is not None else None
    return {} if found is None or isinstance(found, Unreadable) else found.values


def unread(read: Read) -> str:
    """Why overrides may hide in an environment file, or ""; one that is not there hides none."""
    name = os.path.basename(read.path)
    if read.text is None:
        return "" if read.problem == "ENOENT" else f"{name}: {read.problem}"
    found = environment_file(read.text)
    if isinstance(found, Unreadable):
        return f"{name}: {found.why}"
    odd = [line for line in found.unparsed if "OPENSHELL_" in line]
    return f"{name}: a line that is no assignment names OPENSHELL_" if odd else ""


def defaults(environ: Mapping[str, str]) -> list[str]:
    """Where user.conf gives every service variables that concern the gateway: which of two settings wins there is
    not decided here."""
    tops = [os.path.join(folder, "systemd") for folder in (*configs(environ), *SYSTEM_ENVIRONMENT)]
    own = next((read for top in tops if (read := source(os.path.join(top, "user.conf"))) is not None), None)
    doubts = []
    for read in [*([own] if own else []), *by_name(os.path.join(top, "user.conf.d") for top in tops)]:
        name = os.path.basename(read.path)
        for key, value in unit_files.assignments(read.text or "", "Manager"):
            if key in ("DefaultEnvironment", "ManagerEnvironment") and "OPENSHELL_" in value:
                doubts.append(f"{name}: {key}= names OPENSHELL_")
        doubts += [f"{name}: {read.problem}"] if read.text is None else []
    return doubts


def config(environ: Mapping[str, str]) -> str:
    return environ.get("XDG_CONFIG_HOME") or os.path.join(environ.get("HOME", ""), ".config")


def state(environ: Mapping[str, str]) -> str:
    return environ.get("XDG_STATE_HOME") or os.path.join(environ.get("HOME", ""), ".local", "state")


def configs(environ: Mapping[str, str]) -> list[str]:
    """Where the user's configuration may be: the user manager need not know this terminal's XDG_CONFIG_HOME."""
    return list(dict.fromkeys((config(environ), os.path.join(environ.get("HOME", ""), ".config"))))


def unit_folders(environ: Mapping[str, str]) -> list[str]:
    """Where a user manager looks for units, those that win first."""
    home, runtime = environ.get("HOME", ""), environ.get("XDG_RUNTIME_DIR", "")
    data = environ.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share")
    more = (environ.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(":")
    shared = (environ.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share").split(":")
    own = [os.path.join(folder, "systemd") for folder in configs(environ)]
    before = [os.path.join(folder, "user.control") for folder in own]
    before += [os.path.join(runtime, "systemd", one) for one in ("user.control", "transient") if runtime]
    before += [os.path.join(folder, "user") for folder in own]
    before += [os.path.join(one, "systemd", "user") for one in more]
    system = [os.path.join(one, "systemd", "user") for one in SYSTEM_UNITS]
    running = [os.path.join(runtime, "systemd", "user")] if runtime else []
    after = [os.path.join(one, "systemd", "user") for one in (data, *shared)]
    found = [*before, *system[:1], *running, *system[1:2], *after, *system[2:]]
    return list(dict.fromkeys(folder for folder in found if os.path.isabs(folder)))


def by_name(folders: Iterable[str]) -> list[Read]:
    """Every *.conf below the folders in the order of their names; the first folder wins over the same name later."""
    paths: dict[str, str] = {}
    problems = []
    for folder in filter(os.path.isabs, folders):
        listed = files.listing(os.path.realpath(folder))
        if listed.problem not in (None, "ENOENT", "ENOTDIR"):
            problems.append(Read(folder, None, listed.problem))
        for name in listed.names:
            if name.endswith(".conf"):
                paths.setdefault(name, os.path.join(folder, name))
    read = [source(path) for _, path in sorted(paths.items())]
    return [*problems, *(one for one in read if one is not None)]


def source(path: str) -> Read | None:
    """A file of systemd's, through its symlinks as systemd reads it; None where it is not there or masked."""
    if os.path.realpath(path) == os.devnull:
        return Read(path, "")
    read = followed(path)
    return None if read.problem in ("ENOENT", "ENOTDIR") else read


def followed(path: str) -> Read:
    """A file of the operator's through its symlinks, as systemd reads what a unit names."""
    return replace(files.read(os.path.realpath(path)), path=path)


def specifiers(environ: Mapping[str, str]) -> dict[str, str]:
    """The specifiers that this session can tell (systemd.unit(5))."""
    home = environ.get("HOME", "")
    known = {
        "h": home,
        "E": config(environ),
        "S": state(environ),
        "C": environ.get("XDG_CACHE_HOME") or os.path.join(home, ".cache"),
        "t": environ.get("XDG_RUNTIME_DIR", ""),
        "U": str(os.getuid()),
        "n": f"{SERVICE}.service",
        "N": SERVICE,
        "p": SERVICE,
    }
    return {letter: value for letter, value in known.items() if value}
