"""The layers: who may import whom, who may start a process, and what a replay may need."""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "pytest_amap"

ABOVE_HOST = ("pytest_amap.plugin", "pytest_amap.session", "pytest_amap.steps", "pytest_amap.cli")
"""The pytest layer and the command line: what nothing below may import."""
ABOVE_PURE = ("pytest_amap.host", "pytest_amap.checks", *ABOVE_HOST)
PYTEST_LAYER = {"plugin.py", "session", "steps", "cli"}
STARTERS = {"subprocess", "pty", "multiprocessing", "asyncio"}
PROCESS_CALLS = {
    "system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp", "execv", "execve", "execvp", "execvpe",
    "execl", "spawnv", "spawnve", "Popen", "create_subprocess_exec", "create_subprocess_shell",
}  # fmt: skip
LINUX_ONLY = (
    "fcntl", "resource", "pwd", "grp", "termios", "pty", "tty", "posix_ipc", "syslog", "spwd", "crypt",
)  # fmt: skip


def modules(*parts: str) -> list[Path]:
    return sorted((ROOT.joinpath(*parts)).rglob("*.py"))


def type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def running(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node but those that only a type checker sees."""
    for node in ast.iter_child_nodes(tree):
        if not type_checking(node):
            yield node
            yield from running(node)


@functools.cache
def tree_of(path: Path) -> ast.AST:
    return ast.parse(path.read_text())


@functools.cache
def imports(path: Path) -> set[str]:
    """Full names of what a file imports while it runs: modules, and `module.name` of each `from` import."""
    found: set[str] = set()
    package = [*path.relative_to(ROOT).parts[:-1]]
    for node in running(tree_of(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(filter(None, (base, node.module)))
            found |= {module} | {f"{module}.{alias.name}" for alias in node.names}
    return found


def forbidden(path: Path, *names: str) -> list[str]:
    """Which of the file's imports are one of `names` or lie below one."""
    return sorted(one for one in imports(path) for name in names if one == name or one.startswith(f"{name}."))


def pure() -> list[Path]:
    """The top folder's modules, evidence, parsers, and the report but for the hooks of pytest-html's page."""
    top = [p for p in sorted(PACKAGE.glob("*.py")) if p.stem != "plugin"]
    report = [p for p in modules("pytest_amap", "report") if p.stem != "page_hooks"]
    return [*top, *modules("pytest_amap", "evidence"), *modules("pytest_amap", "parsers"), *report]


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", [p for p in modules("kit") if "payload" not in p.parts], ids=shown)
def test_the_kit_knows_neither_pytest_nor_the_plugin_and_starts_nothing(path: Path) -> None:
    assert forbidden(path, "pytest", "_pytest", "pytest_amap", *STARTERS) == []


@pytest.mark.parametrize("path", pure(), ids=shown)
def test_pure_modules_know_neither_pytest_nor_the_host_and_start_nothing(path: Path) -> None:
    assert forbidden(path, "pytest", "_pytest", "pytest_html", *STARTERS, *ABOVE_PURE) == []


@pytest.mark.parametrize("path", modules("pytest_amap", "host"), ids=shown)
def test_the_host_layer_knows_no_pytest_and_nothing_above_it(path: Path) -> None:
    """It takes the options and the run as values that are made above it."""
    starters = STARTERS - ({"subprocess"} if path.stem == "process" else set())
    assert forbidden(path, "pytest", "_pytest", *starters, *ABOVE_HOST) == []


@pytest.mark.parametrize("path", modules("pytest_amap", "checks"), ids=shown)
def test_checks_know_neither_pytest_nor_processes(path: Path) -> None:
    assert forbidden(path, "pytest", "_pytest", *STARTERS, *ABOVE_HOST) == []


@pytest.mark.parametrize("path", modules("pytest_amap", "rehearsal"), ids=shown)
def test_the_rehearsal_is_a_host_and_imports_nothing_of_the_rest(path: Path) -> None:
    rest = {f"pytest_amap.{p.stem}" for p in PACKAGE.glob("*.py") if p.stem != "__init__"}
    rest |= {f"pytest_amap.{p.name}" for p in PACKAGE.iterdir() if p.is_dir() and p.name != "rehearsal"}
    assert forbidden(path, "pytest", "_pytest", "kit", *rest) == []


@pytest.mark.parametrize(
    "path", [p for p in modules("pytest_amap") if "rehearsal" not in p.relative_to(PACKAGE).parts[0]], ids=shown
)
def test_the_rest_reaches_the_rehearsal_as_a_program_alone(path: Path) -> None:
    assert forbidden(path, "pytest_amap.rehearsal") == []


def test_only_the_pytest_layer_imports_pytest() -> None:
    below = [p for p in modules("pytest_amap") if p.relative_to(PACKAGE).parts[0] not in PYTEST_LAYER]
    assert [shown(path) for path in below if forbidden(path, "pytest", "_pytest")] == []


def starts(path: Path) -> list[str]:
    """The calls in a file that could start a process, each with its line."""
    found = []
    for node in ast.walk(tree_of(path)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, (ast.Attribute, ast.Name)):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
        owner = ast.unparse(node.func.value) if isinstance(node.func, ast.Attribute) else ""
        if owner == "subprocess" or (owner in ("", "os", "asyncio") and name in PROCESS_CALLS):
            found.append(f"{shown(path)}: {ast.unparse(node.func)}")
    return found


def test_one_function_starts_processes() -> None:
    """Beside it only the door into the rehearsal's world, and the rehearsal itself, which is a host."""
    outside = [p for p in [*modules("pytest_amap"), *modules("kit")] if "rehearsal" not in p.parts]
    outside = [p for p in outside if "payload" not in p.parts and p.stem != "rehearse"]
    assert [call for path in outside for call in starts(path)] == ["pytest_amap/host/process.py: subprocess.Popen"]


def test_the_scan_sees_what_it_is_for(tmp_path: Path) -> None:
    """So that the tests above can fail."""
    sample = ROOT / "pytest_amap" / "host" / "process.py"
    assert "subprocess" in imports(sample)
    assert forbidden(PACKAGE / "plugin.py", "pytest")
    assert forbidden(PACKAGE / "steps" / "gateway.py", "pytest_amap.checks.unknown_6")
    assert not forbidden(PACKAGE / "host" / "lab.py", "pytest_amap.host.run"), "a TYPE_CHECKING block counts"


WITHOUT = """
import importlib, sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

def block():
    for name in {names!r}:
        sys.modules.pop(name, None)
    sys.meta_path.insert(0, Missing())

sys.path[:0] = [{root!r}]
{code}
"""


def run_without(names: tuple[str, ...], code: str) -> str:
    """What a fresh Python without these modules says of `code` on stderr; "" where it ends well."""
    program = WITHOUT.format(names=names, root=str(ROOT), code=code)
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, cwd=ROOT)
    return ran.stderr if ran.returncode else ""


@pytest.mark.parametrize(
    "code",
    [
        "import pytest_amap.plugin, pytest_amap.session.replay",
        "sys.exit(pytest.main(['--version', '-p', 'pytest_amap.plugin', '-p', 'no:cacheprovider']))",
        f"for name in {sorted(path.stem for path in modules('pytest_amap', 'checks'))}:\n"
        "    importlib.import_module(f'pytest_amap.checks.{name}')",
    ],
    ids=["plugin", "start", "checks"],
)
def test_a_replay_needs_nothing_that_only_linux_has(code: str) -> None:
    assert run_without(LINUX_ONLY, f"import pytest\nblock()\n{code}") == ""


def test_verify_needs_neither_pytest_nor_linux() -> None:
    """`amap verify` is for an auditor who has this package and Python alone."""
    code = "block()\nfrom pytest_amap.cli.main import main\nassert main(['verify', '/nowhere']) == 1"
    assert run_without((*LINUX_ONLY, "pytest", "_pytest", "yaml"), code) == ""
