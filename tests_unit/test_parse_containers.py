"""Containers as inspected, and the mount table of a process."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from pytest_amap.parsers import Unreadable, containers, documents, mountinfo

INBOX = "/opt/amap/lanes/inbox"

WORKLOAD: dict[str, Any] = {
    "Id": "c1",
    "Name": "/openshell-default--alpha-id1",
    "Image": "sha256:aa",
    "Config": {
        "User": "1000:1000",
        "Labels": {
            "openshell.ai/sandbox-id": "id1",
            "openshell.ai/sandbox-name": "alpha",
            "openshell.ai/isolation-role": "sandbox",
        },
    },
    "State": {"Status": "running", "ExitCode": 0, "StartedAt": "2026-11-29T10:00:00.1Z"},
    "HostConfig": {"NetworkMode": "none", "RestartPolicy": {"Name": "no"}},
    "Mounts": [
        {"Type": "bind", "Source": "/srv/a/inbox", "Destination": INBOX, "Mode": "ro", "RW": False},
        {"Type": "volume", "Name": "channel", "Source": "/v", "Destination": "/.openshell/channel", "RW": True},
        {"Type": "tmpfs", "Destination": "/run/x", "RW": True},
    ],
}


def labelled(**labels: str) -> dict[str, Any]:
    changed = copy.deepcopy(WORKLOAD)
    changed["Config"]["Labels"] = {f"openshell.ai/{key.replace('_', '-')}": value for key, value in labels.items()}
    return changed


def read(*items: object) -> tuple[containers.Container, ...]:
    found = containers.containers(json.dumps(list(items)))
    assert isinstance(found, tuple)
    return found


def test_a_container() -> None:
    (found,) = read(WORKLOAD)
    assert found.name == "openshell-default--alpha-id1"
    assert (found.status, found.started_at) == ("running", "2026-11-29T10:00:00.1Z")
    assert found.mount(INBOX) == containers.Mount("bind", "/srv/a/inbox", INBOX, False)
    assert found.mount("/run/x") == containers.Mount("tmpfs", "", "/run/x", True)
    assert found.mount(INBOX + "2") is None
    assert containers.containers(json.dumps(WORKLOAD)) == (found,)
    assert containers.containers("[]") == ()


def test_the_last_mount_at_a_place_is_the_one_that_is_seen() -> None:
    over = {"Type": "bind", "Source": "/evil", "Destination": INBOX, "RW": True}
    (found,) = read(WORKLOAD | {"Mounts": [*WORKLOAD["Mounts"], over]})
    assert found.mount(INBOX) == containers.Mount("bind", "/evil", INBOX, True)


def test_a_workload_is_found_by_its_recorded_sandbox_id() -> None:
    """A21: names and name filters match more than one; ids and roles do not."""
    found = read(
        labelled(sandbox_id="id1", isolation_role="sandbox"),
        labelled(sandbox_id="id1", isolation_role="supervisor"),
        labelled(sandbox_id="id2", isolation_role="sandbox"),
        labelled(sandbox_id="id1"),
        labelled(),
    )
    assert containers.workloads(found, "id1") == (found[0], found[3])
    assert containers.workloads(found, "id1", prefix="other/") == ()


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("Mounts",), None),
        (("Mounts",), {}),
        (("Mounts",), ["x"]),
        (("Mounts", 0, "RW"), "false"),
        (("Mounts", 0, "RW"), None),
        (("Mounts", 0, "Destination"), None),
        (("Mounts", 0, "Source"), 7),
        (("Config", "Labels"), ["a"]),
        (("Config", "Labels"), {"a": 1}),
        (("State",), None),
        (("State", "StartedAt"), 1),
        (("Name",), 1),
    ],
)
def test_a_container_that_cannot_be_read(path: tuple[str | int, ...], value: object) -> None:
    changed: Any = copy.deepcopy(WORKLOAD)
    place = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    assert isinstance(containers.containers(json.dumps([WORKLOAD, changed])), Unreadable)


@pytest.mark.parametrize("stdout", ["", "Error: No such object: x", '["c1"]', "null", "[]]"])
def test_what_is_no_container(stdout: str) -> None:
    assert isinstance(containers.containers(stdout), Unreadable)


TABLE = """\
36 35 98:0 / / rw,noatime master:1 - ext3 /dev/root rw,errors=continue
37 36 0:42 /srv/a/inbox /opt/amap/lanes/inbox ro,relatime shared:5 propagate_from:2 - ext4 /dev/sda1 rw
38 37 0:43 / /opt/amap/lanes/inbox/sub\\040dir rw - tmpfs tmpfs rw
39 36 0:44 / /opt/amap/lanes/inbox2 rw - tmpfs tmpfs ro
40 36 0:4 net:[4026531833] /run/netns rw - nsfs nsfs rw
"""


def test_a_writable_mount_below_a_read_only_one_is_found() -> None:
    """A20: a read-only bind is not recursive."""
    table = mountinfo.mounts(TABLE)
    assert isinstance(table, tuple)
    lane = mountinfo.at(table, INBOX)
    assert lane is not None
    assert (lane.writable, lane.options) == (False, ("ro", "relatime"))
    (sub,) = mountinfo.below(table, INBOX)
    assert (sub.point, sub.writable) == (INBOX + "/sub dir", True)
    look_alike = mountinfo.at(table, INBOX + "2")
    assert look_alike is not None
    assert not look_alike.writable
    assert mountinfo.at(table, "/opt") is None
    assert len(mountinfo.below(table, "/")) == 4


def test_the_topmost_of_two_mounts_counts() -> None:
    table = mountinfo.mounts(TABLE + "41 37 0:45 / /opt/amap/lanes/inbox rw - tmpfs tmpfs rw\n")
    top = mountinfo.at(table or (), INBOX)
    assert top is not None
    assert top.writable


@pytest.mark.parametrize("text", ["", "\n", TABLE + "cut", TABLE.replace(" - ", " "), "cat: /proc/self/mountinfo: no"])
def test_a_mount_table_that_cannot_be_read(text: str) -> None:
    assert isinstance(mountinfo.mounts(text), Unreadable)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 1}',
        '{"a": {"b": 1, "b": 2}}',
        '{"a": NaN}',
        '{"a": -Infinity}',
        '{"a": 1e999}',
        '{"a": ' + "9" * 5000 + "}",
        '{"a": ' * 100_000,
        "{} {}",
        "[]",
        "",
        '{"a": "\x00"}',
        "\ufeff{}",
    ],
)
def test_what_is_no_document(text: str) -> None:
    assert isinstance(documents.document(text), Unreadable)


def test_a_document_has_a_size() -> None:
    assert documents.document('{"a": 1}', limit=8) == {"a": 1}
    assert isinstance(documents.document('{"a": 1}', limit=7), Unreadable)
