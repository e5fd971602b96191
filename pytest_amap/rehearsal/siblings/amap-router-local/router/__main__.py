"""python3 -m router --config C {run --interval N | once | status | peers | provision NAME | reset NAME}.

Exit 0 done; 1 no or an unhealthy status, a refusal, or a lock held by another process; 2 a configuration error.
"""

from __future__ import annotations

import argparse
import calendar
import json
import logging
import os
import signal
import sys
import time
from typing import Any

from . import poll, safefs
from .config import LANE_LEAVES, Config, ConfigError, load
from .discovery import look
from .reset import reset


def main() -> int:
    """Run one command."""
    arguments = _parser().parse_args()
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    try:
        return int(_COMMANDS[arguments.command](arguments))
    except ConfigError as error:
        print(f"router: configuration refused: {error}", file=sys.stderr)
        return 2
    except poll.Locked as error:
        print(f"router: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="router")
    parser.add_argument("--config", required=True)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run")
    run.add_argument("--interval", type=_interval, default=5.0)
    commands.add_parser("once").add_argument("--json", action="store_true")
    commands.add_parser("peers")
    status = commands.add_parser("status")
    status.add_argument("--json", action="store_true")
    status.add_argument("--check", action="store_true")
    commands.add_parser("provision").add_argument("name")
    commands.add_parser("reset").add_argument("name")
    return parser


def _interval(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError("the interval must be above zero")
    return int(value) if value == int(value) else value


def _run(arguments: argparse.Namespace) -> int:
    stopping: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda signum, _frame: stopping.append(signum))
    poll.run(arguments.config, arguments.interval, stopping)
    return 0


def _once(arguments: argparse.Namespace) -> int:
    summaries = poll.once(arguments.config)
    if arguments.json:
        print(json.dumps(summaries, sort_keys=True))
    return 0


def _peers(arguments: argparse.Namespace) -> int:
    config = load(arguments.config)
    names = look(config).names
    for receiver in names:
        senders = [sender for sender in names if config.may_task(sender, receiver)]
        print(f"{receiver}: may be tasked by {', '.join(senders) or 'nobody'}")
    return 0


def _status(arguments: argparse.Namespace) -> int:
    path = os.path.join(load(arguments.config).state_dir, poll.STATUS)
    status = safefs.read_object(path)
    if status is None:
        print(f"unhealthy: {path} is missing or cannot be read")
        return 1
    if arguments.check:
        healthy, text = _health(status)
        print(text)
        return 0 if healthy else 1
    if arguments.json:
        print(json.dumps(status))
    else:
        print(f"polls {status['polls']}, last {status['last_poll_ts']}, admitted {', '.join(status['admitted'])}")
    return 0


def _health(status: dict[str, Any]) -> tuple[bool, str]:
    age = time.time() - calendar.timegm(time.strptime(status["last_poll_ts"], "%Y-%m-%dT%H:%M:%SZ"))
    limit = 3 * (status["interval_s"] or 0)
    # Stamps are whole seconds, so a poll of this moment can look one second old.
    healthy = age <= limit + 1
    return healthy, f"{'healthy' if healthy else 'unhealthy'}: last poll {age:.0f} s ago, limit {limit:g} s"


def _provision(arguments: argparse.Namespace) -> int:
    """Under discovery nothing is made: the host lays out lanes, and a missing leaf is refused by name."""
    config = load(arguments.config)
    root = _root(config, arguments.name)
    if root is None:
        print(f"router: no admitted instance is called {arguments.name}", file=sys.stderr)
        return 1
    leaves = [os.path.join(root, lane, leaf) for lane, names in LANE_LEAVES.items() for leaf in names]
    missing = [leaf for leaf in leaves if not os.path.isdir(leaf)]
    if missing and config.instances_dir is not None:
        print(f"router: missing: {', '.join(missing)}", file=sys.stderr)
        return 1
    for leaf in missing:
        os.makedirs(leaf)
    print(f"{arguments.name}: every lane is present")
    return 0


def _root(config: Config, name: str) -> str | None:
    return next((instance.root for instance in look(config).instances if instance.name == name), None)


def _reset(arguments: argparse.Namespace) -> int:
    config = load(arguments.config)
    held = poll.lock(config.state_dir)
    try:
        print(f"{arguments.name}: removed {', '.join(reset(config.state_dir, arguments.name)) or 'nothing'}")
    except FileNotFoundError:
        print(f"router: nothing is kept for {arguments.name}", file=sys.stderr)
        return 1
    finally:
        os.close(held)
    return 0


_COMMANDS = {
    "run": _run,
    "once": _once,
    "peers": _peers,
    "status": _status,
    "provision": _provision,
    "reset": _reset,
}

if __name__ == "__main__":
    sys.exit(main())
