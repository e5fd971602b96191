"""What the documents show: commands that parse, links that resolve, tables and messages that are the code's own."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import doc_blocks
import doc_tables
import pytest
from doc_blocks import ROOT

from pytest_amap.catalogue import L1

DOCS = ROOT / "docs"
PROGRAMS = {"amap", "pytest", "pip"}
"""Programs of the virtual environment, which the documents call by its path or by their names."""

OTHERS = {
    *("awk", "bash", "cat", "cd", "check", "docker", "echo", "export", "find", "for", "git", "grep", "id", "ls"),
    *("openshell", "openshell-gateway", "python", "python3", "rm", "sed", "sh", "sha256sum", "sleep", "ss", "stat"),
    *("systemctl", "uname", "until", "}", "check()", "sandbox_id()", "jq", "tar"),
}
PLACE = re.compile(r"(^|[\s\"'=])(?P<path>(?:tests_\w+|docs|examples|image|providers|kit|\.ci)/[\w./-]*)")
FRAGMENT = re.compile(r"<[^<>]*>")
MACHINE = re.compile(
    r"/(home/\w+|root|work|tmp/(?!cc-socks|\.|$)\w+|usr/local/lib/python)/|[\w.]+@(?!agents\.example)[\w-]+\.\w+"
)

COMMANDS = sorted({(block.path.name, line) for block, line in doc_blocks.commands()})


def words_of(line: str) -> list[str]:
    return shlex.split(line.replace("<", "'<").replace(">", ">'") if "'" not in line else line)


def program(line: str) -> str:
    word = re.split(r"[\s=]", line, maxsplit=1)[0].strip('"')
    return word.rsplit("/", 1)[-1]


def of_program(name: str) -> list[tuple[str, str]]:
    return [(document, line) for document, line in COMMANDS if program(line) == name]


@cache
def helped(*words: str) -> str:
    asked = subprocess.run(
        [sys.executable, *words, "--help"], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )
    assert asked.returncode == 0, f"{words}: {asked.stderr}"
    return asked.stdout


@pytest.mark.parametrize(("document", "line"), of_program("pytest"))
def test_pytest_command_line(document: str, line: str) -> None:
    words = words_of(line)[1:]
    offered = set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", helped("-m", "pytest")))
    assert {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)} <= offered
    faults = [value for option, value in pairwise(words) if option == "--fault"]
    assert set(faults) <= {"help", *known_faults()}
    selected = [value for option, value in pairwise(words) if option == "-k"]
    names = set(re.findall(r"\w+", " ".join(selected))) - {"or", "and", "not"}
    assert all(any(name in test for test in (*L1.ids, "criterion", "unknown")) for name in names)


@cache
def known_faults() -> frozenset[str]:
    argv = [sys.executable, "-m", "pytest", "--rehearsal", "--fault", "help", "-p", "no:cacheprovider"]
    told = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    return frozenset(line.split()[0] for line in told.stdout.splitlines() if line.strip())


@pytest.mark.parametrize(("document", "line"), of_program("amap"))
def test_amap_command_line(document: str, line: str) -> None:
    words = words_of(line.partition(" >")[0])[1:]
    command = []
    for word in words:
        if not re.fullmatch(r"[a-z]+", word) or len(command) == (2 if command[:1] == ["kit"] else 1):
            break
        command.append(word)
    offered = set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", helped("-m", "pytest_amap.cli.main", *command)))
    assert {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)} <= offered


@pytest.mark.parametrize(("document", "line"), COMMANDS)
def test_the_program_is_known_and_its_paths_exist(document: str, line: str) -> None:
    assert program(line) in PROGRAMS | OTHERS or re.match(r'[A-Z_]+=|"\$|[a-z_]+\(\)', line), line
    for found in PLACE.finditer(line):
        assert (ROOT / found["path"]).exists(), found["path"]


LINKS = re.compile(r"(?<!!)\[[^\]]+\]\((?P<target>[^)\s]+)\)|!\[[^\]]*\]\((?P<picture>[^)\s]+)\)")


def anchors(path: Path) -> set[str]:
    text = path.read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    made = {
        re.sub(r"[^\w\- ]", "", re.sub(r"<[^>]+>", "", head)).strip().lower().replace(" ", "-") for head in headings
    }
    return made | set(re.findall(r'<a id="([^"]+)"', text))


@pytest.mark.parametrize("path", doc_blocks.documents(), ids=lambda path: path.name)
def test_links_resolve(path: Path) -> None:
    for found in LINKS.finditer(path.read_text(encoding="utf-8")):
        target, _, anchor = (found["target"] or found["picture"]).partition("#")
        if target.startswith("https://"):
            continue
        there = (path.parent / target).resolve() if target else path
        assert there.exists(), target
        assert not anchor or anchor in anchors(there), f"{target}#{anchor}"


@pytest.mark.parametrize("path", doc_blocks.documents(), ids=lambda path: path.name)
def test_no_machine_is_named(path: Path) -> None:
    assert not MACHINE.search(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", sorted(DOCS.glob("*.md")), ids=lambda path: path.name)
def test_tables_are_the_codes_own(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert doc_tables.rendered(text) == text, "run python docs/doc_tables.py"


def test_every_check_has_its_section_and_its_anchor() -> None:
    assert anchors(DOCS / "checks.md") >= set(L1.ids)
    assert anchors(DOCS / "runbook.md") >= {name.replace("_", "-") for name in L1.ids}


def test_no_claim_is_verified_before_a_live_report() -> None:
    rows = [line for line in (DOCS / "DESIGN.md").read_text().splitlines() if line.startswith("| ")]
    claims = [row for row in rows if "[docs]" in row or "[unverified]" in row]
    assert len(claims) > 20
    assert (DOCS / "POC-REPORT.md").exists() or not any("[verified]" in row for row in rows)


@cache
def literals() -> tuple[str, ...]:
    """Every text in the code, with a gap wherever a value is put in."""
    found = []
    for path in (*(ROOT / "pytest_amap").rglob("*.py"), *(ROOT / "kit").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                found.append("".join(v.value if isinstance(v, ast.Constant) else "\0" for v in node.values))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.append(node.value)
    return tuple(found)


def messages() -> Iterator[str]:
    for line in (DOCS / "troubleshooting.md").read_text(encoding="utf-8").splitlines():
        if found := re.match(r"\| `([^`]+)` \|", line):
            yield found[1]


KNOWN_VALUES = {"CLAUDE_CODE_VERSION": "", "ANTHROPIC_API_KEY": "", "OpenShell 0.1.2 or later": " or later"}


@pytest.mark.parametrize("message", list(messages()))
def test_troubleshooting_quotes_a_message_that_exists(message: str) -> None:
    for value, instead in KNOWN_VALUES.items():
        message = message.replace(value, instead)
    pieces = [piece.strip() for piece in FRAGMENT.split(message) if len(piece.strip()) > 3]
    assert pieces
    for piece in pieces:
        assert any(piece in text for text in literals()), piece
