"""The file system of a box: the host's /usr read-only, an image's files over it, its own /etc, /dev and /proc."""

from __future__ import annotations

import os
import shutil

from .. import kernel
from .spec import BoxSpec

INTERPRETER = "/usr/local/lib/rehearsal/interpreter"
"""The image's scripts name it in their first line; a bind of the host's python3 (see `egress.owner`)."""

_FROM_HOST = ("bin", "sbin", "lib", "lib32", "lib64")
_HOST_ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "ssl", "alternatives")
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_DEVICE_LINKS = {"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2", "ptmx": "pts/ptmx"}


def build(spec: BoxSpec, root: str) -> None:
    """Mount everything below `root` and make it the root; needs the box's own mount namespace."""
    kernel.mount("tmpfs", root, "tmpfs", kernel.NOSUID | kernel.NODEV, "mode=755,size=64m")
    _system(root)
    _image(spec, root)
    _etc(spec, root)
    _devices(root)
    os.mkdir(f"{root}/proc")
    kernel.mount("proc", f"{root}/proc", "proc", kernel.NOSUID | kernel.NODEV | kernel.NOEXEC)
    _places(spec, root)
    for mount in spec.mounts:
        kernel.bind(mount.source, root + mount.target, mount.read_only)
    os.makedirs(root + spec.workdir, exist_ok=True)
    kernel.pivot_into(root)
    if spec.workspace:
        kernel.mount(None, "/", None, kernel.BIND | kernel.REMOUNT | kernel.RDONLY | kernel.NOSUID | kernel.NODEV)


def _system(root: str) -> None:
    kernel.bind("/usr", f"{root}/usr", True)
    for name in _FROM_HOST:
        if os.path.islink(f"/{name}"):
            os.symlink(os.readlink(f"/{name}"), f"{root}/{name}")
        elif os.path.isdir(f"/{name}"):
            kernel.bind(f"/{name}", f"{root}/{name}", True)


def _image(spec: BoxSpec, root: str) -> None:
    """The image's /usr/local and its other top-level directories; /etc is copied by `_etc`."""
    read_only = not spec.writable_image
    for name in sorted(os.listdir(spec.image_root)):
        if name not in ("usr", "etc"):
            kernel.bind(f"{spec.image_root}/{name}", f"{root}/{name}", read_only)
    kernel.bind(f"{spec.image_root}/usr/local", f"{root}/usr/local", read_only)
    if os.path.exists(root + INTERPRETER):
        kernel.bind(os.path.realpath("/usr/bin/python3"), root + INTERPRETER, True)


def _etc(spec: BoxSpec, root: str) -> None:
    etc = f"{root}/etc"
    if spec.writable_image:
        kernel.bind(f"{spec.image_root}/etc", etc, False)
    else:
        shutil.copytree(f"{spec.image_root}/etc", etc, symlinks=True)
    for name in _HOST_ETC:
        if os.path.exists(f"/etc/{name}") and not spec.writable_image:
            kernel.bind(f"/etc/{name}", f"{etc}/{name}", True)
    files = {
        "hosts": f"127.0.0.1 localhost {spec.name}\n::1 localhost\n",
        "hostname": f"{spec.name}\n",
        "resolv.conf": "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n",
        "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
        **spec.etc,
    }
    for name, content in files.items():
        path = f"{etc}/{name}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as stream:
            stream.write(content)


def _devices(root: str) -> None:
    dev = f"{root}/dev"
    os.makedirs(f"{dev}/pts")
    os.mkdir(f"{dev}/shm")
    for name in _DEVICES:
        with open(f"{dev}/{name}", "w"):
            pass
        kernel.mount(f"/dev/{name}", f"{dev}/{name}", None, kernel.BIND)
    options = "newinstance,ptmxmode=0666,mode=620"
    kernel.mount("devpts", f"{dev}/pts", "devpts", kernel.NOSUID | kernel.NOEXEC, options)
    kernel.mount("tmpfs", f"{dev}/shm", "tmpfs", kernel.NOSUID | kernel.NODEV, "mode=1777,size=16m")
    for name, target in _DEVICE_LINKS.items():
        os.symlink(target, f"{dev}/{name}")


def _places(spec: BoxSpec, root: str) -> None:
    """/tmp, /run and /var for every box; a sandbox's /sandbox and /tmp lie on the disk and survive a stop."""
    os.makedirs(f"{root}/var/log", exist_ok=True)
    os.makedirs(f"{root}/run", exist_ok=True)
    if spec.workspace:
        kernel.bind(f"{spec.directory}/sandbox", f"{root}/sandbox", False)
        kernel.bind(f"{spec.directory}/tmp", f"{root}/tmp", False)
    else:
        os.makedirs(f"{root}/tmp", exist_ok=True)
        os.chmod(f"{root}/tmp", 0o1777)
