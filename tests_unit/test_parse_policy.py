"""The policy as rendered and as printed back, and what Landlock grants by it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_amap.parsers import Unreadable
from pytest_amap.parsers.policy import Policy, access, policy
from pytest_amap.parsers.strict_yaml import document

INBOX = "/opt/amap/lanes/inbox"

RENDERED = """\
# generated
version: 1
filesystem_policy:
  include_workdir: false
  read_only:
    - "/usr"
    - "/opt/amap/lanes/inbox"
  read_write:
    - "/sandbox"
    - "/opt/amap/lanes/outbox"
landlock:
  compatibility: "hard_requirement"
process:
  run_as_user: "1000"
  run_as_group: "1000"
"""

PRINTED = """\
version: 1
filesystem_policy:
  include_workdir: false
  read_only:
  - /usr
  - /opt/amap/lanes/inbox
  read_write:
  - /sandbox
  - /opt/amap/lanes/outbox
landlock:
  compatibility: hard_requirement
process:
  run_as_user: '1000'
  run_as_group: '1000'
network_policies:
  _provider_amap_claude_code:
    name: _provider_amap_claude_code
    endpoints:
    - host: api.anthropic.com
      port: 443
"""

FLOW = """\
{version: 1, filesystem_policy: {include_workdir: false, read_only: [/usr, /opt/amap/lanes/inbox],
 read_write: [/sandbox, "/opt/amap/lanes/outbox"]}, landlock: {compatibility: hard_requirement},
 process: {run_as_user: "1000", run_as_group: '1000'}}
"""


def read(text: str) -> Policy:
    found = policy(text)
    assert isinstance(found, Policy)
    return found


@pytest.mark.parametrize(
    "text", [RENDERED, FLOW, "\x1b[36mversion\x1b[0m" + RENDERED[19:]], ids=["block", "flow", "A05-coloured"]
)
def test_block_and_flow_style_say_the_same(text: str) -> None:
    assert read(text) == Policy(
        include_workdir=False,
        read_only=("/usr", INBOX),
        read_write=("/sandbox", "/opt/amap/lanes/outbox"),
        compatibility="hard_requirement",
        run_as_user="1000",
        run_as_group="1000",
        network={},
        extra=(),
    )


def test_what_openshell_adds_is_kept_apart() -> None:
    printed = read(PRINTED)
    assert replace(printed, network={}) == read(RENDERED)
    assert printed.network["_provider_amap_claude_code"]["endpoints"] == [{"host": "api.anthropic.com", "port": 443}]
    assert read(PRINTED + "network_middlewares: {}\n").extra == ("network_middlewares",)
    assert read(RENDERED.replace("landlock:", "landlock:\n  mode: x")).extra == ("landlock.mode",)


def test_defaults_where_a_section_is_missing() -> None:
    bare = read("version: 1\n")
    assert (bare.include_workdir, bare.read_only, bare.compatibility, bare.run_as_user) == (True, (), "", "")
    assert read("version: 1\nfilesystem_policy: {}\n").include_workdir is False


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("version: 0\n", id="no-policy-stored"),
        pytest.param(RENDERED.replace("version: 1", 'version: "1"'), id="a-version-in-quotes"),
        pytest.param(RENDERED.replace("version: 1", "version: true"), id="a-boolean-version"),
        pytest.param(RENDERED + "version: 1\n", id="a-key-twice"),
        pytest.param(RENDERED.replace("  read_write:", "  read_only: []\n  read_write:"), id="a-list-twice"),
        pytest.param(RENDERED.replace('    - "/usr"', "    - usr"), id="a-relative-path"),
        pytest.param(RENDERED.replace('    - "/usr"', "    - 1"), id="a-number-as-path"),
        pytest.param(RENDERED.replace("include_workdir: false", "include_workdir: no"), id="yaml-1.1-boolean"),
        pytest.param(RENDERED.replace("landlock:\n  compatibility:", "landlock:"), id="a-word-for-a-section"),
        pytest.param("version: 1\nx: &a [1]\ny: *a\n", id="an-alias"),
        pytest.param("version: 1\nx: !!python/name:os.system\n", id="a-tag"),
        pytest.param("version: 1\nx: !!timestamp x\n", id="a-known-tag"),
        pytest.param("version: 1\n? [a]\n: b\n", id="a-list-as-key"),
        pytest.param("version: 1\n---\nversion: 1\n", id="two-documents"),
        pytest.param("version: 1\nx: " + "[" * 3000, id="deep"),
        pytest.param('version: 1\nx: "\\U00110000"\n', id="no-character"),
        pytest.param("Error: sandbox not found", id="an-error"),
        pytest.param("- 1", id="a-list"),
        pytest.param("version: 1\n#" + "x" * 300_000, id="too-long"),
    ],
)
def test_a_policy_that_cannot_be_read(text: str) -> None:
    assert isinstance(policy(text), Unreadable)


@pytest.mark.parametrize(
    ("read_only", "read_write", "expected"),
    [
        ((INBOX,), (), "read-only"),
        ((), (INBOX,), "read-write"),
        pytest.param((INBOX,), (INBOX,), "both", id="A26-both-lists"),
        pytest.param((INBOX,), ("/opt/amap/lanes",), "both", id="A26-writable-parent"),
        pytest.param((INBOX,), ("/opt/amap/lanes/",), "both", id="final-slash"),
        pytest.param((INBOX,), ("/opt//amap/./lanes",), "both", id="unnormalised"),
        (("/opt/amap",), ("/sandbox",), "read-only"),
        (("/",), ("/sandbox",), "read-only"),
        ((INBOX + "2",), ("/sandbox",), "none"),
        (("/opt/amap/lanes/inbo",), ("/sandbox",), "none"),
        (("/opt/amap/lanes/Inbox",), ("/sandbox",), "none"),
        ((INBOX + "/sub",), (), "none"),
        ((INBOX,), (INBOX + "2", INBOX + "/sub"), "read-only"),
        pytest.param((INBOX,), ("/opt/*",), "both", id="A26-a-pattern"),
        pytest.param((INBOX,), ("/**",), "both", id="A26-a-pattern-of-all"),
        pytest.param((INBOX,), ("/opt/amap/lanes/out*", "/opt/*/*/*/*/*"), "read-only", id="a-pattern-of-others"),
        pytest.param((), (), "read-write", id="no-path-no-ruleset"),
    ],
)
def test_access_is_the_union_of_what_covers_the_path(
    read_only: tuple[str, ...], read_write: tuple[str, ...], expected: str
) -> None:
    assert access(replace(read(RENDERED), read_only=read_only, read_write=read_write), INBOX) == expected


def test_the_workdir_is_writable_where_it_is_included() -> None:
    bare = replace(read(RENDERED), read_write=())
    assert access(bare, "/sandbox/x") == "none"
    assert access(replace(bare, include_workdir=True), "/sandbox/x") == "read-write"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("yes", "yes"),
        ("010", "010"),
        ("1_0", "1_0"),
        ("12:30", "12:30"),
        ("2026-01-01", "2026-01-01"),
        ("1e3", "1e3"),
        ("'1'", "1"),
        ("-7", -7),
        ("~", None),
        ("<<: 1", {"<<": 1}),
    ],
)
def test_scalars_are_what_they_look_like(text: str, value: object) -> None:
    found = document(text)
    assert found == value
    assert type(found) is type(value)
