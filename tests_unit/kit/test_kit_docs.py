"""docs/kit.md shows real output. Run this file as a program to write the outputs anew."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY))

from kit import cli, prepare  # noqa: E402  (found beside this file's checkout when run as a program)
from kit.names import RunAs  # noqa: E402

PAGE = REPOSITORY / "docs" / "kit.md"
SHOWN_HOME = "/srv/amap"
_BLOCK = re.compile(r"(?<=^```console\n)(.*?)(?=^```$)", re.MULTILINE | re.DOTALL)


def output(command: str, home: Path) -> str:
    """What the command prints, with the page's home in place of the real one."""
    words = [word.replace(SHOWN_HOME, str(home)) for word in shlex.split(command)]
    printed = io.StringIO()
    if words[0] == "cat":
        printed.write(Path(words[1]).read_text())
    else:
        assert words[:2] == ["amap", "kit"]
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            cli.main(words[2:])
    return printed.getvalue().replace(str(home), SHOWN_HOME)


def rewritten(page: str, home: Path) -> str:
    """`page` with the output of each console block's commands, run in the order of the page."""

    def block(match: re.Match[str]) -> str:
        commands = [line for line in match.group().splitlines() if line.startswith("$ ")]
        return "".join(f"{command}\n{output(command.removeprefix('$ '), home)}" for command in commands)

    return _BLOCK.sub(block, page)


@contextlib.contextmanager
def operators_host(root: Path) -> Iterator[Path]:
    """A connector beside nothing else, an operator 1000:1000, a gateway that sees /tmp; yields the home."""
    programs = root / "amap-connector-claude" / "bin"
    programs.mkdir(parents=True)
    for name in ("inbox-delivery", "_inboxlib.py", "inbox-mcp-vol", "inbox-submit"):
        (programs / name).write_text("stand-in\n")
    with (
        mock.patch.dict(os.environ, {"AMAP_CONNECTOR_REPO": str(programs.parent)}),
        mock.patch.object(cli, "_caller", return_value=RunAs(1000, 1000)),
        mock.patch.object(prepare, "_PRIVATE", ()),
        contextlib.chdir(REPOSITORY),
    ):
        yield root / "home"


def test_the_page_shows_what_the_kit_prints(tmp_path: Path) -> None:
    page = PAGE.read_text()
    with operators_host(tmp_path) as home:
        assert page == rewritten(page, home)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch, operators_host(Path(scratch).resolve()) as scratch_home:
        PAGE.write_text(rewritten(PAGE.read_text(), scratch_home))
