"""A staged host for the documents' outputs: an operator's folders, stand-in programs, local siblings, neutral paths."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from kit_bench import REPOSITORY
from posture_samples import HELP, INFO, LISTENS, STATUS

from kit import cli as kit_cli
from kit import prepare, siblings
from kit.names import RunAs
from pytest_amap.cli import gateway_merge, main
from pytest_amap.cli import siblings as cli_siblings
from pytest_amap.host import lock, survey

OPERATOR = RunAs(1000, 1000)
SHOWN = (("src", "/src"), ("srv", "/srv"))
"""Folders of the stage, and how a document shows them: checkouts, and all that is the operator's."""

UNIT = """\
ExecStart={ path=/usr/bin/openshell-gateway ; argv[]=/usr/bin/openshell-gateway ; ignore_errors=no }
ActiveState=active
ActiveEnterTimestamp=Thu 2099-01-01 00:00:00 UTC
"""
"""Started after every change of its files, whenever the page's commands make them."""
ANSWERS = {
    "openshell": {
        "*--version*": "openshell 0.1.2\n",
        "*help*": HELP,
        "*status*": STATUS,
        "*info*": INFO,
        "*sandbox*list*": json.dumps({"sandboxes": [], "next_page_token": ""}),
    },
    "openshell-gateway": {"config*preflight*": "Configuration OK\n"},
    "docker": {"*--format*": "29.8.1\n", "version*": "Client: Docker Engine - Community\nServer: Docker Engine\n"},
    "ss": {"*": LISTENS},
    "systemctl": {"*show-environment*": "LANG=C.UTF-8\n", "*show*": UNIT},
}
"""What each stand-in program answers, by a pattern of its command line."""


class StagedHost:
    """Runs a document's commands below `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.operator = root / "srv" / "operator"
        self.toml = self.operator / ".config" / "openshell" / "gateway.toml"
        self.checkout = root / "src" / "pytest-amap"
        for folder in (self.checkout, self.toml.parent):
            folder.mkdir(parents=True)
        self.environ = {"PATH": f"{self._programs()}{os.pathsep}{os.environ['PATH']}", "HOME": str(self.operator)}
        self.environ |= {"AMAP_OPENSHELL_HOME": str(root / "srv" / "amap"), "CLAUDE_CODE_VERSION": "2.1.284"}
        self.environ |= {"AMAP_POSTURE_ACCEPTED": "this gateway is for this fleet alone"}
        self.environ |= {"ANTHROPIC_API_KEY": "a-key-of-nobody-0123456789abcdef", "LC_ALL": "C"}
        self.environ |= _git({"user.name": "a", "user.email": "a@agents.example.org", "init.defaultBranch": "main"})
        self._key()
        self.pins = self._upstream()

    def merge(self) -> None:
        """What a person does by hand with the merge that is printed."""
        old = self.toml.read_text() if self.toml.exists() else ""
        self.toml.write_text(gateway_merge.merged(old))

    def run(self, command: str) -> str:
        """What the command prints to a terminal, as a document shows it."""
        words = shlex.split(self._real(command))
        variables = dict(word.split("=", 1) for word in words if re.match(r"[A-Z_]+=", word))
        with mock.patch.dict(os.environ, variables):
            if words[len(variables) :][:1] == ["amap"]:
                printed = self._amap(words[len(variables) + 1 :])
            else:
                printed = subprocess.run(["sh", "-c", self._real(command)], stdout=subprocess.PIPE, text=True).stdout
        for name, shown in SHOWN:
            printed = printed.replace(str(self.root / name), shown)
        return printed

    def _amap(self, words: list[str]) -> str:
        printed = io.StringIO()
        with (
            mock.patch.dict(os.environ, self._checkouts(words[0])),
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(printed),
        ):
            main.main(words)
        return printed.getvalue()

    def _checkouts(self, word: str) -> dict[str, str]:
        """The siblings' variables: none while they are cloned, and until then the kit takes the payload upstream."""
        if word == "siblings":
            return {}
        beside = self.root / "upstream" if word == "kit" else self.checkout.parent
        return {siblings.KINDS[name].variable: str(beside / pin.name) for name, pin in self.pins.items()}

    def _real(self, command: str) -> str:
        for name, shown in SHOWN:
            command = re.sub(rf"(?<![\w/]){shown}/", f"{self.root / name}/", command)
        return command

    def _programs(self) -> Path:
        folder = self.root / "bin"
        folder.mkdir()
        for name, answers in ANSWERS.items():
            cases = "".join(f"{pattern}) printf %s {shlex.quote(text)} ;;\n" for pattern, text in answers.items())
            (folder / name).write_text(f'#!/bin/sh\ncase "$*" in\n{cases}*) exit 2 ;;\nesac\n')
            (folder / name).chmod(0o755)
        return folder

    def _key(self) -> None:
        key = self.toml.parent / "gateways" / "openshell" / "mtls" / "tls.key"
        key.parent.mkdir(parents=True)
        key.touch(mode=0o600)
        if os.geteuid() == 0:
            os.chown(key, OPERATOR.uid, OPERATOR.gid)

    def _upstream(self) -> dict[str, siblings.Pin]:
        """Local repositories in the place of the siblings' own, each with the file that it is known by."""
        pins = {}
        for name, pin in siblings.load_pins().items():
            place = self.root / "upstream" / pin.name
            witness = place / siblings.KINDS[name].witness
            witness.parent.mkdir(parents=True)
            for program in ("inbox-delivery", "_inboxlib.py", "inbox-mcp-vol", "inbox-submit"):
                if name == "connector":
                    (witness.parent / program).write_text("stand-in\n")
            witness.write_text("stand-in\n")
            always = {"GIT_AUTHOR_DATE": "2026-11-29T12:00:00Z", "GIT_COMMITTER_DATE": "2026-11-29T12:00:00Z"}
            for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "a stand-in"]):
                subprocess.run(["git", "-C", place, *words], check=True, env=self.environ | always)
            head = (place / ".git" / "refs" / "heads" / "main").read_text().strip()
            pins[name] = siblings.Pin(pin.name, pin.url, head if pin.commit else None)
            count = int(self.environ["GIT_CONFIG_COUNT"])
            self.environ |= _git({f"url.{place}.insteadOf": pin.url}, count)
        return pins


def _git(settings: dict[str, str], first: int = 0) -> dict[str, str]:
    rows = enumerate(settings.items(), first)
    made = {
        f"GIT_CONFIG_{what}_{n}": text for n, pair in rows for what, text in zip(("KEY", "VALUE"), pair, strict=True)
    }
    alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_DEFAULT_HASH": "sha1"}
    return made | alone | {"GIT_CONFIG_COUNT": str(first + len(settings))}


@contextlib.contextmanager
def staged(root: Path) -> Iterator[StagedHost]:
    """The stage with this process as its operator, in the checkout."""
    if shutil.which("git") is None:
        raise LookupError("no git on PATH")
    stage = StagedHost(root)
    patches = [
        mock.patch.dict(os.environ, stage.environ, clear=True),
        mock.patch.object(kit_cli, "_caller", return_value=OPERATOR),
        mock.patch.object(prepare, "_PRIVATE", ()),
        mock.patch.object(siblings, "load_pins", return_value=stage.pins),
        mock.patch.object(cli_siblings, "checkout", return_value=stage.checkout),
        mock.patch.object(lock, "endpoint"),
        mock.patch.object(survey, "landlock_abi", return_value=4),
    ]
    if os.geteuid() == 0:
        patches += [mock.patch.object(os, name, return_value=1000) for name in ("getuid", "getgid")]
    with contextlib.ExitStack() as stack:
        for patch in patches:
            stack.enter_context(patch)
        stack.enter_context(contextlib.chdir(REPOSITORY))
        yield stage
