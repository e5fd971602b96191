"""The doorway to the host: everything a step or a check does or sees goes through here and leaves a record."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from pytest_amap.commands import Command
from pytest_amap.evidence.recorded import EvidenceError
from pytest_amap.evidence.store import Evidence
from pytest_amap.host import files, process
from pytest_amap.observations import Listing, Ran, Read, Stat, plain
from pytest_amap.results import Wait

Seen = Ran | Read | Listing | Stat
S = TypeVar("S", Ran, Read, Listing, Stat)
T = TypeVar("T")

FIRST, LAST = 0.2, 2.0
"""A command is polled at 0.2 s growing to 2 s; a file at 0.2 s."""

SAY_EVERY = 10.0
"""Seconds in which a wait is told about at least once."""

WORTH_TELLING = 1.0


@dataclass(frozen=True)
class Place:
    """Whose record it is: the step's number, and the check's id or "" """

    step: int
    check: str = ""


@dataclass(frozen=True)
class Waited(Generic[S, T]):
    """The end of a wait: the last observation, recorded; the value, or None and `problem` saying why."""

    last: S
    value: T | None
    problem: str


class Host:
    """Runs commands and reads files for one run, one record each."""

    def __init__(
        self,
        evidence: Evidence,
        *,
        environ: Mapping[str, str],
        cwd: str,
        key: str | None,
        say: Callable[[str], None],
    ) -> None:
        self.evidence = evidence
        self.environ = environ
        self.cwd = cwd
        self.say = say
        self.waits: list[Wait] = []
        self.unrecorded: list[str] = []
        """Why records could not be written; any of them fails the run's report."""
        self._key = key
        self._places: list[Place] = [Place(0)]
        self._going_on = False

    @property
    def place(self) -> Place:
        return self._places[-1]

    @contextmanager
    def at(self, place: Place) -> Iterator[None]:
        """Records made inside belong to `place`."""
        self._places.append(place)
        try:
            yield
        finally:
            self._places.pop()

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """Inside, a record that cannot be written stops nothing: what was made is removed on a full disk, too."""
        before, self._going_on = self._going_on, True
        try:
            yield
        finally:
            self._going_on = before

    def run(self, command: Command) -> Ran:
        """Run it and record it. Never raises for what the command does."""
        return self.keep(self.look(command), command.label)

    def look(self, command: Command) -> Ran:
        """Run it without a record; `keep` makes one."""
        started = files.stamp(time.time())
        environ = process.child_environment(self.environ, self._key if command.with_key else None)
        environ |= dict(command.env)
        finished = process.run(
            command.argv,
            cwd=self.cwd,
            env=environ,
            timeout=command.timeout,
            keys=command.keys,
            running=self._telling(command),
        )
        hide = self.evidence.redactor.text
        return Ran(
            argv=tuple(hide(word) for word in command.argv),
            exit=finished.exit,
            stdout=hide(finished.stdout.decode("utf-8", "replace")),
            stderr=hide(finished.stderr.decode("utf-8", "replace")),
            started=started,
            ended=files.stamp(time.time()),
            timed_out=finished.timed_out,
            seconds=round(finished.seconds, 3),
        )

    def _telling(self, command: Command) -> Callable[[float], None]:
        """What tells of a command that goes on, such as an image's build."""
        told = 0.0

        def tell(seconds: float) -> None:
            nonlocal told
            if seconds - told >= SAY_EVERY:
                told = seconds
                self.say(f"still at {command.label}: {seconds:.0f} s of {command.timeout:.0f} s")

        return tell

    def keep(self, seen: S, label: str) -> S:
        """Record an observation; the one returned names its record."""
        return replace(seen, record=self._kept(lambda: self._record(seen, label)))

    def note(self, label: str, source: str, observed: Any) -> str:
        """Record anything else that was seen, and name the record."""
        return self._kept(lambda: self._observation(label, source, observed))

    def _kept(self, write: Callable[[], str]) -> str:
        try:
            return write()
        except EvidenceError as error:
            self.unrecorded.append(str(error))
            if not self._going_on:
                raise
            return ""

    def _record(self, seen: Seen, label: str) -> str:
        if not isinstance(seen, Ran):
            return self._observation(label, seen.path, seen)
        step, check = self.place.step, self.place.check
        return self.evidence.command(step=step, check=check, label=label, cwd=self.cwd, ran=seen)

    def _observation(self, label: str, source: str, observed: Any) -> str:
        step, check, told = self.place.step, self.place.check, plain(observed)
        return self.evidence.observation(step=step, check=check, label=label, source=source, observed=told)

    def read(self, path: str, label: str) -> Read:
        return self.keep(self.hidden(files.read(path)), label)

    def listing(self, path: str, label: str) -> Listing:
        seen = files.listing(path)
        return self.keep(replace(seen, names=tuple(map(self.evidence.redactor.text, seen.names))), label)

    def stat(self, path: str, label: str) -> Stat:
        return self.keep(files.look(path), label)

    def hidden(self, seen: Read) -> Read:
        return seen if seen.text is None else replace(seen, text=self.evidence.redactor.text(seen.text))

    def wait_file(
        self, what: str, path: str, done: Callable[[Read], T | None], *, seconds: float, stop: Callable[[], str] = str
    ) -> Waited[Read, T]:
        """Wait for a fact in a host file; noticed within 0.2 s."""
        return self.wait(what, lambda: self.hidden(files.read(path)), done, seconds=seconds, slowest=FIRST, stop=stop)

    def wait_command(
        self,
        what: str,
        command: Command,
        done: Callable[[Ran], T | None],
        *,
        seconds: float,
        stop: Callable[[], str] = str,
    ) -> Waited[Ran, T]:
        """Wait for a command's answer, asked at 0.2 s growing to 2 s."""
        return self.wait(what, lambda: self.look(command), done, seconds=seconds, slowest=LAST, stop=stop)

    def wait(
        self,
        what: str,
        ask: Callable[[], S],
        done: Callable[[S], T | None],
        *,
        seconds: float,
        slowest: float,
        stop: Callable[[], str],
    ) -> Waited[S, T]:
        """Ask until `done` has a value, `stop` a reason why waiting is pointless, or `seconds` are over.

        Records the first answer, each change, and the last.
        """
        begun = told = time.monotonic()
        pause, kept = FIRST, None
        while True:
            seen = ask()
            if kept is None or not same(seen, kept):
                kept = seen = self.keep(seen, what)
            value = done(seen)
            waited = time.monotonic() - begun
            over = "" if value is not None else stop() or (late(seen, seconds) if waited >= seconds else "")
            if value is not None or over:
                last = seen if seen.record else self.keep(seen, what)
                if waited >= WORTH_TELLING:
                    self.waits.append(Wait(what, round(waited, 1)))
                return Waited(last, value, over and f"{what}: {over}")
            if time.monotonic() + pause - told > SAY_EVERY:
                told = time.monotonic()
                self.say(f"waiting for {what}: {waited:.0f} s of {seconds:.0f} s, last seen: {brief(seen)}")
            time.sleep(min(pause, max(0.0, seconds - waited)))
            pause = min(slowest, pause * 1.5)


def every(seconds: float, stop: Callable[[], str]) -> Callable[[], str]:
    """`stop`, asked only that often: unlike the look at a file that is waited for, it costs a command."""
    asked = time.monotonic()

    def seldom() -> str:
        nonlocal asked
        if time.monotonic() - asked < seconds:
            return ""
        asked = time.monotonic()
        return stop()

    return seldom


def late(seen: Seen, seconds: float) -> str:
    """That nothing came, and, where nobody could have seen it come, why."""
    nothing = f"nothing after {seconds:.0f} s"
    if isinstance(seen, Ran) or not seen.problem:
        return nothing
    return f"{nothing}: {os.path.basename(seen.path)} could not be read ({seen.problem})"


def same(one: Seen, other: Seen) -> bool:
    """Whether two observations say the same, times and records apart."""
    return type(one) is type(other) and said(one) == said(other)


def said(seen: Seen) -> dict[str, Any]:
    return {name: value for name, value in vars(seen).items() if name not in ("record", "started", "ended", "seconds")}


def brief(seen: Seen) -> str:
    """One observation in a few words, for a progress line."""
    if isinstance(seen, Ran):
        return seen.said[:80]
    if isinstance(seen, Read):
        return seen.problem or f"{seen.size} bytes of {os.path.basename(seen.path)}"
    if isinstance(seen, Listing):
        return seen.problem or f"{len(seen.names)} names"
    return seen.kind
