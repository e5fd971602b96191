"""`amap report DIR`: the Markdown report, made again from the evidence; DIR is only read."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from pytest_amap.catalogue import L1
from pytest_amap.evidence import verify
from pytest_amap.evidence.recollect import result_of
from pytest_amap.evidence.recorded import EvidenceError, read_run
from pytest_amap.report import markdown, places


def main(argv: Sequence[str] | None = None) -> int:
    """Print the report, or write it to a new file; 1 with one sentence where that cannot be done."""
    parser = argparse.ArgumentParser(prog="amap report", description="The Markdown report of a run, from its evidence.")
    parser.add_argument("directory", metavar="DIR", type=Path, help="an evidence folder, or one of its runs/<run>")
    parser.add_argument("-o", dest="output", metavar="FILE", type=Path, help="write it to this new file instead")
    arguments = parser.parse_args(argv)
    try:
        _put(_report(arguments.directory, arguments.output), arguments.output)
        for line in verify.problems(arguments.directory)[:1]:
            print(f"amap report: drawn from evidence that is not as it was sealed: {line}", file=sys.stderr)
    except EvidenceError as error:
        print(f"amap report: {error}", file=sys.stderr)
        return 1
    return 0


def _report(directory: Path, output: Path | None) -> str:
    run = read_run(directory)
    if output is not None and _place(output).is_relative_to(run.root):
        raise EvidenceError(f"{output} lies in the evidence, which is never changed: name another place")
    result = result_of(run, L1)
    if result is None:
        raise EvidenceError(f"run {run.run} was cut off before it had results: name a run that ended")
    return markdown.draft(places.named(result, places.recorded(run.results or {})))


def _place(output: Path) -> Path:
    try:
        return output.resolve()
    except (OSError, RuntimeError):  # a symlink that leads to itself
        raise EvidenceError(f"{output} leads nowhere: name another place") from None


def _put(report: str, output: Path | None) -> None:
    if output is None:
        sys.stdout.write(report)
        return
    try:
        with output.open("x", encoding="utf-8", newline="\n") as file:
            file.write(report)
    except FileExistsError:
        raise EvidenceError(f"{output} is there already and is kept: name a new file") from None
    except OSError as error:
        raise EvidenceError(f"{output} could not be written ({error.strerror}): name another place") from None
