"""`amap siblings` against local repositories: it refuses first, and changes nothing without --apply."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from kit import siblings
from kit.siblings import Pin
from pytest_amap.cli import siblings as cli_siblings

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="no git on PATH")

NAME, SPEC = "amap-router-local", "amap-spec"
WITNESS = {NAME: "router/reset.py", SPEC: "fixtures/validate.py"}


def git(place: Path, *words: str) -> str:
    name = ("-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "init.defaultBranch=main")
    done = subprocess.run(["git", *name, "-C", os.fspath(place), *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()


class Bench:
    """Two upstream repositories with two commits each, and a place beside which the siblings are wanted."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.patch, self.capsys = patch, capsys
        self.beside = folder / "beside"
        (self.beside / "main").mkdir(parents=True)
        self.upstream = {name: folder / "upstream" / "owner" / name for name in (NAME, SPEC)}
        self.commits = {}
        for name, place in self.upstream.items():
            (place / WITNESS[name]).parent.mkdir(parents=True)
            (place / WITNESS[name]).touch()
            (place / ".gitignore").write_text("*.pyc\n")
            git(place, "init", "--quiet")
            git(place, "config", "uploadpack.allowAnySHA1InWant", "true")
            self.commits[name] = [self.commit(name, "one"), self.commit(name, "two")]
        self.pin(self.commits[NAME][0])
        patch.setattr(cli_siblings, "checkout", lambda: self.beside / "main")
        for kind in siblings.KINDS.values():
            patch.delenv(kind.variable, raising=False)

    def pin(self, commit: str) -> None:
        """The router at this commit, the spec unpinned."""
        pins = {
            "router": Pin(NAME, self.upstream[NAME].as_uri(), commit),
            "spec": Pin(SPEC, os.fspath(self.upstream[SPEC]), None),
        }
        self.patch.setattr(siblings, "load_pins", lambda: pins)

    def commit(self, name: str, text: str) -> str:
        (self.upstream[name] / "file").write_text(text)
        git(self.upstream[name], "add", "--all")
        git(self.upstream[name], "commit", "--quiet", "-m", text)
        return git(self.upstream[name], "rev-parse", "HEAD")

    def clone(self, name: str, *words: str) -> Path:
        git(self.beside, "clone", "--quiet", *words, self.upstream[name].as_uri(), name)
        return self.beside / name

    def head(self, name: str) -> str:
        return git(self.beside / name, "rev-parse", "HEAD")

    def tree(self) -> list[tuple[str, int]]:
        return sorted((str(path), path.lstat().st_mtime_ns) for path in self.beside.rglob("*"))

    def run(self, *words: str) -> tuple[int, list[str], str]:
        """Exit code, lines of stdout, stderr."""
        self.capsys.readouterr()
        code = cli_siblings.main(words)
        said = self.capsys.readouterr()
        return code, said.out.splitlines(), said.err

    def refused(self, *words: str) -> str:
        """The one sentence, before which nothing was said or done."""
        before = self.tree()
        for asked in ((), ("--apply",)):
            code, out, err = self.run(*asked)
            assert (code, out, len(err.splitlines())) == (1, [], 1)
            assert self.tree() == before
        assert err.startswith("amap siblings: ")
        assert [word for word in words if word not in err] == []
        return err


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Bench:
    return Bench(tmp_path, monkeypatch, capsys)


def test_without_apply_nothing_is_changed(bench: Bench) -> None:
    bench.clone(SPEC)
    bench.commit(SPEC, "three")
    before = bench.tree()
    code, out, _ = bench.run()
    assert code == 0
    assert out[0].startswith(f"would clone {bench.beside / NAME} from file://")
    assert out[1] == f"would fetch {bench.beside / SPEC}, now at {bench.commits[SPEC][1]}, to be at its default branch"
    assert out[2] == "Nothing was changed; --apply does it."
    assert bench.tree() == before


def test_apply_clones_at_the_pin_and_again_finds_it_present(bench: Bench) -> None:
    assert bench.run("--apply")[0] == 0
    assert bench.head(NAME) == bench.commits[NAME][0]
    assert bench.head(SPEC) == bench.commits[SPEC][1]
    assert sorted(os.listdir(bench.beside)) == [NAME, SPEC, "main"]
    code, out, _ = bench.run("--apply")
    assert (code, [line.split()[0] for line in out]) == (0, ["present", "present"])


def test_apply_fetches_what_is_elsewhere(bench: Bench) -> None:
    assert bench.run("--apply")[0] == 0
    git(bench.beside / NAME, "checkout", "--quiet", "--detach", bench.commits[NAME][1])
    for text in ("three", "four"):
        newest = bench.commit(SPEC, text)
        code, out, err = bench.run("--apply")
        assert (code, err) == (0, "")
        assert (out[1].split()[0], bench.head(SPEC)) == ("fetched", newest)
    assert bench.head(NAME) == bench.commits[NAME][0]


def test_a_pin_that_moves_on_is_followed_again_and_again(bench: Bench) -> None:
    for text in ("three", "four", "five"):
        bench.pin(bench.commit(NAME, text))
        assert bench.run("--apply")[0] == 0
        assert git(bench.beside / NAME, "show", "HEAD:file") == text


def test_the_default_branch_is_followed_from_any_branch_and_none_of_them_is_moved(bench: Bench) -> None:
    """A branch ahead, one that has another upstream, and a detached HEAD."""
    place = bench.clone(SPEC)
    git(place, "commit", "--quiet", "--allow-empty", "-m", "ahead")
    ahead = bench.head(SPEC)
    assert bench.run("--apply")[0] == 0
    assert (bench.head(SPEC), git(place, "rev-parse", "main")) == (bench.commits[SPEC][1], ahead)
    newest = bench.commit(SPEC, "three")
    assert bench.run("--apply")[0] == 0
    assert (bench.head(SPEC), git(place, "rev-parse", "main")) == (newest, ahead)


@pytest.mark.parametrize("shape", ["shallow", "one branch", "worktree", "link"])
def test_other_shapes_of_a_checkout(bench: Bench, shape: str) -> None:
    if shape == "shallow":
        bench.clone(NAME, "--depth", "1")
    elif shape == "one branch":
        git(bench.upstream[NAME], "branch", "narrow", bench.commits[NAME][0])
        bench.clone(NAME, "--single-branch", "--branch", "narrow")
        bench.pin(bench.commits[NAME][1])
    elif shape == "worktree":
        bench.clone(NAME).rename(bench.beside / "main" / "clone")
        git(bench.beside / "main" / "clone", "worktree", "add", "--quiet", "--detach", str(bench.beside / NAME))
    else:
        bench.clone(NAME).rename(bench.beside / "main" / "real")
        (bench.beside / NAME).symlink_to(bench.beside / "main" / "real")
    code, _, err = bench.run("--apply")
    assert (code, err) == (0, "")
    assert bench.head(NAME) == siblings.load_pins()["router"].commit


def test_a_pin_at_hand_needs_no_network(bench: Bench) -> None:
    bench.clone(NAME)
    pins = siblings.load_pins()
    bench.patch.setattr(siblings, "load_pins", lambda: {"router": pins["router"]})
    bench.upstream[NAME].rename(bench.upstream[NAME].with_name("away"))
    assert bench.run("--apply")[0] == 0
    assert bench.head(NAME) == bench.commits[NAME][0]


def stage(place: Path) -> None:
    (place / "new").write_text("x")
    git(place, "add", "new")


def hide(place: Path) -> None:
    """An untracked file that the checkout's own settings do not show."""
    (place / "new").write_text("x")
    git(place, "config", "status.showUntrackedFiles", "no")


def submodule(place: Path) -> None:
    git(place, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", os.fspath(place), "inside")
    git(place, "commit", "--quiet", "-m", "inside")
    git(place, "config", "submodule.inside.ignore", "all")
    (place / "inside" / "file").write_text("changed")


CHANGED: dict[str, Callable[[Path], object]] = {
    "changed": lambda place: (place / "file").write_text("x"),
    "removed": lambda place: (place / "file").unlink(),
    "mode": lambda place: (place / "file").chmod(0o755),
    "untracked": lambda place: (place / "new").write_text("x"),
    "staged": stage,
    "hidden": hide,
    "submodule": submodule,
}


@pytest.mark.parametrize("how", CHANGED)
def test_local_changes_of_any_kind_are_refused_first(bench: Bench, how: str) -> None:
    CHANGED[how](bench.clone(SPEC))
    bench.refused(str(bench.beside / SPEC), "has local changes")


def test_ignored_files_are_no_changes_and_stay(bench: Bench) -> None:
    (bench.clone(NAME) / "x.pyc").write_text("mine")
    assert bench.run("--apply")[0] == 0
    assert (bench.beside / NAME / "x.pyc").read_text() == "mine"
    (bench.upstream[NAME] / "x.pyc").write_text("theirs")
    git(bench.upstream[NAME], "add", "--force", "x.pyc")
    bench.pin(bench.commit(NAME, "three"))
    code, _, err = bench.run("--apply")
    assert (code, "x.pyc" in err, len(err.splitlines())) == (1, True, 1)
    assert (bench.beside / NAME / "x.pyc").read_text() == "mine"


def a_file(bench: Bench) -> None:
    (bench.beside / SPEC).write_text("x")


def a_dangling_link(bench: Bench) -> None:
    (bench.beside / SPEC).symlink_to("nowhere")


def an_empty_directory(bench: Bench) -> None:
    (bench.beside / SPEC).mkdir()


def a_folder_of_another_checkout(bench: Bench) -> None:
    git(bench.beside, "init", "--quiet")
    (bench.beside / SPEC).mkdir()


def a_bare_repository(bench: Bench) -> None:
    bench.clone(SPEC, "--bare")


def another_origin(bench: Bench) -> None:
    git(bench.beside, "clone", "--quiet", os.fspath(bench.upstream[NAME]), SPEC)


def the_same_name_at_another_host(bench: Bench) -> None:
    git(bench.clone(SPEC), "remote", "set-url", "origin", "https://me:secret@evil.example/owner/amap-spec")


def no_origin(bench: Bench) -> None:
    git(bench.clone(SPEC), "remote", "remove", "origin")


def a_clone_that_was_cut_off(bench: Bench) -> None:
    git(bench.beside, "init", "--quiet", SPEC)
    git(bench.beside / SPEC, "remote", "add", "origin", os.fspath(bench.upstream[SPEC]))


def a_filter_of_its_own(bench: Bench) -> None:
    git(bench.clone(SPEC), "config", "filter.f.clean", "touch started")


def another_way_to_the_origin(bench: Bench) -> None:
    git(bench.clone(SPEC), "config", "remote.origin.uploadpack", "touch started; git-upload-pack")


def commits_that_no_branch_holds(bench: Bench) -> None:
    git(bench.clone(SPEC), "checkout", "--quiet", "--detach")
    git(bench.beside / SPEC, "commit", "--quiet", "--allow-empty", "-m", "mine")


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (a_file, "is no directory"),
        (a_dangling_link, "is no directory"),
        (an_empty_directory, "no git checkout of its own"),
        (a_folder_of_another_checkout, "no git checkout of its own"),
        (a_bare_repository, "no git checkout of its own"),
        (another_origin, "another origin"),
        (the_same_name_at_another_host, "another origin (evil.example/owner/amap-spec)"),
        (no_origin, "another origin (none)"),
        (a_clone_that_was_cut_off, "no commit checked out"),
        (a_filter_of_its_own, "filter.f.clean"),
        (another_way_to_the_origin, "remote.origin.uploadpack"),
        (commits_that_no_branch_holds, "which no branch holds"),
    ],
)
def test_a_refusal_comes_before_anything_is_done(bench: Bench, make: Callable[[Bench], None], word: str) -> None:
    make(bench)
    said = bench.refused(str(bench.beside / SPEC), word)
    assert "secret" not in said


def test_a_checkout_starts_none_of_its_own_programs(bench: Bench, tmp_path: Path) -> None:
    place, started = bench.clone(NAME), tmp_path / "started"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {started}\n")
    program.chmod(0o755)
    (tmp_path / "hooks").mkdir()
    for hook in ("post-checkout", "reference-transaction", "post-index-change"):
        shutil.copy(program, tmp_path / "hooks" / hook)
        shutil.copy(program, place / ".git" / "hooks" / hook)
    git(place, "config", "core.fsmonitor", str(program))
    git(place, "config", "core.hooksPath", str(tmp_path / "hooks"))
    assert bench.run()[0] == 0
    assert bench.run("--apply")[0] == 0
    assert bench.head(NAME) == bench.commits[NAME][0]
    assert not started.exists()
    git(place, "status")
    assert started.exists(), "so that the test can fail"


def test_a_pin_that_is_nowhere_is_one_sentence_and_leaves_nothing(bench: Bench) -> None:
    bench.pin("0" * 40)
    code, out, err = bench.run("--apply")
    assert (code, out, len(err.splitlines())) == (1, [], 1)
    assert "git fetch --quiet origin +0000" in err
    assert os.listdir(bench.beside) == ["main"]


def test_a_later_sibling_that_fails_leaves_the_earlier_ones_told(bench: Bench) -> None:
    shutil.rmtree(bench.upstream[SPEC])
    code, out, err = bench.run("--apply")
    assert (code, out) == (1, [f"cloned {bench.beside / NAME} at {bench.commits[NAME][0]}"])
    assert "git clone" in err
    assert "does not exist" in err
    assert len(err.splitlines()) == 1
    assert sorted(os.listdir(bench.beside)) == [NAME, "main"]


def test_a_clone_that_is_cut_off_is_in_nobodys_way(bench: Bench) -> None:
    change = cli_siblings.change

    def cut_off(path: Path, *words: str) -> None:
        change(path, *words)
        raise KeyboardInterrupt

    bench.patch.setattr(cli_siblings, "change", cut_off)
    with pytest.raises(KeyboardInterrupt):
        cli_siblings.main(["--apply"])
    assert os.listdir(bench.beside) == ["main"]
    (bench.beside / f".{NAME}.abc" / NAME).mkdir(parents=True)  # what a kill leaves
    bench.patch.setattr(cli_siblings, "change", change)
    assert bench.run("--apply")[0] == 0
    assert bench.head(NAME) == bench.commits[NAME][0]


class Guarded(BaseHTTPRequestHandler):
    """A server that wants a password for everything."""

    def do_GET(self) -> None:
        self.send_response(401)
        self.send_header("WWW-Authenticate", 'Basic realm="r"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def guarded() -> Iterator[int]:
    """Its port."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Guarded) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("network", [True, False])
def test_no_network_or_a_password_that_is_wanted_is_one_sentence(
    bench: Bench, tmp_path: Path, guarded: int, network: bool
) -> None:
    asking, asked = tmp_path / "asking", tmp_path / "asked"
    asking.write_text(f"#!/bin/sh\ntouch {asked}\n")
    asking.chmod(0o755)
    bench.patch.setenv("no_proxy", "127.0.0.1")
    for name in ("GIT_ASKPASS", "SSH_ASKPASS"):
        bench.patch.setenv(name, str(asking))
    url = f"http://127.0.0.1:{guarded if network else 1}/owner/{NAME}"
    bench.patch.setattr(siblings, "load_pins", lambda: {"router": Pin(NAME, url, "0" * 40)})
    code, _, err = bench.run("--apply")
    assert (code, len(err.splitlines()), asked.exists()) == (1, 1, False)
    assert ("terminal prompts disabled" if network else "unable to access") in err
    assert err.endswith("; mend that and run it again\n")


def test_without_git_nothing_is_said_about_the_directories(bench: Bench, tmp_path: Path) -> None:
    bench.clone(SPEC)
    bench.patch.setenv("PATH", str(tmp_path))
    assert bench.refused() == "amap siblings: git is not on PATH: install it\n"


def test_ambient_git_variables_move_nothing(bench: Bench) -> None:
    bench.patch.setenv("GIT_DIR", os.fspath(bench.upstream[SPEC] / ".git"))
    bench.patch.setenv("GIT_INDEX_FILE", os.fspath(bench.upstream[SPEC] / "index"))
    assert bench.run("--apply")[0] == 0
    bench.patch.delenv("GIT_DIR")
    bench.patch.delenv("GIT_INDEX_FILE")
    assert bench.head(NAME) == bench.commits[NAME][0]


def test_a_mirror_of_the_persons_own_is_the_same_origin(bench: Bench, tmp_path: Path) -> None:
    settings = tmp_path / "gitconfig"
    bench.patch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    url = "https://h.example/owner/amap-router-local"
    git(tmp_path, "config", "--file", str(settings), f"url.{bench.upstream[NAME].as_uri()}.insteadOf", url)
    bench.patch.setattr(siblings, "load_pins", lambda: {"router": Pin(NAME, url, bench.commits[NAME][0])})
    assert bench.run("--apply")[:2] == (0, [f"cloned {bench.beside / NAME} at {bench.commits[NAME][0]}"])
    assert bench.run("--apply")[1][0].startswith("present")


def test_a_variable_that_is_set_is_the_place(bench: Bench, tmp_path: Path) -> None:
    bench.patch.setenv("AMAP_ROUTER_REPO", os.fspath(tmp_path / "elsewhere"))
    code, out, _ = bench.run()
    assert (code, out[0].split(" from ")[0]) == (0, f"would clone {tmp_path / 'elsewhere'}")
    bench.patch.setenv("AMAP_ROUTER_REPO", os.fspath(tmp_path / "not" / "there"))
    bench.refused(str(tmp_path / "not"), "no directory that can be written")


def test_a_checkout_that_step_0_would_find_is_the_place(bench: Bench) -> None:
    """Further up, or under its other name: a second one beside would be used in its stead."""
    place = bench.clone(SPEC).rename(bench.beside / ".amap-spec")
    assert bench.run()[1][1].startswith(f"would fetch {place}, ")


@pytest.mark.parametrize(
    "url",
    [
        "https://h.example/o/n",
        "https://h.example/o/n.git",
        "https://h.example/o/n/",
        "https://H.example/o/n.git/",
        "https://token@h.example:443/o/n",
        "git@h.example:o/n.git",
        "h.example:o/n",
        "ssh://git@h.example/o/n/",
        "ssh://git@h.example:22/o/n.git",
    ],
)
def test_one_repository_has_many_addresses(url: str) -> None:
    assert cli_siblings.repository(url) == ("h.example", "o/n")


@pytest.mark.parametrize("url", ["https://other.example/o/n", "git@h.example:p/n", "/o/n", "", "https://[", "n"])
def test_and_others_are_other_repositories(url: str) -> None:
    assert cli_siblings.repository(url) != ("h.example", "o/n")
