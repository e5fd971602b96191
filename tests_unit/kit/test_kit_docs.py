"""docs/kit.md shows real output. Run this file as a program to write the outputs anew."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "tests_unit")]

from staged_host import StagedHost, staged  # noqa: E402  (found beside this file's checkout when run as a program)

PAGE = REPOSITORY / "docs" / "kit.md"
_BLOCK = re.compile(r"^```console(?P<before>[^\n]*)\n(?P<shown>.*?)^```$", re.MULTILINE | re.DOTALL)


def rewritten(page: str, stage: StagedHost) -> str:
    """`page` with the output of each console block's commands, run in the order of the page.

    A block whose fence says `merged` is run after the merge that `amap gateway` printed was done by hand.
    """

    def block(match: re.Match[str]) -> str:
        if "merged" in match["before"].split():
            stage.merge()
        commands = [line for line in match["shown"].splitlines() if line.startswith("$ ")]
        told = "".join(f"{command}\n{stage.run(command.removeprefix('$ '))}" for command in commands)
        return f"```console{match['before']}\n{told}```"

    return _BLOCK.sub(block, page)


@pytest.mark.skipif(shutil.which("git") is None, reason="no git on PATH")
def test_the_page_shows_what_the_commands_print(tmp_path: Path) -> None:
    page = PAGE.read_text()
    with staged(tmp_path) as stage:
        assert rewritten(page, stage) == page


def test_the_page_shows_every_word_and_a_refusal_of_each() -> None:
    shown = "".join(match["shown"] for match in _BLOCK.finditer(PAGE.read_text()))
    for word in ("kit prepare", "kit profile", "kit record", "siblings"):
        assert f"\namap {word}: " in shown
    assert "  WRONG  " in shown
    assert "MEND  step 0: " in shown


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch, staged(Path(scratch).resolve()) as scratch_stage:
        PAGE.write_text(rewritten(PAGE.read_text(), scratch_stage))
