"""Start a box: a keeper in the host's namespaces, the box's own namespaces, and its supervisor as pid 1 in them."""

from __future__ import annotations

import encodings.idna  # noqa: F401  the supervisor cannot import any more once it has pivoted away from the host
import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress

from .. import kernel, netlink
from . import egress, rootfs
from .spec import BoxSpec
from .supervisor import Supervisor

_ENGINE_FAILED = 125
_SANDBOX_INIT = "/.openshell/runtime/openshell-sandbox\0--bootstrap\0/.openshell/channel/sandbox/bootstrap.json"
_CONTAINER_INIT = "/sbin/docker-init\0--"


class StartFailed(Exception):
    """The box did not come up; the text is its supervisor's last words."""


def detached(spec: BoxSpec, on_start: Callable[[], object], on_end: Callable[[int], None]) -> None:
    """Start a box that outlives the caller, also one that is killed meanwhile.

    Its keeper calls `on_start` once the main process runs, then `on_end` with its exit code. Returns between the two.
    Raises StartFailed.
    """
    told, tell = os.pipe()
    if os.fork() == 0:
        os.close(told)
        become_daemon()
        os._exit(_keep(spec, tell, on_start, on_end))
    os.close(tell)
    with os.fdopen(told, "rb") as stream:
        if stream.read(1) != b"1":
            raise StartFailed(last_words(spec))


def attached(spec: BoxSpec, descriptors: tuple[int, int, int]) -> int:
    """Run a box whose main process has the caller's own descriptors; its exit code."""
    told, tell = os.pipe()
    box = _fork_box(spec, descriptors, tell, None)
    os.close(tell)
    with os.fdopen(told, "rb") as stream:
        started = stream.read(1) == b"1"
    code = os.waitstatus_to_exitcode(os.waitpid(box, 0)[1])
    if not started:
        raise StartFailed(last_words(spec))
    return code if code >= 0 else 128 - code


def logged(spec: BoxSpec, tell: int, write: Callable[[str, bytes], None]) -> int:
    """Run a box in this process's care and pass on what its main process writes, empty at a stream's end.

    `tell`, when not negative, gets one byte once the main process runs. Its exit code.
    """
    streams: dict[int, str] = {}
    ends = []
    for name in ("stdout", "stderr"):
        read, written = os.pipe()
        streams[read] = name
        ends.append(written)
    nothing = os.open(os.devnull, os.O_RDWR)
    box = _fork_box(spec, (nothing, ends[0], ends[1]), tell if tell >= 0 else os.dup(nothing), None)
    for descriptor in (nothing, *ends, *([tell] if tell >= 0 else [])):
        os.close(descriptor)
    while streams:
        for read in select.select(list(streams), [], [])[0]:
            data = os.read(read, 65536)
            write(streams[read], data)
            if not data:
                del streams[read]
                os.close(read)
    code = os.waitstatus_to_exitcode(os.waitpid(box, 0)[1])
    with suppress(FileNotFoundError):
        os.unlink(spec.control)
    return code if code >= 0 else 128 - code


def become_daemon() -> None:
    """A session of its own, and none of the caller's pipes: one kept open would keep `subprocess.run` waiting."""
    os.setsid()
    _let_go_of_stdio()


def last_words(spec: BoxSpec) -> str:
    with suppress(OSError), open(f"{spec.directory}/supervisor.log") as stream:
        lines = stream.read().strip().splitlines()
        if lines:
            return lines[-1]
    return "the box's supervisor ended without a word"


def _keep(spec: BoxSpec, tell: int, on_start: Callable[[], object], on_end: Callable[[int], None]) -> int:
    """The keeper: serves the box's egress, and reports its start and its end."""
    ours, theirs = socket.socketpair()
    started, start = os.pipe()
    box = _fork_box(spec, (0, 1, 2), start, theirs)
    os.close(start)
    theirs.close()
    if spec.network is not None:
        egress.serve(spec, box, ours)
    if os.read(started, 1) == b"1":
        on_start()
        with suppress(BrokenPipeError):
            os.write(tell, b"1")
    os.close(tell)
    code = os.waitstatus_to_exitcode(os.waitpid(box, 0)[1])
    on_end(code if code >= 0 else 128 - code)
    with suppress(FileNotFoundError):
        os.unlink(spec.control)  # last: who waits for a stop waits for this
    return 0


def _fork_box(spec: BoxSpec, descriptors: tuple[int, int, int], tell: int, sockets: socket.socket | None) -> int:
    os.makedirs(f"{spec.directory}/mnt", exist_ok=True)
    with suppress(FileNotFoundError):
        os.unlink(spec.control)
    control = socket.socket(socket.AF_UNIX)
    control.bind(spec.control)
    control.listen(64)
    sys.stdout.flush()
    sys.stderr.flush()
    box = os.fork()
    if box == 0:
        code = _ENGINE_FAILED
        try:
            code = _be_box(spec, control, descriptors, tell, sockets)
        except BaseException:
            _note_failure(spec)
        finally:
            os._exit(code)
    control.close()
    return box


def _be_box(
    spec: BoxSpec,
    control: socket.socket,
    descriptors: tuple[int, int, int],
    tell: int,
    sockets: socket.socket | None,
) -> int:
    """Enter the box's namespaces, hand its listeners to the keeper, and wait for its pid 1."""
    kernel.die_with_parent()
    uid, gid = os.getuid(), os.getgid()
    kernel.unshare(
        kernel.NEWUSER | kernel.NEWNS | kernel.NEWUTS | kernel.NEWIPC | kernel.NEWPID | kernel.NEWNET,
        "unshare(user, mount, uts, ipc, pid, net)",
    )
    kernel.map_identity(spec.uid, spec.gid, uid, gid)
    kernel.mount(None, "/", None, kernel.REC | kernel.PRIVATE)
    kernel.set_hostname(spec.name)
    kernel.loopback_up()
    netlink.prohibit_default_route()
    if sockets is not None:
        if spec.network is not None:
            egress.open_listeners(spec.network, sockets)
        sockets.close()
    init = os.fork()
    if init == 0:
        code = _ENGINE_FAILED
        try:
            kernel.die_with_parent()
            kernel.rename_process(_SANDBOX_INIT if spec.workspace else _CONTAINER_INIT)
            rootfs.build(spec, f"{spec.directory}/mnt")
            code = Supervisor(spec, control, descriptors).run(tell)
        except BaseException:
            _note_failure(spec)
        finally:
            os._exit(code)
    os.close(tell)
    control.close()
    _let_go_of_stdio()
    code = os.waitstatus_to_exitcode(os.waitpid(init, 0)[1])
    return code if code >= 0 else 128 - code


def _note_failure(spec: BoxSpec) -> None:
    """Best effort: after the pivot the directory is out of reach, and the exit code has to do."""
    error = sys.exc_info()[1]
    text = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else repr(error)
    with suppress(OSError), open(f"{spec.directory}/supervisor.log", "a") as stream:
        traceback.print_exc(file=stream)
        stream.write(f"{text}\n")


def _let_go_of_stdio() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    os.close(nothing)
