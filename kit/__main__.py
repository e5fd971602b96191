"""`python -m kit`."""

from __future__ import annotations

import sys

from kit.cli import main

for stream in (sys.stdout, sys.stderr):
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")
try:
    sys.exit(main())
except KeyboardInterrupt:
    sys.exit("amap kit: interrupted; run it again, which writes what is missing")
