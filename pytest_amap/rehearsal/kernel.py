"""System calls the standard library has no word for; a failure is an OSError naming the call."""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct

NEWNS, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET = 0x20000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
RDONLY, NOSUID, NODEV, NOEXEC, REMOUNT, BIND, REC, PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18

_DETACH = 2
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_ATTR_RDONLY = 1
_SYS_MOUNT_SETATTR = 442  # the same number on every architecture; glibc has a wrapper only since 2.36
_PDEATHSIG, _CAPBSET_DROP, _NO_NEW_PRIVS = 1, 24, 38
_SIGKILL = 9
_CAP_VERSION_3 = 0x20080522
_GET_FLAGS, _SET_FLAGS, _IFF_UP = 0x8913, 0x8914, 1

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


class _MountAttributes(ctypes.Structure):
    _fields_ = [
        ("set", ctypes.c_uint64),
        ("clear", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns_fd", ctypes.c_uint64),
    ]


class _CapabilityHeader(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]


def check(result: int, call: str) -> int:
    """`result` of a C call, or an OSError whose `filename` is the call as a person would write it."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), call)
    return result


def syscall(number: int, call: str, *arguments: object) -> int:
    # errno is judged only after a negative result: an earlier failed call leaves its own behind.
    return check(_libc.syscall(ctypes.c_long(number), *arguments), call)


def unshare(flags: int, call: str = "unshare") -> None:
    check(_libc.unshare(ctypes.c_int(flags)), call)


def map_identity(inner_uid: int, inner_gid: int, uid: int, gid: int) -> None:
    """Map the one outer uid and gid into this process's new user namespace (setgroups first, or gid_map is refused)."""
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{inner_uid} {uid} 1"),
        ("gid_map", f"{inner_gid} {gid} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as stream:
            stream.write(text)


def mount(source: str | None, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    result = _libc.mount(
        os.fsencode(source) if source is not None else None,
        os.fsencode(target),
        kind.encode() if kind is not None else None,
        ctypes.c_ulong(flags),
        data.encode() if data is not None else None,
    )
    check(result, f"mount {target}")


def bind(source: str, target: str, read_only: bool) -> None:
    """Bind `source` with everything mounted below it; the target is made when it is missing.

    MS_REC because a user namespace may not uncover what a mount hides (EINVAL without it).
    """
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    elif not os.path.lexists(target):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w"):
            pass
    mount(source, target, None, BIND | REC)
    if read_only:
        make_read_only(target)


def make_read_only(target: str) -> None:
    """The mount and all below it, by mount_setattr(2): a remount would leave submounts writable (moby#23499)."""
    attributes = _MountAttributes(_ATTR_RDONLY, 0, 0, 0)
    syscall(
        _SYS_MOUNT_SETATTR,
        f"mount_setattr {target}",
        ctypes.c_int(_AT_FDCWD),
        os.fsencode(target),
        ctypes.c_uint(_AT_RECURSIVE),
        ctypes.byref(attributes),
        ctypes.c_size_t(ctypes.sizeof(attributes)),
    )


def pivot_into(root: str) -> None:
    """Make `root` the root of this mount namespace and let go of the old one."""
    os.chdir(root)
    check(_libc.pivot_root(b".", b"."), "pivot_root")
    check(_libc.umount2(b".", _DETACH), "umount2")
    os.chdir("/")


def set_hostname(name: str) -> None:
    check(_libc.sethostname(name.encode(), ctypes.c_size_t(len(name.encode()))), "sethostname")


def loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sh22x", b"lo", 0)
        flags = struct.unpack("16sh22x", fcntl.ioctl(control, _GET_FLAGS, request))[1]
        fcntl.ioctl(control, _SET_FLAGS, struct.pack("16sh22x", b"lo", flags | _IFF_UP))


def die_with_parent() -> None:
    check(_libc.prctl(_PDEATHSIG, ctypes.c_ulong(_SIGKILL), 0, 0, 0), "prctl PR_SET_PDEATHSIG")


def no_new_privileges() -> None:
    check(_libc.prctl(_NO_NEW_PRIVS, ctypes.c_ulong(1), 0, 0, 0), "prctl PR_SET_NO_NEW_PRIVS")


def drop_capabilities() -> None:
    """Empty the bounding set and all three capability sets of this thread."""
    for capability in range(64):
        if _libc.prctl(_CAPBSET_DROP, ctypes.c_ulong(capability), 0, 0, 0) != 0:
            break  # past the last capability this kernel knows
    header = _CapabilityHeader(_CAP_VERSION_3, 0)
    check(_libc.capset(ctypes.byref(header), (ctypes.c_uint32 * 6)()), "capset")


def rename_process(command: str) -> None:
    """Overwrite this process's own argv and environment, as `ps` and /proc show them to whoever shares its /proc.

    A pid 1 keeps the memory of the program that forked it: its arguments name paths of the host, and its environment
    may hold a secret.
    """
    with open("/proc/self/stat") as stream:
        fields = stream.read().rpartition(")")[2].split()
    argv_start, argv_end, environment_start, environment_end = (int(field) for field in fields[45:49])
    room = argv_end - argv_start
    ctypes.memset(environment_start, 0, environment_end - environment_start)  # first: nobody sees it under the new name
    ctypes.memmove(argv_start, command.encode()[: room - 1].ljust(room, b"\0"), room)
