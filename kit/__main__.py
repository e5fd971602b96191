"""`python -m kit`."""

from __future__ import annotations

import sys

from kit.cli import main

sys.exit(main())
