"""Step 0's first half: everything that needs no program, found at once and before anything is made."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import shutil
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kit import fleet as kit_fleet
from kit import membership, prepare
from kit import siblings as kit_siblings
from kit.errors import Refused
from kit.fleet import Fleet
from kit.home import Home, check_home
from kit.siblings import Sibling
from pytest_amap.evidence import redaction
from pytest_amap.host import files, lock, posture_files
from pytest_amap.options import Options
from pytest_amap.parsers import Unreadable, versions

KEY = "ANTHROPIC_API_KEY"
CLAUDE = "CLAUDE_CODE_VERSION"
KIND = ".amap-host"
"""The file below a home that says whose it is."""
LIVE, REHEARSAL = "live", "rehearsal"
NEEDED_ABI = 3
NEEDED_KERNEL = (6, 2)


@dataclass(frozen=True)
class Problem:
    """One thing that is missing or wrong, and what to do about it."""

    what: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.what}; {self.remedy}"


@dataclass
class Ground:
    """What was found. Complete only where `problems` is empty."""

    problems: list[Problem] = field(default_factory=list)
    home: Home | None = None
    fleet: Fleet | None = None
    fleet_file: Path = Path()
    sender: str = ""
    receiver: str = ""
    siblings: dict[str, Sibling] = field(default_factory=dict)
    claude_version: str = ""
    kernel: str = ""
    landlock_abi: int | None = None
    posture: posture_files.GatewayFiles | None = None
    locks: list[lock.HomeLock | socket.socket] = field(default_factory=list)

    def release(self) -> None:
        """Let the next run in."""
        for held in self.locks:
            held.close()


def survey(options: Options, environ: Mapping[str, str]) -> Ground:
    """Look at everything, and hold the locks of a run; nothing but the home's lock is written."""
    ground = look(options, environ)
    locks(ground, options, environ)
    return ground


def look(options: Options, environ: Mapping[str, str]) -> Ground:
    """Look at variables, paths, siblings, PATH, user, kernel, key and the gateway's file; write nothing."""
    ground = Ground()
    findings: tuple[Callable[[Ground, Options, Mapping[str, str]], None], ...] = (
        variables,
        siblings,
        home,
        kind,
        fleet,
        user,
        kernel,
        tools,
        secrets,
        gateway_file,
    )
    for find in findings:
        find(ground, options, environ)
    return ground


def variables(ground: Ground, options: Options, environ: Mapping[str, str]) -> None:
    if not options.home:
        ground.problems.append(
            Problem(
                "AMAP_OPENSHELL_HOME is not set",
                "export it as the absolute path of a new directory, or give --amap-home",
            )
        )
    version = environ.get(CLAUDE, "").strip()
    ground.claude_version = version
    if not version:
        ground.problems.append(
            Problem(f"{CLAUDE} is not set", "export the Claude Code version you measured; there is no default")
        )
    elif isinstance(versions.version(version), Unreadable):
        ground.problems.append(Problem(f"{CLAUDE} is {version!r}", "give one exact version such as 2.1.284"))


def refused(options: Options, refusal: Refused) -> Problem:
    """The kit's sentence about a place, with the way out behind its colon."""
    what, _, remedy = options.shown(str(refusal)).partition(": ")
    return Problem(what, remedy)


def siblings(ground: Ground, options: Options, environ: Mapping[str, str]) -> None:
    for name in kit_siblings.KINDS:
        try:
            ground.siblings[name] = kit_siblings.find(name, environ, options.repository)
        except Refused as refusal:
            ground.problems.append(refused(options, refusal))


def home(ground: Ground, options: Options, environ: Mapping[str, str]) -> None:
    if not options.home:
        return
    try:
        ground.home = check_home(options.home, [options.repository, *(s.path for s in ground.siblings.values())])
    except Refused as refusal:
        ground.problems.append(refused(options, refusal))
        return
    path = ground.home.path
    if path.exists() and not os.access(path, os.W_OK | os.X_OK):
        ground.problems.append(
            Problem(
                f"{options.shown(str(path))} belongs to uid {path.stat().st_uid} and is not writable",
                "run as that user, or name another home",
            )
        )


def kind(ground: Ground, options: Options, environ: Mapping[str, str]) -> None:
    """A home belongs to live runs or to rehearsals, by the mark of its first run."""
    if ground.home is None:
        return
    mark = files.read(os.fspath(ground.home.path / KIND)).text
    wanted = kind_of(options)
    if mark is not None and mark.strip() != wanted:
        ground.problems.append(
            Problem(
                f"the home {options.shown(str(ground.home.path))} belongs to {mark.strip()[:20]} runs, "
                f"and this is a {wanted} run",
                "name another home",
            )
        )


def kind_of(options: Options) -> str:
    return REHEARSAL if options.rehearsal else LIVE


def fleet(ground: Ground, options: Options, environ: Mapping[str, str]) -> None:
    """The home's own fleet.json wins over the example; another one by --fleet must agree with what is recorded."""
    installed = ground.home.fleet if ground.home else Path()
    example = Path(__file__).resolve().parents[2] / "examples" / "fleet.json"
    if not example.is_file():
        example = options.repository / "examples" / "fleet.json"
    ground.fleet_file = Path(options.fleet) if options.fleet else installed if installed.is_file() else example
    try:
        ground.fleet = kit_fleet.load(ground.fleet_file)
    except Refused as refusal:
        ground.problems.append(Problem(options.shown(str(refusal)), "mend the fleet file, or give --fleet"))
        return
    if options.fleet and ground.home is not None:
        installable(ground, ground.home, options)
    edges = ground.fleet.task_edges
    if len(edges) != 1:
        ground.problems.append(
            Problem(
                f"the fleet has {len(edges)} task edges, and this suite needs exactly one",
                "give a fleet with one sender and one receiver",
            )
        )
        return
    ground.sender, ground.receiver = edges[0]


def installable(ground: Ground, home: Home, options: Options) -> None:
    """Step 3 would refuse it, too; but a check that needs no step 3 would speak of a fleet that is not this home's."""
    try:
        members = membership.load(home.membership) or ()
        prepare.fleet_to_install(home, ground.fleet_file, members, examples=options.repository / "examples")
    except Refused as refusal:
        ground.problems.append(refused(options, refusal))


def user(ground: Ground, options: Options, environ: Mapping[str, str]) -> None:
    if 0 in (os.getuid(), os.getgid()):
        ground.problems.append(
            Problem("this runs as root", "run as the ordinary user whose uid and gid the sandboxes shall have (D7)")
        )


def kernel(ground: Ground, options: Options, environ: Mapping[str, str]) -> None:
    """The Landlock ABI decides; the release is named where the ABI cannot be asked."""
    ground.kernel = platform.release()
    ground.landlock_abi = landlock_abi()
    system = platform.system()
    found = (
        versions.kernel(ground.kernel)
        if system == "Linux"
        else Unreadable(f"expected a Linux host, saw {system} {ground.kernel}")
    )
    if ground.landlock_abi is not None:
        if ground.landlock_abi < NEEDED_ABI:
            ground.problems.append(
                Problem(
                    f"the kernel {ground.kernel} has Landlock ABI {ground.landlock_abi}, and ABI 3 is needed",
                    "boot Linux 6.2 or later with landlock in its lsm= list",
                )
            )
    elif isinstance(found, Unreadable) or found < NEEDED_KERNEL:
        why = found.why if isinstance(found, Unreadable) else f"the kernel {ground.kernel} is below 6.2"
        ground.problems.append(Problem(f"{why}, and its Landlock ABI could not be measured", "boot Linux 6.2 or later"))


def landlock_abi() -> int | None:
    """landlock_create_ruleset(NULL, 0, VERSION): the ABI, 0 where Landlock is absent, None where it cannot be asked."""
    if platform.system() != "Linux":
        return None
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    found = call(ctypes.c_long(444), None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    if found >= 0:
        return found
    return 0 if ctypes.get_errno() in (errno.ENOSYS, errno.EOPNOTSUPP) else None


def tools(ground: Ground, options: Options, environ: Mapping[str, str]) -> None:
    path = environ.get("PATH", "")
    for tool, remedy in (
        (options.openshell, "install OpenShell v0.1.2 or later, or set amap_openshell"),
        (options.gateway, "it comes with OpenShell; put it on PATH, or set amap_gateway"),
        (options.docker, "install Docker, or set amap_docker"),
        ("ss", "install iproute2"),
        ("sh", "a POSIX shell is needed"),
    ):
        if shutil.which(tool, path=path) is None:
            ground.problems.append(Problem(f"{tool} is not on PATH", remedy))


def secrets(ground: Ground, options: Options, environ: Mapping[str, str]) -> None:
    key = environ.get(KEY, "")
    if not key.strip():
        ground.problems.append(
            Problem(f"{KEY} is not set", "export a Console API key (D10) in the terminal that runs this")
        )
    for name in (KEY, *options.secrets):
        value = environ.get(name, "")
        if value.strip() and (problem := redaction.refuse(name, value)):
            ground.problems.append(Problem(problem, f"set {name} to the real secret, or unset it"))


def gateway_file(ground: Ground, options: Options, environ: Mapping[str, str]) -> None:
    ground.posture = posture_files.locate(environ, program=options.gateway)
    for problem, remedy in posture_files.problems(ground.posture, options.port, options.host_alias):
        ground.problems.append(Problem(options.shown(problem), remedy))


def locks(ground: Ground, options: Options, environ: Mapping[str, str]) -> None:
    """The endpoint's lock is taken here, since it leaves no trace; the home's only where the home is."""
    try:
        ground.locks.append(lock.endpoint(options.port))
        if ground.home and ground.home.path.is_dir() and not ground.problems:
            ground.locks.append(lock.HomeLock(ground.home.path, options.pid))
    except lock.Held as held:
        ground.problems.append(Problem(options.shown(str(held)), "wait for it to end, or stop it"))
    except OSError as error:
        ground.problems.append(
            Problem(f"the home cannot be locked ({files.name_of(error)})", "look at its owner and mode")
        )
