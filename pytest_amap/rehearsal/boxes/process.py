"""Start one process in a box, confined as the box says."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
from collections.abc import Sequence

from .. import kernel, landlock
from .spec import BoxSpec

_TAKE_TERMINAL = 0x540E  # TIOCSCTTY
_HIGHEST_INHERITED = 4096
NOT_FOUND, NOT_EXECUTABLE = 127, 126


def spawn(
    spec: BoxSpec,
    argv: Sequence[str],
    environment: dict[str, str],
    descriptors: Sequence[int],
    *,
    terminal: bool = False,
    workdir: str | None = None,
    confined: bool = True,
) -> int:
    """Fork and exec `argv` with `descriptors` as 0, 1 and 2, in a session of its own; its pid.

    The order is OpenShell's: rules are opened first, capabilities dropped, the rules enforced last.
    """
    ruleset = None
    if spec.rules is not None and confined:
        ruleset = landlock.prepare(spec.rules.read_only, spec.rules.read_write, spec.rules.handled)
    pid = os.fork()
    if pid:
        if ruleset is not None:
            os.close(ruleset.descriptor)
        return pid
    try:
        os.setsid()
        for number, descriptor in enumerate(descriptors):
            os.dup2(descriptor, number)
        if terminal:
            fcntl.ioctl(0, _TAKE_TERMINAL, 0)
        _default_signals()
        kernel.drop_capabilities()
        kernel.no_new_privileges()
        os.chdir(workdir or spec.workdir)
        if ruleset is not None:
            landlock.enforce(ruleset)
        os.closerange(3, _HIGHEST_INHERITED)
        _execute(list(argv), environment)
    except OSError as error:
        os.write(2, f"{argv[0]}: {error.strerror}\n".encode())
        os._exit(NOT_FOUND if error.errno == errno.ENOENT else NOT_EXECUTABLE)
    finally:
        os._exit(NOT_EXECUTABLE)


def _default_signals() -> None:
    for number in range(1, signal.NSIG):
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            try:
                signal.signal(number, signal.SIG_DFL)
            except (OSError, ValueError):
                continue  # the two real-time signals libc keeps for itself
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


def _execute(argv: list[str], environment: dict[str, str]) -> None:
    """os.execvpe without its lazy import: the interpreter's own library is gone after pivot_root."""
    if "/" in argv[0]:
        os.execve(argv[0], argv, environment)
    for directory in environment.get("PATH", "/usr/bin:/bin").split(":"):
        try:
            os.execve(f"{directory}/{argv[0]}", argv, environment)
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            continue
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
