"""`amap kit` and `python -m kit`: the operator's three actions, each a dry run unless --apply."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path

from kit import files, home, names, prepare, profile, record, siblings
from kit.errors import Refused, one_line, said
from kit.files import Plan
from kit.home import Home
from kit.names import RunAs

CHECKOUT = "tests_live"
"""What a checkout of this project holds, and neither an installed package nor a home does."""
DRY_RUN = "Nothing was written; --apply writes it."


def main(argv: Sequence[str] | None = None) -> int:
    """Run one action: 0 done or a clean dry run, 1 refused with one sentence on stderr, 2 wrong usage."""
    arguments = _parser().parse_args(argv)
    try:
        lines = _run(arguments)
    except Refused as reason:
        return _refuse(arguments, str(reason))
    except OSError as error:
        return _refuse(arguments, f"{said(error)}; mend that and run it again")
    return _say(arguments, lines)


def _say(arguments: argparse.Namespace, lines: list[str]) -> int:
    """Print what was done; a reader that had enough, or a full disk behind it, gets no traceback."""
    try:
        print("\n".join(map(one_line, lines)), flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the interpreter's end tries it again
        if isinstance(error, BrokenPipeError):
            return 1
        return _refuse(arguments, f"its lines could not be printed ({error.strerror}): make room and run it again")
    return 0


def _refuse(arguments: argparse.Namespace, reason: str) -> int:
    print(f"amap kit {arguments.action}: {one_line(reason)}", file=sys.stderr)
    return 1


def _run(arguments: argparse.Namespace) -> list[str]:
    names.check_caller(_caller())
    place = _home(arguments)
    with files.locked(place) if arguments.apply else nullcontext(True) as held:
        made = _plan(arguments, place)
        if not held and place.path.exists():
            raise Refused(f"{place.path} was made by somebody else just now: run it again")
        if arguments.apply:
            files.apply(made)
    ending = [] if arguments.apply else [DRY_RUN]
    return [*made.lines(applied=arguments.apply), *made.notes, *ending]


def _home(arguments: argparse.Namespace) -> Home:
    """The home, outside of this checkout and every sibling that is there."""
    checkout = _checkout()
    avoid = [sibling.path for sibling in siblings.found(os.environ, checkout)]
    if (checkout / CHECKOUT).is_dir():
        avoid.append(checkout)
    place = home.check_home(arguments.home, avoid)
    return place if arguments.action == "prepare" else home.check_home_exists(arguments.home)


def _plan(arguments: argparse.Namespace, place: Home) -> Plan:
    if arguments.action == "record":
        return record.plan(place, arguments.name, arguments.id)
    if arguments.action == "profile":
        return profile.plan(place, _checkout() / "providers" / place.profile.name, arguments.binary)
    return prepare.plan(
        place,
        Path(arguments.fleet),
        run_as=names.parse_run_as(arguments.run_as),
        caller=_caller(),
        image=arguments.image,
        connector=siblings.find("connector", os.environ, _checkout()).path,
        examples=_checkout() / "examples",
        restart_policy=arguments.restart_policy,
    )


def _checkout() -> Path:
    """The checkout this package lies in; for an installed package, the current directory."""
    beside = Path(__file__).absolute().parent.parent
    return beside if (beside / CHECKOUT).is_dir() else Path.cwd()


def _caller() -> RunAs:
    return RunAs(os.geteuid(), os.getegid())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="amap kit",
        description="Render and write the files that the L1 runbook's steps 3 and 5 need. Runs no program.",
    )
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--home", required=True, metavar="DIR", help="absolute path of AMAP_OPENSHELL_HOME")
    common.add_argument("--apply", action="store_true", help="write; without it nothing is written")
    add = partial(actions.add_parser, parents=[common], allow_abbrev=False)  # --ap must not write

    one = add("prepare", help="payload, lanes, policies, create commands")
    one.add_argument("--fleet", required=True, metavar="FILE", help="fleet file, such as examples/fleet.json")
    one.add_argument("--run-as", required=True, metavar="UID:GID", help="the account of image, router and sandboxes")
    one.add_argument("--image", required=True, metavar="IMAGE", help="the tag of step 1")
    one.add_argument("--restart-policy", action="store_true", help="put --restart-policy on-failure into each create")

    two = add("record", help="write down a sandbox's id")
    two.add_argument("name", metavar="NAME", help="the member, which is the sandbox's name")
    two.add_argument("id", metavar="ID", help="the id that sandbox get prints")

    three = add("profile", help="the provider profile with the image's real paths")
    three.add_argument(
        "--binary", required=True, action="append", metavar="PATH", help="real path of an executable (repeatable)"
    )
    return parser
