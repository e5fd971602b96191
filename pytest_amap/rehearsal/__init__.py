"""The rehearsal host: a small OpenShell host with real kernel enforcement, in a world of its own.

It is a host, reached only through PATH, environment and files: it imports nothing of the rest, and nothing imports it.

- `world.py` enters user, mount, network, pid, ipc and uts namespaces and runs a command there; `boot.py` boots the
  host from its disk first.
- `boxes/` is the engine: one confined box, whether sandbox, container or build step; `images/` builds what they
  start from.
- `openshell/`, `gateway/` and `docker/` are the programs on its PATH; `siblings/` and `agent/` what runs on it.
- `faults.py` lists the defects that can be planted, `sabotage/` plants them.

A rehearsal proves the suite, never OpenShell.
"""
