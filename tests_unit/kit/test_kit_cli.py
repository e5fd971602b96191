"""The command line as an operator meets it, in a process of its own; root is refused, so root tests in a namespace."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from kit_bench import GID, REPOSITORY, UID, Terminal, tree

from kit import cli, commands
from kit.names import RunAs


@pytest.fixture
def terminal(tmp_path: Path, connector: Path) -> Terminal:
    return Terminal(tmp_path, connector)


def test_the_runbooks_steps_in_their_order(terminal: Terminal) -> None:
    dry = terminal.prepare()
    *paths, last = [line for line in dry.stdout.splitlines() if not line.startswith("warning: ")]
    assert (dry.returncode, dry.stderr) == (0, "")
    assert all(line.startswith("would create ") for line in paths)
    assert last == cli.DRY_RUN
    assert not terminal.home.exists()

    applied = terminal.prepare("--apply")
    assert [line for line in applied.stdout.splitlines() if not line.startswith("warning: ")] == [
        line.replace("would create", "created") for line in paths
    ]
    before = tree(terminal.home)
    again = terminal.prepare("--apply")
    assert {line.partition(" ")[0] for line in again.stdout.splitlines()} <= {"present", "warning:"}
    assert tree(terminal.home) == before
    assert commands.parse((terminal.home / "commands" / "create-alpha.sh").read_text())

    home = ("--home", str(terminal.home))
    binaries = ("--binary", "/usr/local/bin/node", "--binary", "/opt/claude.exe")
    assert terminal.kit("profile", *home, *binaries, "--apply").returncode == 0
    assert terminal.kit("record", *home, "alpha", "id-a", "--apply").returncode == 0
    assert not (terminal.home / "router.json").exists()
    last_one = terminal.kit("record", *home, "beta", "id-b", "--apply")
    assert "created router.json\ncreated selected.json\n" in last_one.stdout
    assert terminal.prepare().stdout.count("would") == 0


def test_a_restart_policy_is_an_update(terminal: Terminal) -> None:
    terminal.prepare("--apply")
    result = terminal.prepare("--restart-policy")
    assert [line for line in result.stdout.splitlines() if line.startswith("would ")] == [
        "would update commands/create-alpha.sh",
        "would update commands/create-beta.sh",
    ]


@pytest.mark.parametrize("apply", [False, True])
@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"home": "home"}, "not absolute"),
        ({"home": str(REPOSITORY / "home")}, "overlap"),
        ({"home": str(REPOSITORY.parent)}, "overlap"),
        ({"run_as": "0:0"}, "root"),
        ({"run_as": f"{UID}:{GID + 1}"}, f"this process is {UID}:{GID}"),
        ({"run_as": "me"}, "UID:GID"),
        ({"image": "a b"}, "--image"),
        ({"fleet": "examples/none.json"}, "No such file"),
        ({"fleet": "pyproject.toml"}, "no JSON document"),
    ],
)
def test_a_refusal_is_one_sentence_and_changes_nothing(
    terminal: Terminal, tmp_path: Path, options: dict[str, str], says: str, apply: bool
) -> None:
    before = tree(tmp_path)
    result = terminal.prepare(*(["--apply"] if apply else []), **options)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("amap kit prepare: ")
    assert len(result.stderr.splitlines()) == 1
    assert says in result.stderr
    assert tree(tmp_path) == before


@pytest.mark.parametrize("name", ["amap-connector-claude", "amap-spec"])
def test_a_home_in_a_sibling_is_refused(terminal: Terminal, tmp_path: Path, name: str) -> None:
    spec = tmp_path / "checkouts" / "amap-spec"
    (spec / "fixtures").mkdir(parents=True)
    (spec / "fixtures" / "validate.py").touch()
    terminal.environment = {**terminal.environment, "AMAP_SPEC_DIR": str(spec)}
    result = terminal.prepare(home=str(tmp_path / "checkouts" / name / "home"))
    assert (result.returncode, "overlap" in result.stderr) == (1, True)


def test_a_missing_connector_names_its_variable(terminal: Terminal) -> None:
    terminal.environment = {**terminal.environment, "AMAP_CONNECTOR_REPO": "/nowhere"}
    result = terminal.prepare()
    assert (result.returncode, "AMAP_CONNECTOR_REPO is /nowhere" in result.stderr) == (1, True)


@pytest.mark.parametrize("action", [("record", "alpha", "id"), ("profile", "--binary", "/bin/node")])
def test_the_other_actions_need_a_home(terminal: Terminal, action: tuple[str, ...]) -> None:
    result = terminal.kit(action[0], "--home", str(terminal.home), *action[1:], "--apply")
    assert (result.returncode, "run prepare --apply first" in result.stderr) == (1, True)
    assert not terminal.home.exists()


@pytest.mark.parametrize(
    "words",
    [
        *((), ("remove",), ("prepare", "--home", "/x"), ("profile", "--home", "/x"), ("record",)),
        ("profile", "--home", "/x", "--binary", "/x", "--app"),
    ],
)
def test_wrong_usage_is_2(terminal: Terminal, words: tuple[str, ...]) -> None:
    assert terminal.kit(*words, prefix=[]).returncode == 2


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be refused as root")
def test_root_is_refused(terminal: Terminal, tmp_path: Path) -> None:
    before = tree(tmp_path)
    home = ("--home", str(terminal.home))
    prepare = ("--fleet", "examples/fleet.json", "--run-as", "1000:1000", "--image", "i", "--apply")
    for words in (("prepare", *home, *prepare), ("record", *home, "alpha", "id"), ("profile", *home, "--binary", "/n")):
        result = terminal.kit(*words, prefix=[])
        assert (result.returncode, "root is refused" in result.stderr) == (1, True)
    assert tree(tmp_path) == before


def test_an_unreadable_tree_is_one_sentence(
    tmp_path: Path, connector: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli, "_caller", lambda: RunAs(1000, 1000))
    monkeypatch.setenv("AMAP_CONNECTOR_REPO", str(connector))

    def unreadable(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", "/srv/amap/payload")

    monkeypatch.setattr(cli.prepare, "plan", unreadable)
    arguments = ["--home", str(tmp_path / "home"), "--fleet", "f", "--run-as", "1000:1000", "--image", "i"]
    assert cli.main(["prepare", *arguments]) == 1
    assert capsys.readouterr().err == (
        "amap kit prepare: /srv/amap/payload: Permission denied; mend that and run it again\n"
    )
