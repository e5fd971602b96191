"""Policy, create command and the router's files: each the rendering of one table."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
import yaml

from kit import commands, fleet, lanes, policy, router
from kit.errors import Refused
from kit.fleet import Fleet
from kit.home import Home
from kit.names import RunAs

HOME = Home(Path("/srv/amap"))


@pytest.fixture
def example(fleet_file: Path) -> Fleet:
    return fleet.load(fleet_file)


def test_only_the_outbox_is_writable() -> None:
    assert {mount.target: mount.read_only for mount in lanes.mounts(HOME, "alpha")} == {
        "/opt/amap/payload": True,
        "/opt/amap/roster": True,
        "/opt/amap/lanes/inbox": True,
        "/opt/amap/lanes/peer": True,
        "/opt/amap/lanes/outbox": False,
    }


def test_the_policy_is_the_documented_one() -> None:
    text = policy.render(RunAs(1000, 1001))
    assert text.startswith("# ")
    assert text.endswith('run_as_group: "1001"\n')
    assert yaml.safe_load(text) == {
        "version": 1,
        "filesystem_policy": {
            "include_workdir": False,
            "read_only": [
                "/bin",
                "/usr",
                "/lib",
                "/proc",
                "/dev/urandom",
                "/etc",
                "/var/log",
                "/opt/amap/payload",
                "/opt/amap/roster",
                "/opt/amap/lanes/inbox",
                "/opt/amap/lanes/peer",
            ],
            "read_write": ["/sandbox", "/tmp", "/dev/null", "/opt/amap/lanes/outbox"],
        },
        "landlock": {"compatibility": "hard_requirement"},
        "process": {"run_as_user": "1000", "run_as_group": "1001"},
    }


def test_policy_and_mounts_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Flip one row of the table: both renderings follow."""
    monkeypatch.setattr(lanes, "is_read_only", lambda role: role != lanes.PEER)
    assert lanes.lane_target(lanes.PEER) in policy.read_write()
    assert lanes.lane_target(lanes.OUTBOX) in policy.read_only()
    rows = json.loads(commands.driver_config(HOME, "alpha"))["docker"]["mounts"]
    assert [row["target"] for row in rows if not row["read_only"]] == [lanes.lane_target(lanes.PEER)]


def test_no_mount_lies_below_a_writable_or_reserved_path() -> None:
    reserved = ("/opt/openshell", "/etc/openshell", "/run/openshell", "/run/netns", "/proc", "/sys", "/dev", "/sandbox")
    for target in lanes.targets().values():
        for path in (*policy.SYSTEM_READ_WRITE, *reserved):
            assert not Path(target).is_relative_to(path)


def test_the_probes_policy_lacks_exactly_one_line() -> None:
    text = policy.render(RunAs(1000, 1000))
    peer = lanes.lane_target(lanes.PEER)
    less = policy.without(text, peer)
    assert set(text.splitlines()) - set(less.splitlines()) == {f'    - "{peer}"'}
    assert len(text.splitlines()) - len(less.splitlines()) == 1
    assert policy.without(text.replace(f'"{peer}"', peer), peer) == less
    with pytest.raises(Refused, match="0 lines"):
        policy.without(less, peer)
    with pytest.raises(Refused, match="0 lines"):
        policy.without(text, "/opt/amap/lanes")


def test_the_create_command_is_the_documented_one(example: Fleet) -> None:
    argv = commands.create_argv(example, "alpha", home=HOME, image="amap-openshell-agent")
    mounts = ",".join(
        f'{{"read_only":{flag},"source":"/srv/amap/{source}","target":"/opt/amap/{target}","type":"bind"}}'
        for flag, source, target in [
            ("true", "payload", "payload"),
            ("true", "roster", "roster"),
            ("true", "instances/alpha/inbox", "lanes/inbox"),
            ("true", "instances/alpha/peer", "lanes/peer"),
            ("false", "instances/alpha/outbox", "lanes/outbox"),
        ]
    )
    assert commands.render(argv) == (
        "openshell --workspace default sandbox create --name alpha --from amap-openshell-agent "
        "--provider amap-claude-code --auto-providers --policy /srv/amap/policies/alpha.yaml "
        f'--driver-config-json \'{{"docker":{{"mounts":[{mounts}]}}}}\' '
        "--env AMAP_INBOX_DIR=/opt/amap/lanes/inbox --env AMAP_PEER_DIR=/opt/amap/lanes/peer "
        "--env AMAP_OUTBOX_DIR=/opt/amap/lanes/outbox --env AMAP_SELF_ADDRESS=alpha@agents.example.org "
        "--env AMAP_SELF=alpha@agents.example.org --env AMAP_ROSTER_DIR=/opt/amap/roster --detach --tty -- "
        "/opt/amap/payload/amap-main --mcp-config /opt/amap/payload/mcp-servers.json "
        "--append-system-prompt-file /opt/amap/payload/INBOX-POLICY.md "
        "--settings /opt/amap/payload/claude-settings.json --dangerously-skip-permissions\n"
    )


def test_a_restart_policy_stands_before_the_unattended_flags(example: Fleet) -> None:
    argv = commands.create_argv(example, "alpha", home=HOME, image="i", restart_policy=True)
    at = argv.index("--restart-policy")
    assert argv[at : at + 5] == ["--restart-policy", "on-failure", "--detach", "--tty", "--"]


def test_a_create_file_is_read_back(example: Fleet) -> None:
    argv = commands.create_argv(example, "beta", home=HOME, image="i")
    assert commands.parse(commands.render(argv)) == argv


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("\n", "", "exactly one line"),
        ("\n", "\nrm x\n", "exactly one line"),
        ("openshell", "podman", "does not start with openshell"),
        (" --detach", "", "--detach"),
        (" --tty", "", "--tty"),
        (" --auto-providers", "", "--auto-providers"),
        (" --detach --tty -- ", " -- --detach --tty ", "--detach, --tty"),
        (" -- ", " ", '"--" 0 times'),
        (" --tty", " '", "cannot be split"),
    ],
)
def test_an_edited_create_file_is_refused(example: Fleet, old: str, new: str, says: str) -> None:
    text = commands.render(commands.create_argv(example, "alpha", home=HOME, image="i"))
    with pytest.raises(Refused, match=says):
        commands.parse(text.replace(old, new, 1))


def test_the_probe_is_the_members_command_with_three_changes(example: Fleet) -> None:
    argv = commands.create_argv(example, "alpha", home=HOME, image="i")
    probe = commands.with_changes(argv, name="probe", policy="/p.yaml", main=["sleep", "3600"])
    assert probe[probe.index("--") :] == ["--", "sleep", "3600"]
    assert [word for word in probe[: probe.index("--")] if word not in argv] == ["probe", "/p.yaml"]
    assert len(probe[: probe.index("--")]) == len(argv[: argv.index("--")])
    assert argv == commands.create_argv(example, "alpha", home=HOME, image="i")


def test_a_word_with_a_line_break_is_refused() -> None:
    with pytest.raises(Refused, match="line break"):
        commands.render(["openshell", "a\nb"])


def test_every_variable_of_the_payload_is_in_the_command(example: Fleet, repository: Path) -> None:
    provided = set(commands.environment(example, "alpha"))
    payload = repository / "kit" / "payload"
    for name in ("mcp-servers.json", "INBOX-POLICY.md"):
        words = shlex.split((payload / name).read_text().translate(str.maketrans("${}`,.\"'", "        ")))
        assert {word for word in words if word.startswith("AMAP_")} <= provided
        paths = [word for word in (payload / name).read_text().replace('"', "`").split("`") if word.startswith("/opt/")]
        assert all(any(Path(path).is_relative_to(target) for target in lanes.targets().values()) for path in paths)


def test_the_router_files_of_the_example(example: Fleet) -> None:
    document = json.loads(router.config(HOME, example))
    assert list(document) == ["state_dir", "instances_dir", "selected_json", "fleet_domain", "peer_senders"]
    assert document["peer_senders"] == {"alpha": [], "beta": ["alpha"]}
    assert document["state_dir"] == "/srv/amap/router-state"
    assert json.loads(router.verdict(example)) == {
        "schema": 1,
        "selected": [{"slug": "alpha"}, {"slug": "beta"}],
        "not_selected": [],
    }


def test_the_router_gets_mail_peers_and_all(repository: Path) -> None:
    mail = fleet.load(repository / "examples" / "fleet-mail.json")
    assert json.loads(router.config(HOME, mail))["peers"] == {"alpha": ["gamma"], "gamma": ["alpha"]}
    everyone = {"workspace": "w", "fleet_domain": "d.org", "groups": {"us": ["a", "b"]}, "task_graph": "ALL"}
    document = json.loads(router.config(HOME, fleet.parse(json.dumps(everyone).encode(), "f")))
    assert (document["task_graph"], "peer_senders" in document) == ("all", False)
