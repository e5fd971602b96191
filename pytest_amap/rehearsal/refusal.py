"""Why the rehearsal's world cannot be entered, in one sentence with the one setting that helps."""

from __future__ import annotations

import errno
import json
import os
import pwd
from collections.abc import Callable, Iterable, Mapping

DOCKER = "start the container with --security-opt seccomp=unconfined --security-opt systempaths=unconfined"
MASKED_PROC = "start the container with --security-opt systempaths=unconfined (its /proc is masked)"
APPARMOR = (
    "Ubuntu's AppArmor restricts user namespaces: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, "
    "or run under sudo"
)
LANDLOCK = "boot a kernel of Linux 6.2 or later with landlock in its lsm= list (CONFIG_SECURITY_LANDLOCK)"

_KNOBS = {
    "max_user_namespaces": "/proc/sys/user/max_user_namespaces",
    "unprivileged_userns_clone": "/proc/sys/kernel/unprivileged_userns_clone",
    "apparmor": "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
}


class Refused(Exception):
    """The world cannot be entered; the text is the whole message."""


def read_knob(name: str) -> int | None:
    try:
        with open(_KNOBS[name]) as stream:
            return int(stream.read())
    except (OSError, ValueError):
        return None


def in_container() -> bool:
    return any(os.path.exists(mark) for mark in ("/.dockerenv", "/run/.containerenv"))


def failed_call(
    error: OSError, knob: Callable[[str], int | None] = read_knob, container: Callable[[], bool] = in_container
) -> str:
    """The sentence for a system call of the way in that failed."""
    call = str(error.filename or "a system call")
    # Linux has one number for ENOTSUP and EOPNOTSUPP; system calls are documented with the latter.
    names = {**errno.errorcode, errno.EOPNOTSUPP: "EOPNOTSUPP"}
    name = names.get(error.errno or 0, str(error.errno))
    return f"cannot enter the rehearsal's world: {call} failed with {name}; {_remedy(call, error, knob, container)}"


def _remedy(call: str, error: OSError, knob: Callable[[str], int | None], container: Callable[[], bool]) -> str:
    if call.startswith("landlock"):
        return LANDLOCK
    if knob("max_user_namespaces") == 0:
        return "user.max_user_namespaces is 0: sysctl -w user.max_user_namespaces=15000"
    if knob("unprivileged_userns_clone") == 0 and os.geteuid():
        return "kernel.unprivileged_userns_clone is 0: sysctl -w kernel.unprivileged_userns_clone=1"
    if knob("apparmor") == 1 and os.geteuid():
        return APPARMOR
    if call.startswith("mount /proc"):
        return MASKED_PROC
    if container():
        return DOCKER
    if error.errno == errno.ENOSPC:
        return "user namespaces are used up: raise sysctl user.max_user_namespaces, or do not nest worlds so deep"
    return "allow unprivileged user namespaces (CONFIG_USER_NS, sysctl user.max_user_namespaces)"


def landlock_too_old(abi: int) -> str:
    return f"cannot enter the rehearsal's world: this kernel's Landlock ABI is {abi}, 3 is needed; {LANDLOCK}"


def missing_programs(search: Iterable[str]) -> str | None:
    """`/usr/bin/python3` runs in the sandboxes, where only the host's /usr is; `ss` lists the listeners."""
    missing = []
    if not os.access("/usr/bin/python3", os.X_OK):
        missing.append("/usr/bin/python3 (install the distribution's python3)")
    if not any(os.access(os.path.join(directory, "ss"), os.X_OK) for directory in search):
        missing.append("ss on the PATH (install iproute2)")
    return f"cannot enter the rehearsal's world: missing {' and '.join(missing)}" if missing else None


def owners(paths: Iterable[str]) -> dict[str, str]:
    """Whose each path is, or the nearest one above it that exists; asked outside, where owners still have names."""
    return {path: _owner(_existing(path)) for path in paths}


def unusable_path(paths: Mapping[str, str]) -> str | None:
    """`paths` as `owners` gives them, checked inside: another's path is nobody's there, even for root."""
    for path, owner in paths.items():
        existing = _existing(path)
        wanted = os.R_OK | os.W_OK | (os.X_OK if os.path.isdir(existing) else 0)
        if not os.access(existing, wanted):
            return (
                f"cannot rehearse with {path}: {owner} and the rehearsal has no right to read and write it; "
                "run as that user, or from a copy of your own"
            )
    return None


def hidden_path(paths: Iterable[str]) -> str | None:
    for path in paths:
        if os.path.realpath(path).startswith("/run/"):
            return f"cannot rehearse with {path}: the rehearsal's world hides /run; use a directory elsewhere"
    return None


def disk_in_use(home: str) -> str:
    """Two worlds must not boot from one disk; the run in the other one has written down who it is."""
    try:
        with open(os.path.join(home, ".amap.lock"), encoding="utf-8") as stream:
            about = json.load(stream)
        who = f"pid {about['pid']}, started {about['started']}: {about['command']}"
    except (OSError, ValueError, KeyError, TypeError):
        who = "another rehearsal"
    return f"{home} is in use by {who}; wait for it to end, or stop it"


def _existing(path: str) -> str:
    while not os.path.exists(path) and path != "/":
        path = os.path.dirname(path)
    return path


def _owner(path: str) -> str:
    try:
        uid = os.stat(path).st_uid
    except OSError as error:
        return f"{path} cannot be read ({errno.errorcode.get(error.errno or 0)})"
    try:
        return f"{path} belongs to {pwd.getpwuid(uid).pw_name}"
    except KeyError:
        return f"{path} belongs to uid {uid}"
