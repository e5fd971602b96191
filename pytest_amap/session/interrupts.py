"""One plan for the three ways to stop a run: INT, TERM and HUP end it like Ctrl-C, and never twice."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
ONCE = 1.0
"""Seconds within which a second signal is the first one again: the terminal sends it to the whole group."""


def tell_the_terminal(text: str) -> None:
    """Past pytest's capturing, which holds standard error while a check runs; silent where nobody sits."""
    with contextlib.suppress(OSError), open("/dev/tty", "w") as terminal:
        terminal.write(f"\n{text}\n")


class Interrupts:
    """The first signal raises KeyboardInterrupt; later ones are told and change nothing."""

    def __init__(self, say: Callable[[str], None] = tell_the_terminal) -> None:
        self.first = ""
        self._when = 0.0
        self._held = False
        self._say = say
        self._before: dict[signal.Signals, Any] = {}

    def install(self) -> None:
        """Take over the signals that are not ignored: `nohup` and background jobs stay as they are."""
        self._before = {s: signal.signal(s, self) for s in SIGNALS if signal.getsignal(s) is not signal.SIG_IGN}

    def restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def __call__(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if not self.first:
            self.first, self._when = signal.Signals(number).name, now
            if not self._held:
                raise KeyboardInterrupt(self.first)
        elif now - self._when > ONCE:
            self._when = now
            self._say(
                f"amap: {signal.Signals(number).name} again: cleanup is running and goes on; kill -9 ends it at once"
            )

    def again(self) -> None:
        """Raise what was only noted, or what something swallowed."""
        if self.first and not self._held:
            raise KeyboardInterrupt(self.first)

    def hold(self) -> None:
        """From here on a signal is only noted: cleanup and report go on to their end."""
        self._held = True
