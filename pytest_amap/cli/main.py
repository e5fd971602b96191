"""The `amap` command: one word each for what is done by hand, without pytest.

The words that judge evidence (verify, report) import the standard library and pure modules alone.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from kit.errors import one_line, said

COMMANDS = {
    "verify": ("is a run's evidence whole and unchanged?", "pytest_amap.evidence.verify"),
    "report": ("the Markdown report, made again from a run's evidence", "pytest_amap.cli.report"),
    "kit": ("render and write the files of the runbook's steps 3 and 5", "kit.cli"),
    "gateway": ("what gateway.toml must hold, what it holds, and the exact merge", "pytest_amap.cli.gateway"),
    "doctor": ("look at what steps 0 and 2 need, without a run", "pytest_amap.cli.doctor"),
    "siblings": ("clone or fetch the sibling checkouts at their pins", "pytest_amap.cli.siblings"),
}
"""Word: what `amap --help` says of it, and the module whose main(argv) does it."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one word: 0 good, 1 not good or refused, 2 wrong usage."""
    words = list(sys.argv[1:] if argv is None else argv)
    name = _parser().parse_args(words[:1]).command
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = int(importlib.import_module(COMMANDS[name][1]).main(words[1:]))
        print(end="", flush=True)
    except KeyboardInterrupt:
        print(f"amap {name}: interrupted", file=sys.stderr)
        return 1
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the interpreter's end writes there again
        if not isinstance(error, BrokenPipeError):  # else the reader had enough
            print(f"amap {name}: {one_line(said(error))}; mend that and run it again", file=sys.stderr)
        return 1
    return code


def checkout() -> Path:
    """The checkout this package lies in; for an installed package, the current directory."""
    beside = Path(__file__).absolute().parents[2]
    return beside if (beside / "tests_live").is_dir() else Path.cwd()


def _parser() -> argparse.ArgumentParser:
    width = max(map(len, COMMANDS))
    told = [f"  {name:<{width}}  {said}" for name, (said, _) in COMMANDS.items()]
    ending = "`amap COMMAND --help` tells more. Exit codes: 0 good, 1 not good or refused, 2 wrong usage."
    parser = argparse.ArgumentParser(
        prog="amap",
        usage="amap [-h] COMMAND ...",
        description="Qualify an OpenShell host for AMAP: what is done by hand, beside `pytest tests_live`.",
        epilog="\n".join(["commands:", *told, "", ending]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=list(COMMANDS), metavar="COMMAND", help="one of those below")
    return parser


if __name__ == "__main__":
    sys.exit(main())
