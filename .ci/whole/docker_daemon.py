"""A Docker daemon of a test's own, in namespaces of its own: nothing of it outlives the test, nothing else is touched.

Run as a program it tries one: exit 0 and the daemon's version, or exit 1 and the call that failed.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

READY = "ready\n"
STARTS, STOPS, LONGEST = 60.0, 20.0, 300.0
"""Seconds in which the daemon must answer, be gone, and be done with any one command."""

NAMESPACES = ("--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child=KILL")
NAMESERVER = "10.0.2.3"
"""What slirp4netns answers DNS at, for every network that it sets up."""

INSIDE = f"mount -t tmpfs tmpfs /run && ip link set lo up && echo {READY.strip()} && read -r _ && exec"
"""Before the daemon's own words: an empty /run, so that no other daemon is met; then wait for the network."""


class CannotRun(Exception):
    """A call that this machine refuses, and what it said."""


@dataclass(frozen=True)
class Daemon:
    """`client` and `environ` are all that a program needs to speak to this daemon and to no other."""

    client: str
    environ: dict[str, str]

    def docker(self, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.client, *words],
            env=self.environ | environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LONGEST,
        )


@contextlib.contextmanager
def running() -> Iterator[Daemon]:
    """A daemon that answers; CannotRun where it does not come to that."""
    place = Path(tempfile.mkdtemp(prefix="amap-docker-"))
    with contextlib.ExitStack() as stack:
        stack.callback(gone, f"what the daemon kept in {place}", lambda: shutil.rmtree(place))
        stack.callback(gone, "its control groups", lambda: remove_groups(place.name))
        (place / "daemon.json").write_text("{}")
        keeper = stack.enter_context(process(argv(place), place / "log", stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        if first_line(keeper) != READY:
            raise CannotRun(f"unshare makes no namespaces: {last_line(place / 'log')}")
        stack.enter_context(network(keeper.pid, place))
        assert keeper.stdin is not None
        keeper.stdin.write(b"\n")
        keeper.stdin.flush()
        daemon = Daemon(client(), environment(place))
        answer(daemon, keeper, place / "log")
        yield daemon


def argv(place: Path) -> list[str]:
    """The daemon in its namespaces; it dies with this program, however that ends."""
    dockerd = [
        *(program("dockerd"), "--host", f"unix://{place}/socket", "--config-file", f"{place}/daemon.json"),
        *("--data-root", f"{place}/data", "--exec-root", f"{place}/exec", "--pidfile", f"{place}/pid"),
        *("--dns", NAMESERVER, "--cgroup-parent", f"/{place.name}", "--exec-opt", "native.cgroupdriver=cgroupfs"),
    ]
    return ["setpriv", "--pdeathsig", "KILL", "unshare", *NAMESPACES, "sh", "-c", f'{INSIDE} "$@"', "sh", *dockerd]


@contextlib.contextmanager
def network(pid: int, place: Path) -> Iterator[None]:
    """A way out for that process's namespace, as connections of a program: no rule of this machine is changed."""
    slirp = ["setpriv", "--pdeathsig", "KILL", program("slirp4netns"), "--configure", "--disable-host-loopback"]
    read, write = os.pipe()
    words = (f"--ready-fd={write}", "--mtu=65520", str(pid), "tap0")
    with process([*slirp, *words], place / "network", pass_fds=[write]), os.fdopen(read, "rb") as ready:
        os.close(write)
        if not ready.read(1):
            raise CannotRun(f"slirp4netns gives no network: {last_line(place / 'network')}")
        yield


@contextlib.contextmanager
def process(argv: list[str], log: Path, **options: object) -> Iterator[subprocess.Popen[bytes]]:
    """A process group that is asked to end, then killed."""
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, **options}
    with log.open("wb") as out:
        started = subprocess.Popen(argv, stderr=out, start_new_session=True, **streams)  # type: ignore[call-overload]
    try:
        yield started
    finally:
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(started.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                started.wait(STOPS)
                break
        for stream in filter(None, (started.stdin, started.stdout)):
            stream.close()


def first_line(keeper: subprocess.Popen[bytes]) -> str:
    """What the keeper says first; "" where it says nothing in time."""
    assert keeper.stdout is not None
    heard = select.select([keeper.stdout], [], [], STARTS)[0]
    return keeper.stdout.readline().decode() if heard else ""


def answer(daemon: Daemon, keeper: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the daemon answers."""
    end = time.monotonic() + STARTS
    while daemon.docker("version").returncode != 0:
        if keeper.poll() is not None or time.monotonic() > end:
            raise CannotRun(f"dockerd does not start: {last_line(log)}")
        time.sleep(0.2)


def environment(place: Path) -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith(("DOCKER_", "BUILDKIT_"))}
    return own | {"DOCKER_HOST": f"unix://{place}/socket", "DOCKER_CONFIG": str(place / "client")}


def client() -> str:
    """The client that was installed with the daemon: another one on PATH may lack the builder this daemon has."""
    own = Path(program("dockerd")).parents[1] / "bin" / "docker"
    return str(own) if own.exists() else program("docker")


def program(name: str) -> str:
    found = shutil.which(name, path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin")
    if found is None:
        raise CannotRun(f"no {name} is installed")
    return found


def last_line(log: Path) -> str:
    said = log.read_text(errors="replace").strip().splitlines()
    return said[-1] if said else "it says nothing"


def remove_groups(name: str) -> None:
    """The control groups of the daemon's containers, from the leaves up; their processes are gone."""
    for top in Path("/sys/fs/cgroup").glob(f"**/{name}"):
        for folder, _, _ in os.walk(top, topdown=False):
            os.rmdir(folder)


def gone(what: str, remove: Callable[[], None]) -> None:
    """Remove it as soon as the kernel lets go of it, and say so loudly where it never does."""
    end = time.monotonic() + STOPS
    while True:
        try:
            return remove()
        except OSError as error:
            if time.monotonic() > end:
                raise RuntimeError(f"{what} could not be removed: {error}") from error
        time.sleep(0.1)


if __name__ == "__main__":
    try:
        with running() as tried:
            print(tried.docker("version", "--format", "dockerd {{.Server.Version}} answers").stdout.strip())
    except CannotRun as obstacle:
        sys.exit(str(obstacle))
