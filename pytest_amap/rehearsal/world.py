"""Run a command in a world of its own: user, mount, network, pid, ipc and uts namespaces.

usage: python -I -S world.py LIFELINE_FD SETTINGS_JSON -- COMMAND [ARG...]

LIFELINE_FD is the read end of a pipe held by the caller: each byte is a signal number for the command, end of file
ends the world. SETTINGS_JSON is an object with `home`, `disk`, `checkout` (absolute paths outside), `siblings`
({directory name: path}), `package` (this directory), `python` (the interpreter of the host's programs), `faults`
([name]) and `access` (paths the command must be able to read and write). AMAP_REHEARSAL_API_KEY in the environment is
the key of the world; without it one is made up. An argument would show it to every process of this machine.
With `-- bash` it is a shell on the rehearsal host.

Processes: the keeper (this one, in the caller's pid namespace), init (pid 1 inside), the command (pid 2).
Exit code: the command's, 128+n when signal n ended it, 97 with one sentence on stderr when the world cannot be entered.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from pytest_amap.rehearsal import faults, kernel, landlock, layout, refusal
from pytest_amap.rehearsal.sabotage import siblings

CANNOT_ENTER = 97
CALLER_GONE = 98
MARK = "AMAP_REHEARSAL_WORLD"
GIVEN_KEY, KEY = "AMAP_REHEARSAL_API_KEY", "ANTHROPIC_API_KEY"
CLAUDE_CODE_VERSION = "2.1.284"
POSTURE = "A rehearsal: its gateway admits anyone in this world, and nobody else can reach it."

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
READ_ONLY = ("/usr", "/etc", "/boot", "/opt", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
SERVICES = ("/etc/systemd", "/etc/environment.d")
"""What the real host gives its users' services."""
PATH = f"{layout.BIN}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"

Dispositions = dict[signal.Signals, Any]


@dataclass(frozen=True)
class Settings:
    """What the caller wants of this world."""

    home: str
    disk: str
    checkout: str
    package: str
    python: str
    siblings: Mapping[str, str]
    faults: tuple[str, ...] = ()
    access: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Settings:
        fields = json.loads(text)
        fields["faults"], fields["access"] = tuple(fields.get("faults", ())), tuple(fields.get("access", ()))
        return cls(**fields)

    @property
    def binds(self) -> dict[str, tuple[str, bool]]:
        """Neutral path: (outer path, read only)."""
        embedded = {name: os.path.join(self.package, "siblings", name) for name in layout.SIBLINGS}
        return {
            str(layout.HOME): (self.home, False),
            str(layout.DISK): (self.disk, False),
            str(layout.REPOSITORY): (self.checkout, True),
            str(layout.ENGINE / "pytest_amap" / "rehearsal"): (self.package, False),
            **{str(layout.RUN / name): (path, True) for name, path in {**embedded, **self.siblings}.items()},
        }


def environment(outer: Mapping[str, str], settings: Settings) -> dict[str, str]:
    """The command's environment: the caller's, without what names its own gateway, key, runtime or siblings."""
    dropped = (
        KEY,
        GIVEN_KEY,
        "AMAP_ROUTER_REPO",
        "AMAP_CONNECTOR_REPO",
        "AMAP_SPEC_DIR",
        "DBUS_SESSION_BUS_ADDRESS",
    )
    prefixes = ("OPENSHELL_", "DOCKER_", "XDG_")
    kept = {name: value for name, value in outer.items() if name not in dropped and not name.startswith(prefixes)}
    if "HOME" in outer:
        # pytest may be installed in the user's site directory, which Python finds by HOME.
        kept.setdefault("PYTHONUSERBASE", os.path.join(outer["HOME"], ".local"))
    return {
        **kept,
        "HOME": str(layout.USER),
        "XDG_CONFIG_HOME": str(layout.CONFIG.parent),
        "XDG_STATE_HOME": str(layout.STATE.parent),
        "PATH": PATH,
        "AMAP_OPENSHELL_HOME": str(layout.HOME),
        "AMAP_REPOSITORY": str(layout.REPOSITORY),
        "AMAP_SHOWN_HOME": settings.home,
        "AMAP_SHOWN_PID": outer.get("AMAP_SHOWN_PID", ""),
        "AMAP_POSTURE_ACCEPTED": POSTURE,
        "CLAUDE_CODE_VERSION": CLAUDE_CODE_VERSION,
        KEY: outer.get(GIVEN_KEY) or made_up_key(),
        "ROUTER_INTERVAL": "0.2",
    }


def made_up_key() -> str:
    random = os.urandom(24).hex()
    return "sk-ant-rehearsal-" + "-".join(random[start : start + 8] for start in range(0, len(random), 8))


def main(argv: list[str]) -> int:
    lifeline, settings, command = int(argv[1]), Settings.parse(argv[2]), argv[4:]
    dispositions: Dispositions = {number: signal.getsignal(number) for number in STOPPING}
    for number in STOPPING:
        signal.signal(number, signal.SIG_IGN)  # keeper and init: only the lifeline ends them
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    os.environ["AMAP_SHOWN_PID"] = str(os.getppid())
    made = [path for path in (settings.home, settings.disk) if not os.path.exists(path)]
    owners = refusal.owners((settings.home, settings.disk, *settings.access))
    try:
        enter(settings)
    except refusal.Refused as refused:
        return refuse(str(refused))
    except OSError as error:
        return refuse(refusal.failed_call(error))
    init = os.fork()
    if init == 0:
        os._exit(run_init(lifeline, settings, command, dispositions, owners))
    os.close(lifeline)
    code = os.waitstatus_to_exitcode(os.waitpid(init, 0)[1]) % 256
    for path in made:
        with contextlib.suppress(OSError):
            os.rmdir(path)  # a session that wrote nothing leaves no folder
    return code


def refuse(sentence: str) -> int:
    print(f"rehearsal: {sentence}", file=sys.stderr, flush=True)
    return CANNOT_ENTER


def enter(settings: Settings) -> None:
    """Take this process into new namespaces; its next child is pid 1 there."""
    abi = landlock.abi()
    if abi < 3:
        raise refusal.Refused(refusal.landlock_too_old(abi))
    unknown = [name for name in settings.faults if name not in faults.BY_NAME]
    for problem in (
        f"there is no fault {unknown[0]!r}; --fault help lists them" if unknown else None,
        refusal.missing_programs(PATH.split(":")),
        refusal.hidden_path((settings.home, settings.disk, settings.checkout, *settings.access)),
    ):
        if problem:
            raise refusal.Refused(problem)
    uid, gid = os.getuid(), os.getgid()
    kernel.unshare(
        kernel.NEWUSER | kernel.NEWNS | kernel.NEWPID | kernel.NEWNET | kernel.NEWIPC | kernel.NEWUTS,
        "unshare(user, mount, pid, net, ipc, uts)",
    )
    # Root is mapped to an ordinary uid: the kit and the agents refuse root, and exec then drops every capability.
    kernel.map_identity(uid or 1000, gid or 1000, uid, gid)


def run_init(
    lifeline: int, settings: Settings, command: list[str], dispositions: Dispositions, owners: Mapping[str, str]
) -> int:
    problem = refusal.unusable_path(owners)
    if problem:
        return refuse(problem)
    try:
        new = not os.path.isdir(settings.home)
        os.makedirs(settings.home, exist_ok=True)
        if new:
            os.chmod(settings.home, 0o755)  # whatever the umask, as a live run makes it
        os.makedirs(settings.disk, 0o700, exist_ok=True)
        held = hold(settings.disk)
        if held is None:
            return refuse(refusal.disk_in_use(settings.home))
        build(settings)
    except OSError as error:
        return refuse(refusal.failed_call(error))
    wake, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(waker)
    child = os.fork()
    if child == 0:
        for descriptor in (lifeline, wake, waker):
            os.close(descriptor)
        run_command(settings, command, dispositions)
    return watch(lifeline, wake, child)


def hold(disk: str) -> int | None:
    """Hold the host's disk as long as this process lives; None where another world has booted from it."""
    descriptor = os.open(disk, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def build(settings: Settings) -> None:
    """The world's mounts, host name and network."""
    kernel.mount(None, "/", None, kernel.REC | kernel.PRIVATE)
    writable = {path: os.open(path, os.O_PATH) for path in (*settings.access, settings.home) if os.path.isdir(path)}
    kernel.mount("tmpfs", "/run", "tmpfs", kernel.NOSUID | kernel.NODEV, "mode=755,size=16m")
    for target, (source, read_only) in settings.binds.items():
        kernel.bind(source, target, read_only)
    # As root the mapped uid owns these on the real host: keep a fault from writing there.
    for directory in READ_ONLY:
        if os.path.isdir(directory) and not os.path.islink(directory):
            kernel.bind(directory, directory, True)
    for directory in filter(os.path.isdir, SERVICES):
        kernel.mount("tmpfs", directory, "tmpfs", kernel.RDONLY | kernel.NOSUID | kernel.NODEV, "mode=755,size=4k")
    for path, descriptor in writable.items():
        if path.startswith(tuple(f"{directory}/" for directory in READ_ONLY)):
            kernel.mount(f"/proc/self/fd/{descriptor}", path, None, kernel.BIND | kernel.REC)
        os.close(descriptor)
    kernel.mount("proc", "/proc", "proc", kernel.NOSUID | kernel.NODEV | kernel.NOEXEC)
    kernel.set_hostname(layout.HOSTNAME)
    kernel.loopback_up()
    siblings.plant(layout.RUN, layout.RUN, settings.faults)
    (layout.ENGINE / "pytest_amap" / "__init__.py").touch()
    layout.FAULTS.write_text(json.dumps(settings.faults))


def run_command(settings: Settings, command: list[str], dispositions: Dispositions) -> None:
    """Boot the host, then become the command. Never returns."""
    for number in STOPPING:  # ignored stays ignored: nohup, a shell's background job
        signal.signal(number, signal.SIG_IGN if dispositions[number] is signal.SIG_IGN else signal.SIG_DFL)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    inside = environment(os.environ, settings)
    inside[MARK] = os.readlink("/proc/self/ns/pid")
    # Not isolated (-I): PyYAML may lie in the user's site directory, as pytest itself may.
    boot = [settings.python, "-P", str(layout.ENGINE / "pytest_amap" / "rehearsal" / "boot.py"), settings.python]
    keyless = {name: value for name, value in inside.items() if name != KEY}
    if os.spawnve(os.P_WAIT, settings.python, boot, keyless) != 0:
        os._exit(refuse("the rehearsal host did not boot; its reason stands above"))
    try:
        os.execvpe(command[0], command, inside)
    except OSError as error:
        print(f"rehearsal: {command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        os._exit(127)


def watch(lifeline: int, wake: int, child: int) -> int:
    """Relay the caller's signals and reap orphans until the command ends; its exit code."""
    poll = select.poll()
    poll.register(lifeline, select.POLLIN)
    poll.register(wake, select.POLLIN)
    while True:
        for descriptor, _ in poll.poll():
            if descriptor == lifeline:
                sent = os.read(lifeline, 64)
                if not sent:
                    return CALLER_GONE
                for number in sent:
                    os.kill(child, number)
            else:
                os.read(wake, 4096)
                code = reap(child)
                if code is not None:
                    return code


def reap(child: int) -> int | None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return None
        if not pid:
            return None
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv))
