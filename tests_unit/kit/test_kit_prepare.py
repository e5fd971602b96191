"""prepare and record on a real directory: the whole tree, twice, and every refusal with nothing changed."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from kit_bench import tree

from kit import files, lanes, payload_files, prepare, record
from kit.errors import Refused
from kit.files import Plan
from kit.home import Home
from kit.names import RunAs

OPERATOR = RunAs(1000, 1000)


class Kit:
    """prepare and record with the arguments that a test does not change."""

    def __init__(self, home: Home, fleet_file: Path, connector: Path, examples: Path) -> None:
        self.home = home
        self.arguments: dict[str, Any] = {
            "run_as": OPERATOR,
            "caller": OPERATOR,
            "image": "amap-openshell-agent",
            "connector": connector,
            "examples": examples,
        }
        self.fleet_file = fleet_file

    def plan(self, fleet_file: Path | None = None, **changes: Any) -> Plan:
        return prepare.plan(self.home, fleet_file or self.fleet_file, **{**self.arguments, **changes})

    def prepare(self, fleet_file: Path | None = None, **changes: Any) -> Plan:
        made = self.plan(fleet_file, **changes)
        files.apply(made)
        return made

    def record(self, name: str, identity: str) -> Plan:
        made = record.plan(self.home, name, identity)
        files.apply(made)
        return made


@pytest.fixture
def kit(home: Home, fleet_file: Path, connector: Path, repository: Path) -> Kit:
    return Kit(home, fleet_file, connector, repository / "examples")


def own_fleet(tmp_path: Path, **changes: Any) -> Path:
    document = {
        "workspace": "default",
        "fleet_domain": "agents.example.org",
        "task_graph": {"beta": ["alpha"]},
        **changes,
    }
    path = tmp_path / "own.json"
    path.write_text(json.dumps(document))
    return path


def test_a_dry_run_writes_nothing(kit: Kit, tmp_path: Path) -> None:
    before = tree(tmp_path)
    lines = kit.plan().lines()
    assert all(line.startswith("would create ") for line in lines)
    assert tree(tmp_path) == before


def test_the_report_has_the_documented_order(kit: Kit) -> None:
    names = [line.removeprefix("would create ") for line in kit.plan().lines()]
    assert names[:6] == [".", "payload", "payload/bin", "roster", "policies", "commands"]
    alpha = names.index("instances")
    assert names[alpha : alpha + 4] == [
        "instances",
        "instances/alpha",
        "instances/alpha/inbox",
        "instances/alpha/inbox/notices",
    ]
    assert names[-6:] == [
        "fleet.json",
        "policies/alpha.yaml",
        "commands/create-alpha.sh",
        "policies/beta.yaml",
        "commands/create-beta.sh",
        "gateway-fragment.toml",
    ]
    assert len(names) == len(set(names))


def test_the_tree_has_the_documented_modes(kit: Kit, home: Home) -> None:
    kit.prepare()
    modes = {name: mode & 0o7777 for name, (mode, *_) in tree(home.path).items()}
    assert home.path.stat().st_mode & 0o7777 == 0o755
    for name in ("payload", "payload/bin", "roster", "policies", "commands"):
        assert modes[name] == 0o755
    for path in (home.instances, home.instances / "beta", *lanes.directories(home, "beta")):
        assert modes[str(path.relative_to(home.path))] == 0o700
    assert modes["commands/create-alpha.sh"] == modes["fleet.json"] == modes["payload/INBOX-POLICY.md"] == 0o644
    assert modes["payload/amap-main"] == modes["payload/bin/inbox-submit"] == 0o755


def test_the_payload_is_the_sources_byte_for_byte(kit: Kit, home: Home, connector: Path) -> None:
    kit.prepare()
    here = {str(path.relative_to(home.payload)) for path in home.payload.rglob("*") if path.is_file()}
    own = {path.name for path in payload_files.OWN.iterdir() if path.is_file()}
    assert here == own | {"inbox-delivery", "_inboxlib.py", "bin/inbox-mcp-vol", "bin/inbox-submit"}
    for name in here:
        source = payload_files.OWN / name if name in own else connector / "bin" / Path(name).name
        assert (home.payload / name).read_bytes() == source.read_bytes()


def test_the_manifest_is_one_that_sha256sum_checks(kit: Kit, home: Home) -> None:
    kit.prepare()
    check = ["sha256sum", "--check", "--strict", "payload.sha256"]
    assert subprocess.run(check, cwd=home.path, capture_output=True).returncode == 0
    (home.payload / "amap-main").write_text("other")
    assert subprocess.run(check, cwd=home.path, capture_output=True).returncode == 1


def test_a_rerun_is_all_present_and_changes_nothing(kit: Kit, home: Home) -> None:
    kit.prepare()
    before = tree(home.path)
    again = kit.prepare()
    assert again.done
    assert tree(home.path) == before


def test_every_mount_source_is_a_real_directory(kit: Kit, home: Home) -> None:
    kit.prepare()
    for name in ("alpha", "beta"):
        assert all(mount.source.is_dir() and not mount.source.is_symlink() for mount in lanes.mounts(home, name))


def test_a_stranger_in_the_payload_is_named_and_left(kit: Kit, home: Home) -> None:
    kit.prepare()
    (home.payload / "bin" / "__pycache__").mkdir()
    notes = kit.prepare().notes
    assert any("unexpected payload/bin/__pycache__" in note for note in notes)
    assert (home.payload / "bin" / "__pycache__").is_dir()


def test_what_a_former_fleet_left_is_named(kit: Kit, tmp_path: Path) -> None:
    kit.prepare(own_fleet(tmp_path, task_graph={"beta": ["alpha"], "gamma": []}))
    warnings = [note for note in kit.prepare(own_fleet(tmp_path)).notes if "unexpected" in note]
    assert warnings == [
        "warning: unexpected policies/gamma.yaml, which is no member's: remove it",
        "warning: unexpected commands/create-gamma.sh, which creates no member: remove it",
    ]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"caller": RunAs(0, 0), "run_as": RunAs(0, 0)}, "root"),
        ({"caller": RunAs(1001, 1000)}, "this process is 1001:1000"),
        ({"caller": RunAs(1000, 1001)}, "this process is 1000:1001"),
        ({"image": ""}, "--image"),
        ({"image": "a b"}, "--image"),
        ({"connector": Path("/nowhere")}, "inbox-delivery (No such file or directory), /nowhere/bin/_inboxlib.py"),
    ],
)
def test_a_wrong_argument_is_refused_before_anything_is_made(
    kit: Kit, home: Home, changes: dict[str, Any], says: str
) -> None:
    with pytest.raises(Refused) as caught:
        kit.prepare(**changes)
    assert says in str(caught.value)
    assert not home.path.exists()


def test_an_example_never_replaces_an_installed_fleet(kit: Kit, home: Home, tmp_path: Path, fleet_file: Path) -> None:
    own = own_fleet(tmp_path, fleet_domain="own.example.org")
    kit.prepare(own)
    before = tree(home.path)
    with pytest.raises(Refused, match="differs from the example"):
        kit.prepare()
    assert tree(home.path) == before
    assert kit.prepare(home.fleet).done


def test_an_example_that_says_the_same_leaves_the_installed_words(kit: Kit, home: Home, tmp_path: Path) -> None:
    own = own_fleet(tmp_path, _note="ours")
    kit.prepare(own)
    assert kit.prepare().done
    assert home.fleet.read_bytes() == own.read_bytes()


def test_a_fleet_of_ones_own_replaces_it_until_somebody_is_recorded(kit: Kit, home: Home, tmp_path: Path) -> None:
    kit.prepare()
    kit.prepare(own_fleet(tmp_path, fleet_domain="own.example.org"))
    kit.record("alpha", "id-a")
    before = tree(home.path)
    for changes in ({"fleet_domain": "more.example.org"}, {"task_graph": {"gamma": ["alpha"]}}, {"workspace": "w"}):
        with pytest.raises(Refused, match="members are recorded"):
            kit.prepare(own_fleet(tmp_path, **changes))
    assert tree(home.path) == before
    home.fleet.unlink()
    before = tree(home.path)
    with pytest.raises(Refused, match="records alpha, and the fleet has no such member"):
        kit.prepare(own_fleet(tmp_path, task_graph={"gamma": ["beta"]}))
    assert tree(home.path) == before


def test_a_new_rendering_under_recorded_members_says_what_to_re_create(kit: Kit, connector: Path) -> None:
    kit.prepare()
    kit.record("alpha", "id-a")
    (note,) = [note for note in kit.plan(image="other").notes if note.startswith("note: ")]
    assert "alpha" in note
    assert "commands/create-alpha.sh" in note
    assert "policies" not in note
    assert "re-create" in note
    (connector / "bin" / "inbox-submit").write_text("newer")
    assert any("the payload changes under running sandboxes" in note for note in kit.plan().notes)
    assert not [note for note in kit.plan(restart_policy=False).notes if "commands" in note]


def test_a_graph_that_was_edited_in_the_home_is_told_to_have_left_the_router_behind(kit: Kit, home: Home) -> None:
    kit.prepare()
    kit.record("alpha", "id-a")
    kit.record("beta", "id-b")
    document = json.loads(home.fleet.read_text())
    home.fleet.write_text(json.dumps({**document, "task_graph": {"alpha": ["beta"]}}))
    (note,) = [note for note in kit.prepare(home.fleet).notes if note.startswith("note: ")]
    assert note.startswith("note: fleet.json asks for another router.json: record a member again")
    kit.record("alpha", "id-a")
    assert not [note for note in kit.prepare(home.fleet).notes if note.startswith("note: ")]


def test_a_mode_that_is_put_right_asks_for_no_new_sandbox(kit: Kit, home: Home) -> None:
    kit.prepare()
    kit.record("alpha", "id-a")
    for path in (home.policy("alpha"), home.command("alpha"), home.payload / "amap-main"):
        path.chmod(0o600)
    plan = kit.plan()
    assert [line for line in plan.lines() if "would" in line] == [
        "would update payload/amap-main",
        "would update policies/alpha.yaml",
        "would update commands/create-alpha.sh",
    ]
    assert not [note for note in plan.notes if note.startswith("note: ")]


def test_a_symlink_in_the_tree_is_refused_in_a_dry_run_too(kit: Kit, home: Home, tmp_path: Path) -> None:
    kit.prepare()
    outbox = home.lane("beta", lanes.OUTBOX)
    outbox.rename(tmp_path / "moved")
    outbox.symlink_to(tmp_path / "moved")
    with pytest.raises(Refused, match="outbox is a symlink"):
        kit.plan()


def test_the_router_files_come_with_the_last_member(kit: Kit, home: Home) -> None:
    kit.prepare()
    first = kit.record("alpha", "id-a")
    assert first.lines(applied=True) == ["created membership.json"]
    assert first.notes[0] == "recorded: alpha"
    assert first.notes[1].startswith("still missing: beta")
    assert not home.router.exists()
    second = kit.record("beta", "id-b")
    assert second.lines(applied=True) == [
        "updated membership.json",
        "created router-state",
        "created router.json",
        "created selected.json",
    ]
    assert home.router_state.stat().st_mode & 0o7777 == 0o700
    assert "id-" not in home.selected.read_text()
    before = tree(home.path)
    assert kit.record("beta", "id-b").done
    assert kit.record("alpha", "id-a").done
    assert tree(home.path) == before


def test_a_stale_verdict_is_warned_of_and_left(kit: Kit, home: Home) -> None:
    kit.prepare()
    home.selected.write_text("{}")
    assert any(note.startswith("warning: selected.json") for note in kit.record("alpha", "id-a").notes)
    assert home.selected.read_text() == "{}"


def test_a_one_sided_mail_entry_is_warned_of(kit: Kit, tmp_path: Path) -> None:
    own = own_fleet(tmp_path, peers={"alpha": ["gamma"]})
    assert any("one-sided" in note for note in kit.prepare(own).notes)
    assert any("one-sided" in note for note in kit.record("alpha", "id-a").notes)


def test_record_refuses_before_prepare(kit: Kit, home: Home) -> None:
    home.path.mkdir()
    with pytest.raises(Refused, match="run prepare --apply first"):
        kit.record("alpha", "id-a")


@pytest.mark.parametrize(
    ("name", "identity", "says"),
    [
        ("gamma", "id", "no member of the installed fleet: its members are alpha, beta"),
        ("alpha", "", "the id of alpha"),
        ("alpha", "a b", "the id of alpha"),
        ("alpha", "a\n", "the id of alpha"),
    ],
)
def test_record_refuses_a_stranger_and_a_bad_id(kit: Kit, home: Home, name: str, identity: str, says: str) -> None:
    kit.prepare()
    before = tree(home.path)
    with pytest.raises(Refused) as caught:
        kit.record(name, identity)
    assert says in str(caught.value)
    assert tree(home.path) == before


def test_record_names_the_lanes_that_are_missing_and_no_other(kit: Kit, home: Home) -> None:
    kit.prepare()
    (home.lane("alpha", lanes.PEER) / "notices").rmdir()
    (home.lane("alpha", lanes.OUTBOX) / "results").rmdir()
    with pytest.raises(Refused) as caught:
        kit.record("alpha", "id-a")
    message = str(caught.value)
    assert "instances/alpha/peer/notices, instances/alpha/outbox/results;" in message
    assert "messages" not in message


def test_record_refuses_a_changed_id(kit: Kit, home: Home) -> None:
    kit.prepare()
    kit.record("alpha", "id-a")
    before = tree(home.path)
    with pytest.raises(Refused, match="ID mismatch"):
        kit.record("alpha", "id-new")
    assert tree(home.path) == before
