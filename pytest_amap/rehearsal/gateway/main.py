"""`openshell-gateway`: --version, `config preflight --path F`, and the daemon."""

from __future__ import annotations

import sys
from pathlib import Path

from .. import settings
from . import config, daemon

_USAGE = """\
Usage: openshell-gateway [OPTIONS] [COMMAND]

Commands:
  config preflight [--path FILE]  Validate the configuration without starting anything

Options:
      --config FILE  Configuration file
  -V, --version      Print version
  -h, --help         Print help
"""


def main(argv: list[str]) -> int:
    match argv:
        case ["--version" | "-V"]:
            print(f"openshell-gateway {settings.version_text()}")
            return 0
        case ["--help" | "-h" | "help"]:
            print(_USAGE, end="")
            return 0
        case ["config", "preflight"]:
            return _preflight(config.location())
        case ["config", "preflight", "--path", path]:
            return _preflight(Path(path))
        case []:
            return daemon.run(None)
        case ["--config", path]:
            return daemon.run(path)
    print(f"error: unexpected argument '{argv[0]}' found\n\n{_USAGE}", file=sys.stderr)
    return 2


def _preflight(path: Path) -> int:
    try:
        config.read(path)
    except config.ConfigError as error:
        print(f"Error: configuration preflight failed: {error}", file=sys.stderr)
        return 1
    print(f"Configuration OK: {path} (schema version 2)")
    return 0
