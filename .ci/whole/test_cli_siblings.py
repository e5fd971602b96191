"""`amap siblings` against local repositories: what it brings and leaves alone, and nothing without --apply."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import checkouts_bench
import pytest
from checkouts_bench import NAME, SPEC, WITNESS, Bench, git

from kit import siblings
from kit.siblings import Pin
from pytest_amap.cli import siblings as cli_siblings
from pytest_amap.host import process

bench, pytestmark = checkouts_bench.bench, checkouts_bench.needs_git


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


def test_what_is_brought_is_readable_whatever_the_umask(bench: Bench) -> None:
    umask = os.umask(0o077)
    try:
        assert bench.run("--apply")[0] == 0
        bench.pin(bench.commits[NAME][1])
        assert bench.run("--apply")[0] == 0
        assert os.umask(0o077) == 0o077
    finally:
        os.umask(umask)
    place = bench.beside / NAME
    paths = (place, place / "router", place / "file", place / WITNESS[NAME])
    assert [path.stat().st_mode & 0o777 for path in paths] == [0o755, 0o755, 0o644, 0o644]


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


def test_what_git_complains_of_shows_no_password(bench: Bench) -> None:
    """It names an address whole where a server without a git of its own lacks an object."""
    text = b"Unable to find 1234 under\nhttps://me:se@cret@h.example/owner/n"
    done = process.Finished(128, b"", text, False, 0.0)
    assert cli_siblings.said(done) == ": Unable to find 1234 under https://h.example/owner/n"


def test_an_odd_name_is_shown_in_one_line(bench: Bench, tmp_path: Path) -> None:
    bench.patch.setenv("AMAP_ROUTER_REPO", f"{tmp_path}/a\nb\x1b[2J")
    code, out, _ = bench.run()
    assert (code, len(out)) == (0, 3)
    assert f"{tmp_path}/a\\nb\\x1b[2J" in out[0]


def test_without_git_nothing_is_said_about_the_directories(bench: Bench, tmp_path: Path) -> None:
    bench.clone(SPEC)
    bench.patch.setenv("PATH", str(tmp_path))
    assert bench.refused() == "amap siblings: git is not on PATH: install it\n"


@pytest.mark.parametrize("word", ["rev-parse", "config", "remote", "ls-remote", "status", "rev-list"])
def test_a_question_that_git_cannot_answer_is_refused(bench: Bench, tmp_path: Path, word: str) -> None:
    """An older git, a checkout of another user, a broken one: no answer is never a good one."""
    bench.clone(SPEC)
    broken = tmp_path / "broken" / "git"
    broken.parent.mkdir()
    broken.write_text(
        f'#!/bin/sh\ncase " $* " in *" {word} "*) echo no >&2; exit 129;; esac\nexec {shutil.which("git")} "$@"\n'
    )
    broken.chmod(0o755)
    bench.patch.setenv("PATH", f"{broken.parent}:{os.environ['PATH']}")
    before = bench.tree()
    code, out, err = bench.run("--apply")
    assert (code, out, len(err.splitlines())) == (1, [], 1)
    assert bench.tree() == before


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
