"""Enter the rehearsal's world: run this very command line again inside it, and be its window to the person.

The rehearsal host is reached as a program, never by import; facts about signals and exit codes are in the launcher.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from types import FrameType

import pytest

from kit.home import Home
from kit.siblings import KINDS
from pytest_amap.host import lock, survey
from pytest_amap.options import Options
from pytest_amap.session import refusals, settings

MARK = "AMAP_REHEARSAL_WORLD"
REHEARSAL = Path(__file__).resolve().parents[1] / "rehearsal"
RELAYED = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT") if hasattr(signal, name))
CANNOT_ENTER = (97, 98, 99)
SIBLINGS = {kind.directories[0]: kind.variable for kind in KINDS.values()}
relayed_key = pytest.StashKey[bool]()


def inside() -> bool:
    """Whether this process is in a world: the mark names the pid namespace, so that a stale one never counts."""
    try:
        return os.environ.get(MARK) == os.readlink("/proc/self/ns/pid")
    except OSError:
        return False


INSIDE = inside()
os.environ.pop(MARK, None)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    if config.option.rehearsal and "help" in config.option.fault:
        print(faults(), end="")
        return 0
    options = settings.resolve(config)
    refusals.refuse(config, options)  # of every session: a plugin such as xdist with -f may run its own from this hook
    if not (options.apply and options.rehearsal) or refusals.looks_only(config) or INSIDE:
        return None
    known = {line.split()[0] for line in faults().splitlines() if line.strip()} if options.faults else set()
    if unknown := [name for name in options.faults if name not in known]:
        raise pytest.UsageError(f"--fault {unknown[0]}: there is no such fault; --rehearsal --fault help lists them")
    if any(not isinstance(plugin, str) for plugin in config.invocation_params.plugins or ()):
        raise pytest.UsageError(
            "--rehearsal starts pytest anew and cannot take plugin objects along; use the command line"
        )
    world = world_settings(config, options)
    capture = config.pluginmanager.getplugin("capturemanager")
    if capture:
        capture.suspend_global_capture(in_=True)
    config.stash[relayed_key] = True
    safe = [] if "" in sys.path or os.getcwd() in sys.path else ["-P"]
    command = [sys.executable, *safe, "-m", "pytest", *map(str, config.invocation_params.args)]
    return run(world, command, str(config.invocation_params.dir))


def faults() -> str:
    """The rehearsal host's own list of what it can plant, one fault a line."""
    listing = [sys.executable, os.fspath(REHEARSAL / "faults.py")]
    return subprocess.run(listing, capture_output=True, text=True, check=True).stdout


def world_settings(config: pytest.Config, options: Options) -> dict[str, object]:
    """What the launcher needs to know, as JSON."""
    home = named_home(config.option.amap_home) if config.option.amap_home else fresh_home()
    return {
        "home": str(home),
        "disk": f"{home}.host",
        "checkout": str(config.rootpath),
        "siblings": {name: os.environ[variable] for name, variable in SIBLINGS.items() if os.environ.get(variable)},
        "package": str(REHEARSAL),
        "python": sys.executable,
        "faults": list(options.faults),
        "access": [str(config.rootpath), str(config.invocation_params.dir), str(home.parent)],
    }


def named_home(given: str) -> Path:
    home = Path(os.path.abspath(os.path.expanduser(given)))
    if os.path.lexists(home) and not home.is_dir():
        raise pytest.UsageError(f"--amap-home: {home} is no directory; name a new one, or the home of a rehearsal")
    if home.is_dir() and holds_other_things(home):
        raise pytest.UsageError(f"--amap-home: {home} holds other things; name a new one, or the home of a rehearsal")
    return home


def holds_other_things(home: Path) -> bool:
    """A rehearsal of root could close a shared directory to everybody else: whatever bears none of a home's marks."""
    with suppress(OSError):
        there = set(os.listdir(home))
        return bool(there) and there.isdisjoint((survey.KIND, lock.LOCK, Home(home).fleet.name))
    return False


def fresh_home() -> Path:
    """A new directory's name under the user's state directory; the outer process makes nothing but its parents."""
    stated = os.environ.get("XDG_STATE_HOME", "")
    state = (Path(stated) if os.path.isabs(stated) else Path.home() / ".local" / "state") / "pytest-amap"
    try:
        state.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise pytest.UsageError(f"{state} cannot be made ({error.strerror}); name a home with --amap-home") from None
    number = 1
    while (state / f"rehearsal-{number}").exists() or (state / f"rehearsal-{number}.host").exists():
        number += 1
    return state / f"rehearsal-{number}"


def run(world: dict[str, object], command: list[str], cwd: str) -> int:
    """Start the launcher, relay signals, and turn its end into an exit code of ours."""
    read, write = os.pipe()
    relayed: list[int] = []

    def relay(number: int, frame: FrameType | None) -> None:
        relayed.append(number)
        os.write(write, bytes([number]))

    before = {s: signal.signal(s, relay) for s in RELAYED if signal.getsignal(s) is not signal.SIG_IGN}
    try:
        argv = [sys.executable, "-I", "-S", str(REHEARSAL / "world.py"), str(read), json.dumps(world), "--", *command]
        keeper = subprocess.Popen(argv, pass_fds=[read], cwd=cwd)
        os.close(read)
        code = keeper.wait()
    finally:
        for number, handler in before.items():  # what comes after a stop that was relayed must not end this by signal
            signal.signal(number, signal.SIG_IGN if relayed else handler)
        os.close(write)
    if code in CANNOT_ENTER:
        return 1
    if code > 128 and code - 128 in RELAYED:
        return 2
    if code < 0 or code > 128:
        print(f"rehearsal: the world was ended by signal {-code if code < 0 else code - 128}", file=sys.stderr)
        return 1
    return 2 if relayed and code == 1 else code
