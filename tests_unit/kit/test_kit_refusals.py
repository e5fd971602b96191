"""Every refusal of the command line, with and without --apply: one sentence, exit 1, nothing on the disk changes."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kit_bench import FLEET, IDS, REPOSITORY, Stage, tree

from kit import cli, files
from kit.home import check_home
from kit.names import RunAs


def test_the_stage_itself_is_all_present(stage: Stage) -> None:
    """Or every refusal below could have another reason."""
    for action, changes in (("prepare", {}), ("profile", {}), ("record", {"name": "alpha", "id": IDS["alpha"]})):
        assert cli.main(stage.words(action, **changes)) == 0
        assert "would" not in stage.capsys.readouterr().out
    assert cli.main(stage.words("record")) == 0


HOMES: dict[str, tuple[Callable[[Path], str], str]] = {
    "empty": (lambda at: "", "not absolute"),
    "relative": (lambda at: "home", "not absolute"),
    "a dot": (lambda at: "./home", "not absolute"),
    "a final slash": (lambda at: f"{at}/home/", "normal form"),
    "two slashes": (lambda at: f"{at}//home", "normal form"),
    "two slashes first": (lambda at: f"/{at}/home", "normal form"),
    "dots": (lambda at: f"{at}/checkouts/../home", "normal form"),
    "root": (lambda at: "/", "may not be /"),
    "a blank": (lambda at: f"{at}/a home", "white space"),
    "a no-break space": (lambda at: f"{at}/a\u00a0home", "white space"),
    "a line break": (lambda at: f"{at}/a\nhome", "control character"),
    "an escape": (lambda at: f"{at}/\x1b[2J", "control character"),
    "right to left": (lambda at: f"{at}/\u202ehome", "control character"),
    "no UTF-8": (lambda at: f"{at}/{os.fsdecode(bytes([0xFF]))}", "control character"),
    "a colon": (lambda at: f"{at}/a:b", "colon"),
    "a comma": (lambda at: f"{at}/a,b", "comma"),
    "no parent": (lambda at: f"{at}/none/home", "the parent of the home"),
    "below a file": (lambda at: f"{at}/own.json/home", "the parent of the home"),
    "a file": (lambda at: f"{at}/own.json", "no directory"),
    "a FIFO": (lambda at: f"{at}/fifo", "no directory"),
    "a symlink": (lambda at: f"{at}/link", "is a symlink"),
    "a dangling symlink": (lambda at: f"{at}/dangling", "is a symlink"),
    "a loop": (lambda at: f"{at}/loop", "is a symlink"),
    "through a symlink": (lambda at: f"{at}/up/home", "passes through a symlink"),
    "through a symlink, unborn": (lambda at: f"{at}/up/new", "passes through a symlink"),
    "a name too long": (lambda at: f"{at}/{'h' * 300}", "File name too long"),
    "a path too long": (lambda at: str(at) + "/h" * 3000, "more than 1024 bytes"),
    "this checkout": (lambda at: str(REPOSITORY), "overlap"),
    "in this checkout": (lambda at: str(REPOSITORY / "docs" / "home"), "overlap"),
    "around this checkout": (lambda at: str(REPOSITORY.parent), "overlap"),
    "a sibling": (lambda at: f"{at}/checkouts/amap-connector-claude", "overlap"),
    "in a sibling": (lambda at: f"{at}/checkouts/amap-connector-claude/bin/home", "overlap"),
    "around a sibling": (lambda at: f"{at}/checkouts", "overlap"),
    "a git checkout": (lambda at: f"{at}/clone", "lies in the git checkout"),
    "in a git checkout": (lambda at: f"{at}/clone/deep/home", "lies in the git checkout"),
    "in a git worktree": (lambda at: f"{at}/worktree/home", "lies in the git checkout"),
    "in a bare repository": (lambda at: f"{at}/bare/home", "lies in the git checkout"),
    "in a repository's own folder": (lambda at: f"{at}/clone/.git/home", "lies in the git checkout"),
}


@pytest.mark.parametrize("kind", HOMES)
def test_a_home_that_may_not_lie_there(shared: Stage, kind: str) -> None:
    place, says = HOMES[kind]
    for action in ("prepare", "record", "profile"):
        shared.refuses(action, says, home=place(shared.folder))


@pytest.mark.parametrize("text", ["-", "é", "...", "a'b", "$HOME", "a;b"])
def test_words_that_look_odd_and_are_a_home(tmp_path: Path, text: str) -> None:
    assert check_home(str(tmp_path / text)).path == tmp_path / text


@pytest.mark.parametrize("variable", ["AMAP_CONNECTOR_REPO", "AMAP_ROUTER_REPO", "AMAP_SPEC_DIR"])
def test_a_variable_that_names_no_checkout(shared: Stage, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, str(shared.folder))
    for action in ("prepare", "record", "profile"):
        shared.refuses(action, f"{variable} is {shared.folder}")


RUN_AS = ("", "1000", "1000:", ":1000", "-1:5", "0:0", "0:1000", "1000:0", "me:us", "1000:1000:1000", "+1:1", "1_0:1")
RUN_AS += ("1000 :1000", "1000:1000\n", "\uff11000:1000", "01000:1000", "0x3e8:1000", "4294967295:1", f"{'9' * 5000}:1")


@pytest.mark.parametrize("value", [*RUN_AS, "1000:1001", "1001:1000"])
def test_a_run_as_that_is_not_the_callers(shared: Stage, value: str) -> None:
    shared.refuses("prepare", "--run-as is", run_as=value)


@pytest.mark.parametrize("value", ["", "a b", "a\n", "-x", "--rm", "a\x1b[2J", "\u201camap\u201d", "$(x)"])
def test_an_image_that_is_no_name(shared: Stage, value: str) -> None:
    shared.refuses("prepare", "--image is", image=value)


@pytest.mark.parametrize("value", ["", "node", "/", "//node", "/usr//node", "/usr/../node", "/no de", "/node\n", "/a/"])
def test_a_binary_that_is_no_real_path(shared: Stage, value: str) -> None:
    shared.refuses("profile", "--binary is", binary=value)


@pytest.mark.parametrize("value", ["/**", "/usr/bin/node*", "/usr/bin/nod?", "/usr/bin/[n]ode", "/usr/bin/{node,sh}"])
def test_a_binary_that_other_programs_match_too(shared: Stage, value: str) -> None:
    shared.refuses("profile", "--binary is", "no pattern", binary=value)


def make(path: Path, how: str) -> None:
    """Something at `path` that is neither a file nor a directory of the kit's."""
    if how == "link" and path.exists():
        path.rename(path.with_name("real"))
    elif path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    if how == "directory":
        path.mkdir()
    elif how in ("FIFO", "socket"):
        os.mknod(path, (stat.S_IFIFO if how == "FIFO" else stat.S_IFSOCK) | 0o600)
    elif how == "file":
        path.touch()
    else:
        path.symlink_to({"link": "real", "dangling": "none", "loop": path.name, "device": "/dev/zero"}[how])


@pytest.mark.timeout(20)
@pytest.mark.parametrize("how", ["directory", "FIFO", "socket", "dangling", "loop", "device"])
def test_a_source_that_cannot_be_read(stage: Stage, how: str) -> None:
    make(stage.fleet, how)
    stage.refuses("prepare", "own.json cannot be read")
    make(stage.fleet, "file")
    stage.fleet.write_bytes(json.dumps(FLEET).encode())
    sources = [stage.connector / "bin" / name for name in ("_inboxlib.py", "inbox-submit")]
    for source in sources:
        make(source, how)
    stage.refuses("prepare", *(f"{source} (" for source in sources), "restore them")


DIRECTORIES = ("payload", "payload/bin", "roster", "policies", "commands", "instances", "instances/alpha")
DIRECTORIES += ("instances/beta/peer", "instances/beta/outbox/results", "providers", "router-state")
FILES = ("payload/amap-main", "payload/bin/inbox-submit", "payload.sha256", "policies/alpha.yaml", "membership.json")
FILES += ("commands/create-beta.sh", "fleet.json", "gateway-fragment.toml")
OTHERS = ("FIFO", "dangling", "socket", "loop", "type", "device")


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    ("action", "path"),
    [
        *(("prepare", path) for path in (*DIRECTORIES[:-2], *FILES)),
        *(("record", path) for path in ("instances", "instances/beta/peer", "instances/alpha", "fleet.json")),
        *(("record", path) for path in ("membership.json", "router.json", "selected.json", "router-state")),
        *(("profile", path) for path in ("providers", "providers/amap-claude-code.json")),
    ],
)
@pytest.mark.parametrize("how", ["a link to the real one", "another"])
def test_something_else_on_the_way(stage: Stage, action: str, path: str, how: str) -> None:
    how = "link" if how.startswith("a link") else OTHERS[len(path) % len(OTHERS)]
    if how == "type":
        how = "file" if path in DIRECTORIES else "directory"
    make(stage.home / path, how)
    stage.refuses(action, f"{stage.home / path} ")


@pytest.mark.parametrize(("action", "path"), [("prepare", "roster"), ("record", "instances/beta"), ("profile", ".")])
def test_another_owner_on_the_way(stage: Stage, monkeypatch: pytest.MonkeyPatch, action: str, path: str) -> None:
    real, foreign, stranger = Path.lstat, stage.home / path, os.geteuid() + 1

    def lstat(self: Path) -> os.stat_result:
        seen = real(self)
        return os.stat_result((*seen[:4], stranger, *seen[5:])) if self == foreign else seen

    monkeypatch.setattr(Path, "lstat", lstat)
    before = tree.__globals__["_seen"]
    monkeypatch.setitem(tree.__globals__, "_seen", lambda at: before(at) if at != foreign else None)
    stage.refuses(action, f"{foreign} belongs to uid {stranger}", "change its owner")


RECORDS: dict[str, tuple[dict[str, str], str]] = {
    "another id": ({"name": "alpha", "id": IDS["beta"]}, "remove membership.json and record every member again"),
    "another's id": ({"id": IDS["alpha"]}, "is recorded as alpha already"),
    "no member": ({"name": "gamma"}, "its members are alpha, beta"),
    "a member in capitals": ({"name": "Beta"}, "no member"),
    "no name": ({"name": ""}, "no member"),
    "no id": ({"id": ""}, "the id of beta is ''"),
    "two ids": ({"id": "a b"}, "the id of beta"),
    "an id with a line break": ({"id": "a\n"}, "the id of beta"),
    "an id in colours": ({"id": "\x1b[32mid\x1b[39m"}, "the id of beta"),
    "an id that is no UTF-8": ({"id": os.fsdecode(b"\xff")}, "the id of beta"),
}


@pytest.mark.parametrize("kind", RECORDS)
def test_a_record_that_is_refused(shared: Stage, kind: str) -> None:
    changes, says = RECORDS[kind]
    shared.refuses("record", says, **changes)


def test_lanes_that_are_gone(stage: Stage) -> None:
    for name in ("alpha/peer/notices", "beta/outbox/results"):
        (stage.home / "instances" / name).rmdir()
    stage.refuses("record", "instances/alpha/peer/notices, instances/beta/outbox/results", "run prepare --apply first")


def test_nothing_was_prepared(stage: Stage) -> None:
    shutil.rmtree(stage.home)
    for action in ("record", "profile"):
        stage.refuses(action, "run prepare --apply first")
    stage.home.mkdir()
    stage.refuses("record", "run prepare --apply first")


@pytest.mark.parametrize("change", [{"fleet_domain": "b.example"}, {"task_graph": {"gamma": ["alpha"]}}])
def test_another_fleet_over_recorded_members(stage: Stage, change: dict[str, Any]) -> None:
    stage.fleet.write_bytes(json.dumps(FLEET | change).encode())
    stage.refuses("prepare", "members are recorded (alpha)", "delete those sandboxes, remove membership.json")


def test_an_example_over_an_installed_fleet(stage: Stage) -> None:
    example = str(REPOSITORY / "examples" / "fleet-mail.json")
    stage.refuses("prepare", "differs from the example", fleet=example)
    (stage.folder / "mine.json").symlink_to(example)
    stage.refuses("prepare", "differs from the example", fleet=str(stage.folder / "mine.json"))


def test_root(shared: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    for caller in (RunAs(0, 0), RunAs(0, 1000), RunAs(1000, 0)):
        monkeypatch.setattr(cli, "_caller", lambda caller=caller: caller)
        for action in ("prepare", "record", "profile"):
            shared.refuses(action, f"runs as {caller}", "root is refused")


@pytest.mark.parametrize("action", ["prepare", "record", "profile"])
def test_another_kit_at_work(stage: Stage, action: str) -> None:
    """A dry run holds nothing and waits for nobody."""
    with files.locked(check_home(str(stage.home))):
        before = tree(stage.folder)
        assert cli.main([*stage.words(action), "--apply"]) == 1
        assert "another amap kit is writing" in stage.capsys.readouterr().err
        assert tree(stage.folder) == before
        assert cli.main(stage.words(action)) == 0
