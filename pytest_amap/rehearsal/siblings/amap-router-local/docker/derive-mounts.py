#!/usr/bin/env python3
"""derive-mounts.py CONFIG: print `<absolute path>TAB<rw|ro>` for every directory the router needs, parents first."""

from __future__ import annotations

import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

from router.config import Config, ConfigError, load  # type: ignore[import-not-found]  # noqa: E402


def mounts(config: Config) -> list[tuple[str, str]]:
    """(path, mode) pairs; a parent stands before its child, or it would hide the child's mount."""
    wanted = {config.state_dir: "rw"}
    for path in (config.intake_dir, config.instances_dir, *(root for _mode, root in config.roots.values())):
        if path is not None:
            wanted[path] = "rw"
    if config.selected_json is not None:
        home = os.path.dirname(config.selected_json)
        wanted.setdefault(home, "ro")
        roster = os.path.join(home, "roster")
        if os.path.isdir(roster) and not os.path.islink(roster):
            wanted[roster] = "rw"
    missing = sorted(path for path in wanted if not os.path.isdir(path))
    if missing:
        raise ConfigError(f"{', '.join(missing)} is not a directory; it is never made here")
    return sorted(wanted.items(), key=lambda item: (item[0].count("/"), item[0]))


def main() -> int:
    """Print the mounts, or say in one line why there are none."""
    if len(sys.argv) != 2:
        print("usage: derive-mounts.py CONFIG", file=sys.stderr)
        return 2
    try:
        rows = mounts(load(sys.argv[1]))
    except ConfigError as error:
        print(f"derive-mounts: {error}", file=sys.stderr)
        return 2
    for path, mode in rows:
        print(f"{path}\t{mode}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
