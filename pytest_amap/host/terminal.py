"""A terminal for one command: what it shows is kept, and keys are typed on it a moment later."""

from __future__ import annotations

import contextlib
import os
import time
from typing import IO

SIZE = (50, 160)
"""Rows and columns."""
MOMENT, AT_MOST = 1.0, 10.0
"""Seconds from the first output to the keys, and from the start where nothing is shown."""
AT_ONCE = 1000
"""Reads a pump: a program that shows something without end keeps nobody from its deadline."""


class Terminal:
    """`inner` is the command's end, raw until the command says otherwise; `pump` is to be called again and again."""

    def __init__(self, keys: str, kept: IO[bytes]) -> None:
        import termios  # here, since a replay needs nothing that only Linux has
        import tty

        self.outer, self.inner = os.openpty()
        tty.setraw(self.inner)
        termios.tcsetwinsize(self.inner, SIZE)
        os.set_blocking(self.outer, False)
        self._keys, self._kept = keys.encode(), kept
        self._late = time.monotonic() + AT_MOST

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self.pump()
        os.close(self.outer)
        os.close(self.inner)

    def pump(self) -> None:
        """Keep what was shown since the last call, and type the keys when their time has come."""
        with contextlib.suppress(OSError):  # nothing more to read
            for _ in range(AT_ONCE):
                self._kept.write(os.read(self.outer, 1 << 16))
                self._late = min(self._late, time.monotonic() + MOMENT)
        self._kept.flush()
        if self._keys and time.monotonic() > self._late:
            with contextlib.suppress(OSError):  # full: tried again at the next call
                os.write(self.outer, self._keys)
                self._keys = b""
