"""The one function that starts a process for the suite."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO

from pytest_amap.host import terminal

GRACE = 5.0
"""Seconds that a group gets to be gone after SIGKILL."""

PUT_OFF = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)

LARGEST = 64 << 20
"""Bytes of one stream that are read back; what lies between head and tail of more is not."""


FLOOD = 256 << 20
"""Bytes of one stream after which a command is stopped: no honest one says so much, and the disk is not ours."""

LOOK = 0.1
"""Seconds between two looks at how much it has said."""

LATE, FLOODED = "no end within its deadline", f"stopped: more than {FLOOD >> 20} MiB of output"


@dataclass(frozen=True)
class Finished:
    """How a command ended: `exit` is None when it could not start or was stopped, at its deadline or in a flood."""

    exit: int | None
    stdout: bytes
    stderr: bytes
    timed_out: bool
    seconds: float


def run(
    argv: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    timeout: float,
    keys: str = "",
    running: Callable[[float], None] | None = None,
) -> Finished:
    """Run `argv` with an empty stdin in a session of its own, for at most `timeout` seconds.

    With `keys` its stdin and stdout are a terminal, on which they are typed a moment after the first output.
    `running` is called again and again with the seconds so far.

    Output goes to files, not pipes: a grandchild that keeps a stream open cannot keep us waiting. The whole group
    is killed at the deadline, on any exception, and after the command's end. Never raises for
    what the command does; a program that cannot start has `exit` None and the reason on stderr.
    """
    begun = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, contextlib.ExitStack() as group:
        try:
            screen = group.enter_context(terminal.Terminal(keys, out)) if keys else None
            with undisturbed():
                process = subprocess.Popen(
                    list(argv),
                    cwd=cwd,
                    env=dict(env),
                    stdin=screen.inner if screen else subprocess.DEVNULL,
                    stdout=screen.inner if screen else out,
                    stderr=err,
                    start_new_session=True,
                )
                group.callback(end, process)
        except (OSError, ValueError) as error:
            said = f"{argv[0] if argv else ''}: {getattr(error, 'strerror', None) or error}"
            return Finished(None, b"", said.encode(errors="replace"), False, time.monotonic() - begun)

        def meanwhile() -> None:
            if screen:
                screen.pump()
            if running:
                running(time.monotonic() - begun)

        why = watch(process, (out, err), begun + timeout, meanwhile)
        group.close()
        seconds = time.monotonic() - begun
        told = f"{why}\n".encode() if why == FLOODED else b""
        return Finished(None if why else process.returncode, content(out), told + content(err), why == LATE, seconds)


def watch(
    process: subprocess.Popen[bytes], streams: Sequence[IO[bytes]], deadline: float, meanwhile: Callable[[], None]
) -> str:
    """Wait for the process to end by itself; "" when it did, else why it has to be stopped."""
    while True:
        meanwhile()
        left = deadline - time.monotonic()
        try:
            process.wait(max(0.0, min(LOOK, left)))
            return ""
        except subprocess.TimeoutExpired:
            if left <= 0:
                return LATE
            if any(os.fstat(stream.fileno()).st_size > FLOOD for stream in streams):
                return FLOODED


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Put off what handlers of stop signals and alarms raise: a child must be known before anything is raised.

    Handlers are exchanged and nothing is masked, since a child would inherit a mask.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    noted: list[int] = []
    before = {number: handler for number in PUT_OFF if callable(handler := signal.getsignal(number))}
    for number in before:
        signal.signal(number, lambda late, frame: noted.append(late))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for late in noted:
            signal.raise_signal(late)


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill the process's group; its id is its own, since it leads a session."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(GRACE)


def content(stream: IO[bytes]) -> bytes:
    size = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    if size <= LARGEST:
        return stream.read()
    head = stream.read(LARGEST // 2)
    stream.seek(size - LARGEST // 2)
    return head + f"\n[{size - LARGEST} bytes not read]\n".encode() + stream.read()


DROPPED = (
    *("FORCE_COLOR", "CLICOLOR_FORCE", "CLICOLOR", "PY_COLORS", "CLAUDE_CODE_MESSAGING_TOKEN", "ANTHROPIC_API_KEY"),
    "RUST_LOG",  # a log of openshell's own would stand on stdout, amid the JSON
)
MOVING = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_SHALLOW_FILE", "GIT_CONFIG",
)  # fmt: skip
"""Variables, set in every git hook, that make git speak of another repository than the one it is asked about."""
FIXED = {"LC_ALL": "C", "LANGUAGE": "C", "NO_COLOR": "1", "TERM": "dumb", "PYTHONDONTWRITEBYTECODE": "1"}
SELECTORS = "OPENSHELL_"


def ambient_selectors(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Names of the variables that would move the CLI to another gateway or workspace; children never see them."""
    return tuple(sorted(name for name in environ if name.startswith(SELECTORS)))


def child_environment(environ: Mapping[str, str], key: str | None = None) -> dict[str, str]:
    """A child's environment: C locale, no colour, no ambient selector, the API key only where given."""
    dropped, prefixes = {*DROPPED, *MOVING}, (SELECTORS, "PYTEST_")
    kept = {n: v for n, v in environ.items() if n not in dropped and not n.startswith(prefixes)}
    return kept | FIXED | ({"ANTHROPIC_API_KEY": key} if key else {})
